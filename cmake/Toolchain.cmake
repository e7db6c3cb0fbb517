# SPDX-License-Identifier: MIT OR Apache-2.0
# Asked before project(), whose own message does not name the package that brings what is missing.
if(CMAKE_GENERATOR MATCHES Ninja AND NOT CMAKE_MAKE_PROGRAM)
  find_program(LB_NINJA NAMES ninja ninja-build samu)
  if(NOT LB_NINJA)
    message(FATAL_ERROR "ninja is missing: apt-get install ninja-build")
  endif()
endif()
if(NOT CMAKE_C_COMPILER AND NOT DEFINED ENV{CC} AND NOT CMAKE_TOOLCHAIN_FILE)
  find_program(LB_ANY_COMPILER NAMES cc gcc clang)
  if(NOT LB_ANY_COMPILER)
    message(FATAL_ERROR "a C compiler is missing: apt-get install gcc libc6-dev")
  endif()
endif()
