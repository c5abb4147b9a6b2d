# Shared Files under the names of Global Arrays: a library for each kind of default integer of Fortran, which differ in
# the Fortran procedures alone.
file(GLOB shared_files_sources CONFIGURE_DEPENDS bindings/historical/shared_files1998/*.cpp)
foreach(kind "" _i8)
  set(library plait_sf${kind})
  add_library(${library} SHARED ${shared_files_sources})
  add_library(plait::sf${kind} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME sf${kind})
  target_include_directories(${library} PRIVATE src bindings/c INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/plait/ga> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/plait/ga>)
  target_link_libraries(${library} PUBLIC plait_mpi)
  target_compile_definitions(${library} PRIVATE
    PLAIT_FORTRAN_INTEGER=std::$<IF:$<STREQUAL:${kind},_i8>,int64_t,int32_t>)
  plait_warnings(${library})
  list(APPEND plait_libraries ${library})
endforeach()
