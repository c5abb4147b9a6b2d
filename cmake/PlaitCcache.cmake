# Runs compilers through ccache if it is installed, so that a second tree or a second clone compiles almost nothing.
#
# Objects are in the user's cache (`ccache --show-config | grep cache_dir`).  ccache hashes paths relative to the clone,
# so that other clones share the objects, and it hashes the contents of the compiler instead of its modification time.
# -DPLAIT_CCACHE=OFF compiles without ccache; a launcher in CMAKE_CXX_COMPILER_LAUNCHER takes precedence.
option(PLAIT_CCACHE "Run compilers through ccache if it is installed" ON)
if(PLAIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_C_COMPILER_LAUNCHER)
  find_program(PLAIT_CCACHE_PROGRAM ccache)
  if(PLAIT_CCACHE_PROGRAM)
    set(launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content
      CCACHE_SLOPPINESS= "${PLAIT_CCACHE_PROGRAM}")
    # ccache fails, for example, if it cannot write its cache.
    execute_process(COMMAND ${CMAKE_COMMAND} -E env CCACHE_NOSTATS=1 ${launcher} ${CMAKE_C_COMPILER} -c -x c /dev/null
      -o ${PROJECT_BINARY_DIR}/CMakeFiles/ccache_probe.o RESULT_VARIABLE ccache_status ERROR_VARIABLE ccache_error)
    if(ccache_status EQUAL 0)
      set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
      set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    else()
      message(STATUS "ccache: not used, because it fails: ${ccache_error}")
    endif()
  endif()
endif()
