# Most of what checks of undefined behaviour cost a compiler is the text of what they would say.
option(PLAIT_SANITIZE_TRAP "Let undefined behaviour end a program by SIGILL, with no word of what it was" OFF)

# Sanitizers instrument every object of a build, so they are directory-wide flags, set before any target exists.
if(PLAIT_SANITIZE STREQUAL "address")
  set(sanitize_flags -fsanitize=address,undefined)
elseif(PLAIT_SANITIZE STREQUAL "thread")
  set(sanitize_flags -fsanitize=thread)
elseif(PLAIT_SANITIZE STREQUAL "trap")  # undefined behaviour ends the program at once: for long runs
  set(sanitize_flags -fsanitize=undefined)
elseif(PLAIT_SANITIZE)
  message(FATAL_ERROR "PLAIT_SANITIZE is '${PLAIT_SANITIZE}'; expected 'address', 'thread', 'trap' or nothing.")
endif()

if(PLAIT_SANITIZE)
  if(PLAIT_PYTHON)
    message(FATAL_ERROR "PLAIT_SANITIZE covers the C++ tests only; configure with -DPLAIT_PYTHON=OFF.")
  endif()
  if(PLAIT_SANITIZE STREQUAL "trap")
    add_compile_options(${sanitize_flags} -fsanitize-undefined-trap-on-error -O2)
  else()
    # -Og takes two thirds of the time of -O1, which folds the checks away only to find most of them again.
    add_compile_options(${sanitize_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer -Og -g1)
    if(PLAIT_SANITIZE_TRAP)
      add_compile_options(-fsanitize-undefined-trap-on-error)
    endif()
  endif()
  add_link_options(${sanitize_flags})
endif()

# Fuzzing follows the places that are reached: in the layers that are fuzzed, and in those alone.
if(PLAIT_FUZZ)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fsanitize=fuzzer-no-link)
  else()
    file(GLOB_RECURSE fuzzed_sources CONFIGURE_DEPENDS src/trace/*.cpp src/pipe/*.cpp src/transport/native/*.cpp)
    set_source_files_properties(${fuzzed_sources} PROPERTIES COMPILE_OPTIONS -fsanitize-coverage=trace-pc)
  endif()
endif()

# In such a build no object is shared with another one, so that the standard headers may be compiled once for a library.
# Files in C and those with options of their own read them for themselves.
set(PLAIT_THREADLESS "" CACHE STRING "Libraries at which ThreadSanitizer need not look")
function(plait_sanitized_library target)
  if(PLAIT_SANITIZE)
    if(target IN_LIST PLAIT_THREADLESS)
      target_compile_options(${target} PRIVATE -fno-sanitize=${PLAIT_SANITIZE})
    endif()
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      get_source_file_property(options "${source}" COMPILE_OPTIONS)
      if(options OR source MATCHES "\\.c$")
        set_source_files_properties("${source}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
      endif()
    endforeach()
    target_precompile_headers(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/tests/cpp/support/standard.hpp>)
  endif()
endfunction()
