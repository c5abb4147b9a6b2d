# Finds the header of the HDF5 library, whose prototypes Plait uses: Hdf5::Header.  The library itself is not linked but
# loaded at run time.  HDF5_ROOT, a CMake or environment variable, names the prefix of an installation.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_search_module(Hdf5Header_PKG QUIET hdf5-serial hdf5)
endif()
# Debian has one folder for each variant of HDF5.
find_path(Hdf5Header_INCLUDE_DIR hdf5.h
  HINTS ${HDF5_ROOT} ENV HDF5_ROOT ENV HDF5_DIR
  PATHS ${Hdf5Header_PKG_INCLUDE_DIRS}
  PATH_SUFFIXES include/hdf5/serial hdf5/serial include include/hdf5/openmpi hdf5/openmpi include/hdf5/mpich hdf5/mpich)
mark_as_advanced(Hdf5Header_INCLUDE_DIR)

if(Hdf5Header_INCLUDE_DIR)
  file(STRINGS "${Hdf5Header_INCLUDE_DIR}/H5public.h" numbers REGEX "^#define H5_VERS_(MAJOR|MINOR|RELEASE) ")
  list(TRANSFORM numbers REPLACE "^#define H5_VERS_[A-Z]+ +([0-9]+).*" "\\1")
  list(JOIN numbers "." Hdf5Header_VERSION)
  # Some distributions have one H5pubconf header for each word size.
  set(Hdf5Header_NEEDS_MPI OFF)
  file(GLOB configurations "${Hdf5Header_INCLUDE_DIR}/H5pubconf*.h")
  foreach(configuration IN LISTS configurations)
    file(STRINGS "${configuration}" parallel REGEX "^#define H5_HAVE_PARALLEL 1")
    if(parallel)
      set(Hdf5Header_NEEDS_MPI ON)
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Hdf5Header REQUIRED_VARS Hdf5Header_INCLUDE_DIR VERSION_VAR Hdf5Header_VERSION
  REASON_FAILURE_MESSAGE
  "the header hdf5.h of HDF5 1.10.5 or later is needed (Debian: libhdf5-dev). HDF5_ROOT names another installation")

if(Hdf5Header_FOUND AND NOT TARGET Hdf5::Header)
  add_library(Hdf5::Header INTERFACE IMPORTED)
  target_include_directories(Hdf5::Header SYSTEM INTERFACE "${Hdf5Header_INCLUDE_DIR}")
endif()
