# Checks of undefined behaviour are slow to compile mostly because of their messages.
option(PLAIT_SANITIZE_TRAP "Let undefined behaviour end a program by SIGILL, without a message" OFF)

# Sanitizers instrument every object of a build, so they are directory-wide flags, set before any target exists.
if(PLAIT_SANITIZE STREQUAL "address")
  set(sanitize_flags -fsanitize=address,undefined)
elseif(PLAIT_SANITIZE STREQUAL "thread")
  set(sanitize_flags -fsanitize=thread)
elseif(PLAIT_SANITIZE STREQUAL "trap")  # undefined behaviour ends the program at once; fast, for long runs
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
    # Clang compiles fastest with -O0, GCC with -Og (docs/decisions/0058-quick-tests.md).
    add_compile_options(${sanitize_flags} -fno-sanitize-recover=all -fno-omit-frame-pointer -g1
      $<IF:$<CXX_COMPILER_ID:Clang>,-O0,-Og>)
    if(PLAIT_SANITIZE_TRAP)
      add_compile_options(-fsanitize-undefined-trap-on-error)
    endif()
  endif()
  add_link_options(${sanitize_flags})
  string(TOUPPER "${PLAIT_SANITIZE}" sanitize_name)
  add_compile_definitions(PLAIT_SANITIZE_${sanitize_name})  # the predefined macros of GCC and Clang differ
endif()

# Fuzzing needs instrumentation that reports the reached branches.  With GCC, only the fuzzed layers are instrumented.
if(PLAIT_FUZZ)
  if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    add_compile_options(-fsanitize=fuzzer-no-link)
  else()
    file(GLOB_RECURSE fuzzed_sources CONFIGURE_DEPENDS src/pipe/*.cpp src/transport/native/*.cpp)
    set_source_files_properties(${fuzzed_sources} PROPERTIES COMPILE_OPTIONS -fsanitize-coverage=trace-pc)
  endif()
endif()
