# The Fortran libraries, for default integers of 4 and of 8 bytes: the 1993 primitives as external procedures, and the
# module plait.
include(CheckLanguage)
include(CheckIncludeFileCXX)
# One that was installed since is found.
if(DEFINED CACHE{CMAKE_Fortran_COMPILER} AND NOT CMAKE_Fortran_COMPILER)
  unset(CMAKE_Fortran_COMPILER CACHE)
endif()
check_language(Fortran)
if(NOT CMAKE_Fortran_COMPILER)
  message(STATUS "Fortran: skipped, because no Fortran compiler was found. Name one with -DCMAKE_Fortran_COMPILER=...")
  return()
endif()
enable_language(Fortran)
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU" AND CMAKE_Fortran_COMPILER_VERSION VERSION_LESS 12)
  message(STATUS "Fortran: skipped, because gfortran ${CMAKE_Fortran_COMPILER_VERSION} is too old for arrays of any "
    "rank and type; 12 or later is needed. Name another one with -DCMAKE_Fortran_COMPILER=...")
  return()
endif()

# The header of array descriptors comes with the Fortran compiler; another C++ compiler is told where.
check_include_file_cxx(ISO_Fortran_binding.h plait_has_descriptors)
if(NOT plait_has_descriptors)
  execute_process(COMMAND "${CMAKE_Fortran_COMPILER}" -print-file-name=include
    OUTPUT_VARIABLE descriptor_folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT EXISTS "${descriptor_folder}/ISO_Fortran_binding.h")
    message(STATUS "Fortran: skipped, because ${CMAKE_Fortran_COMPILER} brings no ISO_Fortran_binding.h")
    return()
  endif()
endif()

file(GLOB fortran_face_sources CONFIGURE_DEPENDS bindings/fortran/*.cpp bindings/fortran/*.f90
  bindings/historical/primitives1993/fortran/*.cpp bindings/historical/primitives1993/fortran/*.f90)
foreach(kind "" _i8)
  set(library plait_fortran${kind})
  set(modules ${PROJECT_BINARY_DIR}/fortran${kind})
  add_library(${library} SHARED ${fortran_face_sources})
  set_target_properties(${library} PROPERTIES EXPORT_NAME fortran${kind} Fortran_MODULE_DIRECTORY ${modules})
  target_include_directories(${library} PRIVATE src bindings/c bindings/historical)
  if(NOT plait_has_descriptors)
    target_compile_options(${library} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-idirafter${descriptor_folder}>)
  endif()
  target_link_libraries(${library} PUBLIC plait_mpi)
  target_compile_definitions(${library} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:PLAIT_FORTRAN_INTEGER=std::$<IF:$<STREQUAL:${kind},_i8>,int64_t,int32_t>>)
  plait_fortran_warnings(${library})
  list(APPEND plait_libraries ${library})
  add_library(plait::fortran${kind} ALIAS ${library})
  target_include_directories(${library} INTERFACE
    $<BUILD_INTERFACE:${modules}> $<INSTALL_INTERFACE:${plait_module_dir}/fortran${kind}>)
  if(building_wheel)
    install(DIRECTORY ${modules} DESTINATION ${plait_module_dir} COMPONENT python FILES_MATCHING PATTERN "*.mod")
  else()
    install(DIRECTORY ${modules} DESTINATION ${plait_module_dir} FILES_MATCHING PATTERN "*.mod")
  endif()
endforeach()
set(wide_integers $<IF:$<Fortran_COMPILER_ID:Intel,IntelLLVM,NVHPC>,-i8,-fdefault-integer-8>)
target_compile_options(plait_fortran_i8 PRIVATE $<$<COMPILE_LANGUAGE:Fortran>:${wide_integers}>)
