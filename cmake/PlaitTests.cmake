# The tests that CTest runs, and benchmarks: a GoogleTest program for each folder of tests/cpp, and the C interface in
# one process and on several ranks.  Labels: the folder's name; c, cpp, fuzz; mpi and ranks-N; more (only
# `make test-all` runs these); product.NAME.
find_package(GTest REQUIRED)
include(GoogleTest)
enable_testing()

# The ThreadSanitizer of older compilers fails if the kernel randomises many address bits; setarch -R disables that.
if(PLAIT_SANITIZE STREQUAL "thread")
  execute_process(COMMAND setarch -R true RESULT_VARIABLE setarch_status OUTPUT_QUIET ERROR_QUIET)
  if(setarch_status EQUAL 0)
    set(CMAKE_CROSSCOMPILING_EMULATOR "setarch;-R")
  endif()
endif()

add_library(plait_test_support OBJECT tests/cpp/support/allocations.cpp tests/cpp/support/sanitizer_options.cpp)
target_include_directories(plait_test_support PRIVATE tests/cpp/support)
target_compile_features(plait_test_support PRIVATE cxx_std_20)
plait_warnings(plait_test_support)

# The folders of internal headers that test programs include.
set(plait_test_include_dirs "")
add_custom_target(plait_tests)  # builds all test programs
function(plait_test_program name library)
  add_executable(${name} ${ARGN})
  add_dependencies(plait_tests ${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/tests/cpp/support
    ${plait_test_include_dirs})
  target_link_libraries(${name} PRIVATE ${library})
  plait_warnings(${name})
  if(PLAIT_SANITIZE)
    target_compile_options(${name} PRIVATE -O0)
  endif()
endfunction()

# plait_cpp_tests(PROGRAM FOLDER LIBRARY): a GoogleTest program of the folder tests/cpp/FOLDER of a product.  These
# variables of the caller hold:
#   tests_folder        the folder tests of the product
#   alone, apart        sources that form no unit with others, and groups that PLAIT_UNITY_WIDE does not join: names in
#                       their unnamed namespaces collide with those of other files
#   threadless          folders that ThreadSanitizer does not run: the layer has no threads, or its tests start none;
#                       tests/style/test_threads.py checks the list
#   product             array or trace; the label product.NAME selects its tests
#   thorough_FOLDER     tests that take long; the second level runs all their cases, the first level some of them
function(plait_cpp_tests program folder library)
  file(GLOB_RECURSE test_sources CONFIGURE_DEPENDS ${tests_folder}/cpp/${folder}/*_test.cpp)
  if(NOT test_sources OR NOT TARGET ${library} OR (PLAIT_SANITIZE STREQUAL "thread" AND folder IN_LIST threadless))
    return()
  endif()
  plait_test_program(${program} ${library} ${test_sources})
  target_link_libraries(${program} PRIVATE plait_test_support GTest::gtest_main)
  # The tests spend their run time in the library, and their compile time in the optimiser.
  target_compile_options(${program} PRIVATE $<$<CONFIG:Release>:-Og>)
  plait_unity(${program} "tests/(cpp/.*)/" ${alone} APART ${apart})
  gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 TEST_PREFIX "${folder}/"
    PROPERTIES LABELS "cpp;${folder};product.${product}" TIMEOUT 1800)
  if(DEFINED thorough_${folder} AND NOT PLAIT_SANITIZE)
    gtest_discover_tests(${program} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120 TEST_PREFIX "${folder}/"
      TEST_SUFFIX ".thorough" TEST_LIST ${program}_THOROUGH TEST_FILTER "${thorough_${folder}}"
      PROPERTIES LABELS "more;product.${product}" TIMEOUT 1800 ENVIRONMENT PLAIT_TEST_THOROUGH=1)
  endif()
endfunction()

set(product array)
set(tests_folder ${PROJECT_SOURCE_DIR}/tests)
set(alone distant/request_memory layout/index_set/pattern exchange/families)
list(TRANSFORM alone REPLACE "(.+)" "tests/cpp/\\1_test.cpp")
set(apart core/costs core/stream distant/shared driver/objects layout/index_set store/stripe)
list(TRANSFORM apart PREPEND cpp/)
set(threadless copy layout plan)
set(thorough_core "OutOfMemory.*")
set(thorough_layout "Layout.EqualLayoutsHaveOneNormalFormAndOneText")
set(thorough_driver "ReplacedFileTest.EndlessReplacementsAreAnError")

file(GLOB test_folders RELATIVE ${PROJECT_SOURCE_DIR}/tests/cpp CONFIGURE_DEPENDS tests/cpp/*)
foreach(folder IN LISTS test_folders)
  plait_cpp_tests(plait_${folder}_tests ${folder} plait)
endforeach()

# The C interface, in C11.
function(plait_c_test_program name library)
  plait_test_program(${name} ${library} tests/c/support/check.c tests/c/support/oracle.c ${ARGN})
  target_include_directories(${name} PRIVATE tests/c/support)
  set_target_properties(${name} PROPERTIES C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF)
  if(PLAIT_SANITIZE)  # the library needs the sanitizers' C++ parts
    set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
    target_sources(${name} PRIVATE tests/cpp/support/sanitizer_options.cpp)
  endif()
endfunction()

if(NOT PLAIT_SANITIZE STREQUAL "thread")
  file(GLOB c_test_sources CONFIGURE_DEPENDS tests/c/one/*.c)
  plait_c_test_program(plait_c_tests plait ${c_test_sources})
  add_test(NAME c COMMAND plait_c_tests)
  set_tests_properties(c PROPERTIES LABELS "c;product.array" TIMEOUT 600)
endif()

# Tests the C interface on N ranks, which may exceed the number of cores.  c.mpi.4.nodes has two ranks per node.
function(plait_mpi_test name ranks)
  add_test(NAME ${name} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${ranks} $<TARGET_FILE:plait_c_mpi_tests>)
  set(environment PLAIT_TEST_RANKS=${ranks} PLAIT_MODEL=builtin OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
    PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe)
  set_tests_properties(${name} PROPERTIES LABELS "c;mpi;ranks-${ranks};product.array;${ARGN}" TIMEOUT 900 RUN_SERIAL ON
    ENVIRONMENT "${environment}")
endfunction()

if(plait_has_mpi AND MPIEXEC_EXECUTABLE)
  file(GLOB c_mpi_test_sources CONFIGURE_DEPENDS tests/c/mpi/*.c)
  plait_c_test_program(plait_c_mpi_tests plait_mpi ${c_mpi_test_sources})
  foreach(ranks 1 3 6)
    plait_mpi_test(c.mpi.${ranks} ${ranks} more)
  endforeach()
  foreach(ranks 2 4)
    plait_mpi_test(c.mpi.${ranks} ${ranks})
  endforeach()
  plait_mpi_test(c.mpi.4.nodes 4)
  set_property(TEST c.mpi.4.nodes APPEND PROPERTY ENVIRONMENT PLAIT_NODE_SIZE=2)
endif()

# plait_fuzz_tests(PROGRAM LIBRARY SOURCE... CORPUS FOLDER READERS NAME...): a program that passes mutated inputs to
# readers of files and traces and to ends of pipes, and a test for each reader.  libFuzzer generates the inputs if the
# compiler is Clang and PLAIT_FUZZ is set; otherwise tests/fuzz/driver.cpp does.
function(plait_fuzz_tests program library)
  if(NOT PLAIT_SANITIZE MATCHES "address|trap")
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 fuzz "" CORPUS READERS)
  set(common ${PROJECT_SOURCE_DIR}/tests/fuzz)
  set(sources ${fuzz_UNPARSED_ARGUMENTS})
  list(APPEND plait_test_include_dirs ${common})
  if(PLAIT_FUZZ AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
    plait_test_program(${program} ${library} ${common}/target.cpp ${sources})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    return()
  endif()
  plait_test_program(${program} ${library} ${common}/target.cpp ${common}/driver.cpp ${common}/mutate.cpp ${sources}
    ${PROJECT_SOURCE_DIR}/tests/cpp/support/sanitizer_options.cpp)
  set_target_properties(${program} PROPERTIES ENABLE_EXPORTS ON)  # the instrumented library calls the driver
  foreach(reader IN LISTS fuzz_READERS)
    add_test(NAME fuzz.${reader} COMMAND ${program} --executions 2000 --seconds 60
      --corpus ${fuzz_CORPUS} ${reader})
    set_tests_properties(fuzz.${reader} PROPERTIES LABELS "fuzz;product.${product}" TIMEOUT 600
      ENVIRONMENT ASAN_OPTIONS=max_allocation_size_mb=1024)
  endforeach()
  list(JOIN fuzz_READERS "[\n ]" all_readers)
  add_test(NAME ${program}.all COMMAND ${program} list)  # checks that READERS names all readers of the program
  set_tests_properties(${program}.all PROPERTIES LABELS "fuzz;product.${product}" PASS_REGULAR_EXPRESSION "^${all_readers}\n$")
endfunction()

plait_fuzz_tests(plait_fuzz plait tests/fuzz/array_targets.cpp tests/fuzz/container_target.cpp
  tests/fuzz/encoding_target.cpp tests/fuzz/pipe_target.cpp
  CORPUS ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus
  READERS encoding pipe-hello pipe-frames pipe-answers npz safetensors netcdf zarr zarr-chunk zarr-shard hdf5-chunk
    hdf5-description)

if(NOT PLAIT_SANITIZE)
  file(GLOB_RECURSE bench_sources CONFIGURE_DEPENDS tests/cpp/*_bench.cpp)
  foreach(bench_source IN LISTS bench_sources)
    cmake_path(GET bench_source STEM bench_name)
    plait_test_program(${bench_name} plait ${bench_source})
  endforeach()
endif()
