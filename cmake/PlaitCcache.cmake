# Compilers run behind ccache where it is installed, so that a second tree, or a second clone, compiles next to nothing.
#
# Results lie in the user's own cache (`ccache --show-config | grep cache_dir`).  Paths below the clone count from the
# clone, so that clones in other folders share them; the compiler counts by its content, not by its time.
# -DPLAIT_CCACHE=OFF compiles without; a launcher that is named in CMAKE_CXX_COMPILER_LAUNCHER stays.
option(PLAIT_CCACHE "Compile behind ccache where it is installed" ON)
if(PLAIT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT CMAKE_C_COMPILER_LAUNCHER)
  find_program(PLAIT_CCACHE_PROGRAM ccache)
  if(PLAIT_CCACHE_PROGRAM)
    set(launcher env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 CCACHE_COMPILERCHECK=content
      CCACHE_SLOPPINESS= "${PLAIT_CCACHE_PROGRAM}")
    set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
    set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  endif()
endif()
