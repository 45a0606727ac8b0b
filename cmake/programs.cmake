# What is linked from the layers: the executable, the integration tests, benchmarks, fuzzers.

get_property(berth_layers GLOBAL PROPERTY BERTH_LAYER_TARGETS)
set(berth_support $<TARGET_NAME_IF_EXISTS:berth_testing>)
# From the highest rank to the lowest, so that a linker that reads archives once finds everything.
list(REVERSE berth_layers)

# The one binary; its first argument chooses the role.
file(GLOB berth_main CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/app/main.cc")
if(berth_main)
  add_executable(berth ${berth_main})
  target_link_libraries(berth PRIVATE berth_flags ${berth_layers})
endif()

# Tests of several layers together: everything below tests/ except the enforcement checks.
file(GLOB_RECURSE berth_integration CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/*.cc")
list(FILTER berth_integration EXCLUDE REGEX "/tests/enforcement/")
if(berth_integration)
  add_executable(integration_test ${berth_integration})
  target_include_directories(integration_test PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(integration_test PRIVATE ${berth_support} ${berth_layers} berth_test_main)
  if(TARGET berth)
    add_dependencies(integration_test berth)
  endif()
  gtest_discover_tests(integration_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "integration."
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTIES TIMEOUT 600 LABELS integration)
endif()

file(GLOB_RECURSE berth_bench CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/*.cc")
if(BERTH_BENCH AND berth_bench)
  add_executable(berth_bench ${berth_bench})
  target_include_directories(berth_bench PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(berth_bench PRIVATE ${berth_support} ${berth_layers} berth_flags
    GTest::gtest benchmark::benchmark benchmark::benchmark_main)
endif()

# One fuzzer for each file of fuzz/; the rest of the tree only carries coverage marks. Everywhere
# else the same file is a test that replays its seeds and what it has found.
file(GLOB berth_fuzzers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/fuzz/*.cc")
if(NOT BERTH_FUZZ)
  add_library(berth_fuzz_replay STATIC "${PROJECT_SOURCE_DIR}/fuzz/replay/replay.cc")
  target_link_libraries(berth_fuzz_replay PRIVATE berth_flags)
endif()
foreach(source IN LISTS berth_fuzzers)
  get_filename_component(name "${source}" NAME_WE)
  add_executable(${name} ${source})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${berth_support} ${berth_layers} berth_flags)
  if(BERTH_FUZZ)
    target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  else()
    target_link_libraries(${name} PRIVATE berth_fuzz_replay)
    add_test(NAME fuzz.${name} COMMAND ${name} "${PROJECT_SOURCE_DIR}/fuzz/seeds/${name}")
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz TIMEOUT 300)
  endif()
endforeach()

# Built together by `cmake --build ... --target unit_tests`, or those of the pure layers alone.
foreach(group unit_tests pure_tests)
  string(TOUPPER BERTH_${group} property)
  get_property(members GLOBAL PROPERTY ${property})
  add_custom_target(${group})
  if(members)
    add_dependencies(${group} ${members})
  endif()
endforeach()

# Where tests find data and the binary. ctest reads this file when it starts, so that what the
# caller has exported wins over what is set here.
file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/test_environment.cmake" @ONLY CONTENT [[
if(NOT DEFINED ENV{BERTH_DATA})
  set(ENV{BERTH_DATA} "@PROJECT_SOURCE_DIR@/../shared/data")
endif()
if(NOT DEFINED ENV{BERTH_BINARY})
  set(ENV{BERTH_BINARY} "@CMAKE_RUNTIME_OUTPUT_DIRECTORY@/berth")
endif()
set(ENV{BERTH_SOURCE} "@PROJECT_SOURCE_DIR@")
]])
set_property(DIRECTORY "${PROJECT_SOURCE_DIR}" APPEND PROPERTY TEST_INCLUDE_FILES
  "${CMAKE_BINARY_DIR}/test_environment.cmake")
