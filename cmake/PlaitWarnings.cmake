# The project's warnings, for its own targets only.
function(plait_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wconversion
    $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-sign-conversion>)  # only Clang includes it in -Wconversion
  if(PLAIT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(PLAIT_UNITY_WIDE)  # a local name may equal the name of a constant in another folder
    target_compile_options(${target} PRIVATE -Wno-shadow)
  endif()
endfunction()

# The warnings for targets with C++ and Fortran sources.  Two of gfortran's are disabled: C interfaces use default
# integers on purpose, because each library is for one kind of integer; and gfortran mistakes the descriptors of arrays
# that an assignment allocates for uninitialised variables.
function(plait_fortran_warnings target)
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion>
    $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Wall;-Wno-c-binding-type;-Wno-unused-dummy-argument>
    $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Wno-uninitialized;-Wno-maybe-uninitialized>)
  if(PLAIT_WERROR)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>
      $<$<COMPILE_LANG_AND_ID:Fortran,GNU>:-Werror>)
  endif()
endfunction()
