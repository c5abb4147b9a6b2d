# The C++ tests: one program for all that needs no MPI, one that runs under mpiexec, and one program for each benchmark.
find_package(GTest REQUIRED)
enable_testing()

function(plait_test_program name library)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE src tests/cpp/support)
  target_link_libraries(${name} PRIVATE ${library})
  plait_warnings(${name})
endfunction()

set(PLAIT_TEST_SOURCES "" CACHE STRING "The C++ tests to build, where not all of them are wanted")
set(PLAIT_TEST_LIBRARY plait_simulation CACHE STRING "What they are linked with: plait, plait_trace or plait_simulation")
file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS tests/cpp/*_test.cpp)
if(PLAIT_TEST_SOURCES)
  set(test_sources ${PLAIT_TEST_SOURCES})
endif()
if(test_sources)
  plait_test_program(plait_tests ${PLAIT_TEST_LIBRARY} ${test_sources} tests/cpp/support/allocations.cpp)
  target_link_libraries(plait_tests PRIVATE GTest::gtest_main)
  # The time of the tests goes to the library, that of their compilation to optimisation and to the same few headers.
  target_compile_options(plait_tests PRIVATE $<$<CONFIG:Release>:-Og>)
  target_precompile_headers(plait_tests PRIVATE tests/cpp/support/precompiled.hpp)
  if(PLAIT_SANITIZE)
    target_compile_options(plait_tests PRIVATE -O0)  # half of the compilation; what is tested stays optimised
  endif()
  set(alone base/events/events distant/request_memory layout/index_set/pattern redistribution/families
    simulation/replay/replay)
  list(TRANSFORM alone REPLACE "(.+)" "tests/cpp/\\1_test.cpp")
  set(apart core/stream distant/shared layout/index_set simulation/devices simulation/replay store/stripe
    trace/formats/text1992 trace/report/time)
  list(TRANSFORM apart PREPEND cpp/)
  plait_together(plait_tests "tests/(cpp/.*)/" ${alone} APART ${apart})
  add_test(NAME plait_tests COMMAND plait_tests)
endif()

file(GLOB mpi_test_sources CONFIGURE_DEPENDS tests/mpi/*.cpp)
if(mpi_test_sources AND plait_has_mpi)
  plait_test_program(plait_mpi_tests plait_mpi ${mpi_test_sources})
  target_link_libraries(plait_mpi_tests PRIVATE GTest::gtest)
endif()

# The C interface, in C11: one program for one process, one for mpiexec.
function(plait_c_test_program name library)
  plait_test_program(${name} ${library} tests/c/support/check.c tests/c/support/oracle.c ${ARGN})
  target_include_directories(${name} PRIVATE tests/c/support)
  set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  if(PLAIT_SANITIZE)  # the library needs the sanitizers' C++ parts
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
endfunction()

file(GLOB c_test_sources CONFIGURE_DEPENDS tests/c/one/*.c)
if(c_test_sources)
  plait_c_test_program(plait_c_tests plait ${c_test_sources})
  add_test(NAME plait_c_tests COMMAND plait_c_tests)
endif()

file(GLOB c_mpi_test_sources CONFIGURE_DEPENDS tests/c/mpi/*.c)
if(c_mpi_test_sources AND plait_has_mpi)
  plait_c_test_program(plait_c_mpi_tests plait_mpi ${c_mpi_test_sources})
endif()

# Readers of traces, and ends of pipes, on changed inputs: under libFuzzer where the compiler is Clang and PLAIT_FUZZ is set, else by a driver.
file(GLOB fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cpp)
if(fuzz_sources)
  if(PLAIT_FUZZ AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    list(FILTER fuzz_sources INCLUDE REGEX "/((pipe|container)_)?target\\.cpp$")
    plait_test_program(plait_fuzz plait_trace ${fuzz_sources})
    target_link_options(plait_fuzz PRIVATE -fsanitize=fuzzer)
  else()
    plait_test_program(plait_fuzz plait_trace ${fuzz_sources})
    set_target_properties(plait_fuzz PROPERTIES ENABLE_EXPORTS ON)  # the library calls back where it is instrumented
  endif()
  set_target_properties(plait_fuzz PROPERTIES EXCLUDE_FROM_ALL ON)  # it runs under sanitizers only
endif()

file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS tests/cpp/*_bench.cpp)
foreach(bench_source IN LISTS bench_sources)
  cmake_path(GET bench_source STEM bench_name)
  plait_test_program(${bench_name} plait ${bench_source})
endforeach()
