# The Python extension modules: plait._core, and plait._mpi if MPI was found.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module ${SKBUILD_SABI_COMPONENT})
if(NOT nanobind_DIR)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(nanobind CONFIG REQUIRED)

# Each module includes nanobind statically; a common domain lets them share types.  From Python 3.12 on, the stable ABI
# lets one wheel serve all later versions too.
if(SKBUILD_SABI_COMPONENT)
  set(stable_abi STABLE_ABI)
endif()
function(plait_python_module name library)
  nanobind_add_module(${name} NB_STATIC ${stable_abi} NB_DOMAIN plait NB_SUPPRESS_WARNINGS ${ARGN})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/bindings/python)
  target_link_libraries(${name} PRIVATE ${library})
  plait_warnings(${name})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS ${name} LIBRARY DESTINATION plait COMPONENT python)
endfunction()

file(GLOB core_module_sources CONFIGURE_DEPENDS bindings/python/core*.cpp bindings/python/indexing/*.cpp
  bindings/python/texts/*.cpp)
file(GLOB mpi_module_sources CONFIGURE_DEPENDS bindings/python/mpi*.cpp)
if(core_module_sources)
  plait_python_module(_core plait ${core_module_sources})
  # Two units, so that a change recompiles only half of the module.
  plait_unity(_core "(bindings/python/core_)[b-h]")
  plait_unity(_core "(bindings/python/core)_[i-s]")
endif()
if(mpi_module_sources AND plait_has_mpi)
  plait_python_module(_mpi plait_mpi ${mpi_module_sources})
  if(PLAIT_MPI_FAMILIES)
    set_target_properties(_mpi PROPERTIES OUTPUT_NAME _mpi_${first_family})
    target_link_libraries(_mpi PRIVATE $<COMPILE_ONLY:MPI::MPI_C>)
    foreach(entry IN LISTS other_families)
      string(REGEX REPLACE "=.*" "" family "${entry}")
      plait_python_module(_mpi_${family} plait_mpi_${family} ${mpi_module_sources})
      target_compile_options(_mpi_${family} PRIVATE ${mpi_${family}_options})
    endforeach()
  else()
    set_target_properties(_mpi PROPERTIES INSTALL_RPATH "$ORIGIN;${plait_mpi_rpath}")
  endif()
endif()

# Compiles nanobind's own files as the single unit that nanobind provides for other build systems, which takes a third
# of the time.
cmake_path(SET together NORMALIZE "${nanobind_DIR}/../src/nb_combined.cpp")
foreach(library nanobind-static nanobind-static-abi3)
  if(PLAIT_UNITY AND TARGET ${library} AND EXISTS "${together}")
    get_target_property(sources ${library} SOURCES)
    list(FILTER sources EXCLUDE REGEX "/(nb_[a-z_]+|common|error|implicit|trampoline)\\.cpp$")
    set_property(TARGET ${library} PROPERTY SOURCES ${sources} "${together}")
  endif()
endforeach()
