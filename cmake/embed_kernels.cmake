# SPDX-License-Identifier: BSD-3-Clause
# Turns the .cl files of a folder and of those in it into one C++ source that holds their text. Included, it defines the
# function embed_kernels(folder output); run as a script (cmake -P), it writes the file.

function(embed_kernels folder output)
  file(GLOB_RECURSE kernels RELATIVE ${folder} CONFIGURE_DEPENDS ${folder}/*.cl)
  list(TRANSFORM kernels PREPEND ${folder}/ OUTPUT_VARIABLE paths)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} "-DKERNELS=${kernels}" -DFOLDER=${folder} -DOUTPUT=${output}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    DEPENDS ${paths} ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
    COMMENT "Embedding the kernels"
    VERBATIM)
endfunction()

function(write_embedded_kernels kernels folder output)
  set(text "#include \"runtime/kernel_source.hpp\"\n\n")
  string(APPEND text "namespace particles {\n\n")
  string(APPEND text "const std::map<std::string, std::string>& embedded_kernels() {\n")
  string(APPEND text "  // Never destroyed: a thread may be at work when the process ends.\n")
  string(APPEND text "  static const auto& kernels = *new std::map<std::string, std::string>{\n")
  foreach(kernel IN LISTS kernels)
    file(READ ${folder}/${kernel} source)
    string(FIND "${source}" ")kernel\"" closing)
    if(NOT closing EQUAL -1)
      message(FATAL_ERROR "${kernel} contains )kernel\", which ends its C++ string literal")
    endif()
    string(APPEND text "      {\"${kernel}\", R\"kernel(${source})kernel\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kernels;\n}\n\n}  // namespace particles\n")
  file(WRITE ${output} "${text}")
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  write_embedded_kernels("${KERNELS}" ${FOLDER} ${OUTPUT})
endif()
