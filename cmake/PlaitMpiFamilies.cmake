# A wheel for several families of MPI: each family has a library and a module, which are not linked with MPI.  They use
# the functions of the MPI library that the program has loaded (python/plait/_base/libraries/families.py).
#
# PLAIT_MPI_FAMILIES   a list of FAMILY=COMPILER_WRAPPER; the first is the MPI of this tree, which FindMPI finds.
set(plait_mpi_libraries plait_mpi)

# The output name of the library states the family; compiler options are the same as without families.
list(GET PLAIT_MPI_FAMILIES 0 first_family)
string(REGEX REPLACE "=.*" "" first_family "${first_family}")
target_link_libraries(plait_mpi PUBLIC plait PRIVATE $<COMPILE_ONLY:MPI::MPI_C>)
set_target_properties(plait_mpi PROPERTIES OUTPUT_NAME plait_mpi_${first_family} EXPORT_NAME mpi_${first_family})

list(SUBLIST PLAIT_MPI_FAMILIES 1 -1 other_families)
foreach(entry IN LISTS other_families)
  if(NOT entry MATCHES "^([a-z]+)=(.+)$")
    message(FATAL_ERROR "PLAIT_MPI_FAMILIES has '${entry}'; expected FAMILY=COMPILER_WRAPPER")
  endif()
  set(family ${CMAKE_MATCH_1})
  set(wrapper ${CMAKE_MATCH_2})
  execute_process(COMMAND "${wrapper}" -show OUTPUT_VARIABLE shown COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(shown UNIX_COMMAND "${shown}")
  list(FILTER shown INCLUDE REGEX "^-[DI]")
  list(TRANSFORM shown REPLACE "^-I" "-isystem" OUTPUT_VARIABLE mpi_${family}_options)

  add_library(plait_mpi_${family} SHARED ${mpi_sources} ${mpi_face_sources})
  set_target_properties(plait_mpi_${family} PROPERTIES EXPORT_NAME mpi_${family})
  target_include_directories(plait_mpi_${family} PRIVATE src bindings/c)
  target_compile_options(plait_mpi_${family} PRIVATE ${mpi_${family}_options})
  target_compile_definitions(plait_mpi_${family} PUBLIC ${plait_mpi_definitions})
  target_link_libraries(plait_mpi_${family} PUBLIC plait)
  plait_warnings(plait_mpi_${family})
  plait_unity(plait_mpi_${family} "(src/.*)/")
  list(APPEND plait_mpi_libraries plait_mpi_${family})
endforeach()
