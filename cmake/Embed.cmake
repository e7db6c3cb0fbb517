# SPDX-License-Identifier: MIT OR Apache-2.0
# Files as bytes in the library: lb_embed(TABLE FILE …) makes TABLE.c with `const lb_embedded TABLE[]` (backends/launch.h), a row a file by
# its name, NULs behind, and a row of NULL at the end; TABLE_SOURCE in the caller is that file. As a script it writes the file.
if(CMAKE_SCRIPT_MODE_FILE)
  set(number 0)
  set(arrays "")
  set(rows "")
  foreach(file ${FILES})
    get_filename_component(name ${file} NAME)
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    string(APPEND arrays "static const unsigned char file_${number}[] = {${bytes}0,0,0,0};\n")
    string(APPEND rows "    {\"${name}\", file_${number}, sizeof file_${number} - 4},\n")
    math(EXPR number "${number} + 1")
  endforeach()
  file(WRITE ${OUT} "#include \"backends/launch.h\"\n${arrays}extern const lb_embedded ${TABLE}[];\n"
                    "const lb_embedded ${TABLE}[] = {\n${rows}    {NULL, NULL, 0},\n};\n")
  return()
endif()

set(LB_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_FILE})
function(lb_embed table)
  set(out ${PROJECT_BINARY_DIR}/embedded/${table}.c)
  add_custom_command(OUTPUT ${out} COMMAND ${CMAKE_COMMAND} -DTABLE=${table} -DOUT=${out} "-DFILES=${ARGN}" -P ${LB_EMBED_SCRIPT}
                     DEPENDS ${ARGN} ${LB_EMBED_SCRIPT} VERBATIM)
  set(${table}_SOURCE ${out} PARENT_SCOPE)
endfunction()
