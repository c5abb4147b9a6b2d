# With PLAIT_TOGETHER, compiles files together, which takes half of the processor time, or less, where all are compiled.
#
# plait_together(TARGET PATTERN [FILE...] [APART GROUP...])
#   together are C++ files alike in what the pattern's first group matches of their paths; the files named stay alone:
#   they use names of unnamed namespaces of their neighbours.  So do files with options of their own.
#   With PLAIT_TOGETHER_SUBFOLDERS a folder of src or tests/cpp is a group with all that are in it, but for those behind
#   APART, which use such names.
#
# CMake's own unity builds do the same in each build tree by itself.  Here trees may share the files that include the
# others, by PLAIT_TOGETHER_FOLDER, so that one tree may take the objects of another (scripts/install.sh).
option(PLAIT_TOGETHER_SUBFOLDERS "Compile folders with all that are in them: less for a whole build, more for a change"
  OFF)
set(PLAIT_TOGETHER_FOLDER "${PROJECT_BINARY_DIR}/together" CACHE PATH "Where files are kept that include others")

function(plait_together target pattern)
  if(NOT PLAIT_TOGETHER)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  cmake_parse_arguments(PARSE_ARGV 2 together "" "" APART)
  set(alone ${together_UNPARSED_ARGUMENTS})
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
      set(group "${CMAKE_MATCH_1}")
      if(PLAIT_TOGETHER_SUBFOLDERS AND NOT group IN_LIST together_APART)
        string(REGEX REPLACE "^((src|cpp)/[^/]+)/.*" "\\1" group "${group}")
      endif()
      string(MAKE_C_IDENTIFIER "${group}" group)
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
