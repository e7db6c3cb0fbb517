# SPDX-License-Identifier: MIT OR Apache-2.0
# What `cmake --install` lays down: the command, both libraries, headers, and how pkg-config and find_package find them.
# The tree may be moved after it is installed.
include(CMakePackageConfigHelpers)

set(LB_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/lastbit)
install(TARGETS lastbit_cli RUNTIME)
install(TARGETS lastbit EXPORT lastbitTargets LIBRARY NAMELINK_COMPONENT Development)
install(TARGETS lastbit_static EXPORT lastbitStaticTargets ARCHIVE COMPONENT Development)
install(DIRECTORY include/lastbit TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES LICENSE-MIT LICENSE-APACHE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Two exports: only who asks for the static library has to have what it is linked with.
install(EXPORT lastbitTargets NAMESPACE lastbit:: DESTINATION ${LB_CONFIG_DIR})
install(EXPORT lastbitStaticTargets NAMESPACE lastbit:: DESTINATION ${LB_CONFIG_DIR})
configure_package_config_file(cmake/lastbitConfig.cmake.in lastbitConfig.cmake INSTALL_DESTINATION ${LB_CONFIG_DIR})
# SameMinorVersion says while the major version is 0 what the soname says; from 1.0 on it becomes SameMajorVersion.
write_basic_package_version_file(lastbitConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lastbitConfig.cmake ${PROJECT_BINARY_DIR}/lastbitConfigVersion.cmake DESTINATION ${LB_CONFIG_DIR})

set(LB_PC_LIBS_PRIVATE "-lm")
if(OpenCL_FOUND)
  string(APPEND LB_PC_LIBS_PRIVATE " -lOpenCL")
endif()
if(Vulkan_FOUND)
  string(APPEND LB_PC_LIBS_PRIVATE " -lvulkan")
endif()
if(OpenMP_C_FOUND)
  foreach(name ${OpenMP_C_LIB_NAMES})
    string(APPEND LB_PC_LIBS_PRIVATE " -l${name}")
  endforeach()
endif()
file(RELATIVE_PATH LB_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/lastbit.pc.in lastbit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/lastbit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# ---- the Python package: the library beside its modules, the command beside the interpreter
if(SKBUILD)
  add_library(lastbit_python MODULE $<TARGET_OBJECTS:lb_objects>)
  set_target_properties(lastbit_python PROPERTIES OUTPUT_NAME lastbit LIBRARY_OUTPUT_DIRECTORY python)
  target_link_libraries(lastbit_python PRIVATE lb_options PkgConfig::JANSSON m)
  if(OpenCL_FOUND)
    target_link_libraries(lastbit_python PRIVATE OpenCL::OpenCL)
  endif()
  if(Vulkan_FOUND)
    target_link_libraries(lastbit_python PRIVATE Vulkan::Vulkan)
  endif()
  if(OpenMP_C_FOUND)
    target_link_libraries(lastbit_python PRIVATE OpenMP::OpenMP_C)
  endif()
  install(TARGETS lastbit_python LIBRARY DESTINATION lastbit COMPONENT python)
  install(PROGRAMS $<TARGET_FILE:lastbit_cli> DESTINATION ${SKBUILD_SCRIPTS_DIR} COMPONENT python)
endif()
