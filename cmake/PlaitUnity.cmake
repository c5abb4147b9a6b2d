# Unity builds: with PLAIT_UNITY, CMake compiles the C++ files of a folder as one, which halves the processor time of a
# whole build.  Each file still compiles by itself (PLAIT_UNITY=OFF).
option(PLAIT_UNITY "Compile the files of a folder as one unit, which halves the processor time" ON)
option(PLAIT_UNITY_WIDE "Include subfolders in the unit: full builds are faster, builds after a change slower" OFF)

# plait_unity(TARGET PATTERN [FILE...] [APART GROUP...])
#   Files whose paths agree in the first group of PATTERN form one unit.  Each FILE is compiled alone, because names in
#   its unnamed namespace collide with those of other files.  CMake also compiles files with options of their own alone.
#   With PLAIT_UNITY_WIDE a folder of src or tests/cpp is one unit, except for the groups after APART.
function(plait_unity target pattern)
  if(NOT PLAIT_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP UNITY_BUILD_RELOCATABLE ON)
  cmake_parse_arguments(PARSE_ARGV 2 unity "" "" APART)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE path)
    if(path IN_LIST unity_UNPARSED_ARGUMENTS OR source IN_LIST unity_UNPARSED_ARGUMENTS OR NOT path MATCHES "\\.cpp$"
        OR NOT path MATCHES "${pattern}")
      continue()
    endif()
    set(group "${CMAKE_MATCH_1}")
    if(PLAIT_UNITY_WIDE AND NOT group IN_LIST unity_APART)
      string(REGEX REPLACE "^((trace/src|src|cpp)/[^/]+)/.*" "\\1" group "${group}")
    endif()
    string(MAKE_C_IDENTIFIER "${group}" group)
    set_source_files_properties(${source} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
