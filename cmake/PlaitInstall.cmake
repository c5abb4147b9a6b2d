# What an installed Plait is found by: a CMake package and pkg-config files.  All of it may be moved to another place
# together.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/plait)
install(EXPORT plait_targets NAMESPACE plait:: DESTINATION ${package_dir})
if(plait_has_mpi)
  install(EXPORT plait_mpi_targets NAMESPACE plait:: DESTINATION ${package_dir})
endif()
configure_package_config_file(cmake/plait-config.cmake.in plait-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(plait-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/plait-config.cmake ${PROJECT_BINARY_DIR}/plait-config-version.cmake
  DESTINATION ${package_dir})

# pkg-config files lie in LIBDIR/pkgconfig, from where they find the rest.
set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
if(IS_ABSOLUTE "${CMAKE_INSTALL_LIBDIR}" OR IS_ABSOLUTE "${CMAKE_INSTALL_INCLUDEDIR}")
  set(pc_prefix "${CMAKE_INSTALL_PREFIX}")
else()
  file(RELATIVE_PATH pc_up "/${pc_dir}" "/")
  string(REGEX REPLACE "/$" "" pc_up "${pc_up}")
  set(pc_prefix "\${pcfiledir}/${pc_up}")
endif()
cmake_path(APPEND pc_libdir "\${prefix}" "${CMAKE_INSTALL_LIBDIR}")
cmake_path(APPEND pc_includedir "\${prefix}" "${CMAKE_INSTALL_INCLUDEDIR}")
configure_file(cmake/plait.pc.in plait.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/plait.pc DESTINATION ${pc_dir})
if(plait_has_mpi)
  list(TRANSFORM MPI_C_INCLUDE_DIRS PREPEND "-I" OUTPUT_VARIABLE pc_mpi_includes)
  list(JOIN pc_mpi_includes " " pc_mpi_includes)
  list(JOIN MPI_C_COMPILE_OPTIONS " " pc_mpi_options)
  list(JOIN MPI_C_LIBRARIES " " pc_mpi_files)
  set(pc_mpi_cflags "${pc_mpi_includes} ${pc_mpi_options}")
  set(pc_mpi_libs "${pc_mpi_files} ${MPI_C_LINK_FLAGS}")
  configure_file(cmake/plait-mpi.pc.in plait-mpi.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/plait-mpi.pc DESTINATION ${pc_dir})
endif()
