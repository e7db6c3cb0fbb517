# SPDX-License-Identifier: MIT OR Apache-2.0
# lb_shaders(TABLE FOLDER): each *.comp of the folder to SPIR-V for each element format, as NAME.FORMAT.spv in a table of lb_embed;
# an empty table where there is no glslangValidator. LB_SPIRV_FOLDER is where the modules lie.
set(LB_SPIRV_FOLDER ${PROJECT_BINARY_DIR}/spirv)
function(lb_shaders table folder)
  file(GLOB shaders CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.comp)
  file(GLOB includes CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.glsl)
  set(modules "")
  if(Vulkan_GLSLANG_VALIDATOR_EXECUTABLE)
    file(MAKE_DIRECTORY ${LB_SPIRV_FOLDER})
    foreach(shader ${shaders})
      get_filename_component(name ${shader} NAME_WE)
      foreach(format f32 f16 bf16)
        if(name STREQUAL product AND NOT format STREQUAL f32)
          continue() # its formats are numbers of the launch
        endif()
        string(TOUPPER ${format} upper)
        set(module ${LB_SPIRV_FOLDER}/${name}.${format}.spv)
        add_custom_command(OUTPUT ${module} DEPENDS ${shader} ${includes}
                           COMMAND ${Vulkan_GLSLANG_VALIDATOR_EXECUTABLE} -V --quiet --target-env vulkan1.1 -DLB_T_${upper}=1 -o ${module}
                                   ${shader}
                           VERBATIM)
        list(APPEND modules ${module})
      endforeach()
    endforeach()
  endif()
  lb_embed(${table} ${modules})
  set(${table}_SOURCE ${${table}_SOURCE} PARENT_SCOPE)
endfunction()
