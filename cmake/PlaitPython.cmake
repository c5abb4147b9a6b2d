# The Python extension modules: plait._core, plait._trace, and plait._mpi where MPI was found.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
if(NOT nanobind_DIR)
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE)
endif()
find_package(nanobind CONFIG REQUIRED)

# Each module carries nanobind in itself; one domain lets them share types.
function(plait_python_module name library)
  nanobind_add_module(${name} NB_STATIC NB_DOMAIN plait NB_SUPPRESS_WARNINGS ${ARGN})
  target_include_directories(${name} PRIVATE src bindings/python)
  target_link_libraries(${name} PRIVATE ${library})
  plait_warnings(${name})
  set_target_properties(${name} PROPERTIES INSTALL_RPATH "$ORIGIN;${plait_mpi_rpath}")
  install(TARGETS ${name} LIBRARY DESTINATION plait COMPONENT python)
endfunction()

file(GLOB core_module_sources CONFIGURE_DEPENDS bindings/python/core*.cpp)
file(GLOB trace_module_sources CONFIGURE_DEPENDS bindings/python/trace/*.cpp)
file(GLOB mpi_module_sources CONFIGURE_DEPENDS bindings/python/mpi*.cpp)
if(core_module_sources)
  plait_python_module(_core plait ${core_module_sources})
endif()
if(trace_module_sources)
  plait_python_module(_trace plait_trace ${trace_module_sources})
endif()
if(mpi_module_sources AND plait_has_mpi)
  plait_python_module(_mpi plait_mpi ${mpi_module_sources})
endif()
