# With PLAIT_TOGETHER, compiles files together, which takes half of the processor time, or less, where all are compiled.
#
# plait_together(TARGET PATTERN [FILE...])   together are C++ files alike in what the pattern's first group matches of
#                                            their paths; the files named stay alone: they use names of unnamed
#                                            namespaces of their neighbours.  So do files with options of their own.
#
# CMake's own unity builds do the same in each build tree by itself.  Here trees may share the files that include the
# others, by PLAIT_TOGETHER_FOLDER, so that one tree may take the objects of another (scripts/install.sh).
set(PLAIT_TOGETHER_FOLDER "${PROJECT_BINARY_DIR}/together" CACHE PATH "Where files are kept that include others")

function(plait_together target pattern)
  if(NOT PLAIT_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  set(alone ${ARGN})
  set(kept "")
  set(groups "")
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    get_source_file_property(options ${source} COMPILE_OPTIONS)
    get_source_file_property(definitions ${source} COMPILE_DEFINITIONS)
    if(path MATCHES "${pattern}" AND path MATCHES "\\.cpp$" AND NOT options AND NOT definitions
        AND NOT path IN_LIST alone AND NOT source IN_LIST alone)
      string(REGEX MATCH "${pattern}" ignored "${path}")
      string(MAKE_C_IDENTIFIER "${CMAKE_MATCH_1}" group)
      list(APPEND groups ${group})
      list(APPEND members_${group} ${source})
    else()
      list(APPEND kept ${source})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    set(text "")
    foreach(member IN LISTS members_${group})
      string(APPEND text "#include \"${member}\"\n")
    endforeach()
    set(file "${PLAIT_TOGETHER_FOLDER}/${target}/${group}.cpp")
    file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
    list(APPEND kept "${file}")
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()
