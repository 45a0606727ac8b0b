# berth_layer() declares one folder of src/ as a library and enforces the shape of the system.
#
#   berth_layer(NAME scheduling RANK 4 PURE DEPS base model policy lifecycle)
#   berth_layer(NAME store_sqlite FOLDER store/sqlite RANK 8 DEPS base ... LIBS SQLite::SQLite3)
#
#   NAME      library berth_<NAME>, unit tests <NAME>_test
#   FOLDER    folder below src/; NAME where left out
#   RANK      only layers of a lower rank may be used
#   DEPS      the written list: every layer that this folder may include
#   LIBS      libraries that are not ours
#   PURE      decides, so touches nothing outside: no clock, file, socket, thread, environment
#   TEST_DEPS further layers for its unit tests, of any rank
#   SUPPORT   the folder is at the top of the repository, not below src/, and serves tests only
#
# A folder without files is skipped, and so is a dependency on it, until it has some.
# cmake/layers.cmake is the only caller; tools/tidy reads that table too.

include_guard(GLOBAL)
include(GoogleTest)

# What every test executable links besides the code that it tests.
add_library(berth_test_main INTERFACE)
target_link_libraries(berth_test_main INTERFACE
  berth_flags GTest::gtest_main GTest::gtest GTest::gmock rapidcheck)

# The support for tests, and the layers that its worlds run.
set(BERTH_SUPPORT_LIBRARIES)
foreach(layer testing invariants scheduling lifecycle)
  list(APPEND BERTH_SUPPORT_LIBRARIES $<TARGET_NAME_IF_EXISTS:berth_${layer}>)
endforeach()

# Stops the configuration unless the row obeys the ranks.
function(berth_check_row name rank deps)
  get_property(known GLOBAL PROPERTY BERTH_RANK_${name} SET)
  if(known)
    message(FATAL_ERROR "layer ${name} is declared twice; remove one row of cmake/layers.cmake")
  endif()
  if(NOT rank MATCHES "^[0-9]+$")
    message(FATAL_ERROR "layer ${name} has rank \"${rank}\"; a rank is a whole number")
  endif()
  set_property(GLOBAL PROPERTY BERTH_RANK_${name} ${rank})
  foreach(dep IN LISTS deps)
    get_property(dep_rank GLOBAL PROPERTY BERTH_RANK_${dep})
    if("${dep_rank}" STREQUAL "")
      message(FATAL_ERROR "layer ${name} depends on ${dep}, which no earlier row declares; "
        "rows are written from the lowest rank to the highest")
    endif()
    if(NOT dep_rank LESS rank)
      message(FATAL_ERROR "layer ${name} (rank ${rank}) may not depend on ${dep} "
        "(rank ${dep_rank}): only lower ranks may be used. A noun that both need moves to model/")
    endif()
  endforeach()
endfunction()

# Those of the named layers that have files, as targets.
function(berth_existing_targets out)
  set(found)
  foreach(name IN LISTS ARGN)
    if(TARGET berth_${name})
      list(APPEND found berth_${name})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# Unit tests of one layer: every *_test.cc of the folder in one executable.
function(berth_unit_tests name test_deps sources)
  if(NOT sources)
    return()
  endif()
  add_executable(${name}_test ${sources})
  # Tests may use layers above their own, whose rows come later: resolved when all are known.
  list(TRANSFORM test_deps REPLACE "^(.+)$" "$<TARGET_NAME_IF_EXISTS:berth_\\1>" OUTPUT_VARIABLE extra)
  # Only tests that include the support are linked with it, and with the layers that its worlds
  # run: some linkers take a member of an archive that nobody asked for. The support comes first,
  # and what it needs is then found in the layers that follow.
  set(support)
  foreach(source IN LISTS sources)
    file(STRINGS "${source}" uses REGEX "^#include \"testing/" LIMIT_COUNT 1)
    if(uses)
      set(support ${BERTH_SUPPORT_LIBRARIES})
    endif()
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${sources})
  target_link_libraries(${name}_test PRIVATE ${support} berth_${name} ${extra} berth_test_main)
  target_include_directories(${name}_test PRIVATE "${PROJECT_SOURCE_DIR}")
  gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60 TEST_PREFIX "${name}."
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" PROPERTIES TIMEOUT 300 LABELS unit)
  set_property(GLOBAL APPEND PROPERTY BERTH_UNIT_TESTS ${name}_test)
endfunction()

# An empty program with the whole archive and only its written dependencies: a call upwards,
# or to a layer that is not on the list, does not link.
function(berth_link_test name)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/empty_main.cc" CONTENT "int main() { return 0; }\n")
  add_executable(${name}_link_test EXCLUDE_FROM_ALL "${CMAKE_BINARY_DIR}/empty_main.cc")
  target_link_libraries(${name}_link_test PRIVATE
    $<LINK_LIBRARY:WHOLE_ARCHIVE,berth_${name}> berth_flags)
  if(NOT TARGET link_tests)
    add_custom_target(link_tests)
  endif()
  add_dependencies(link_tests ${name}_link_test)
endfunction()

function(berth_layer)
  cmake_parse_arguments(arg "PURE;SUPPORT" "NAME;FOLDER;RANK" "DEPS;LIBS;TEST_DEPS" ${ARGN})
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "layer ${arg_NAME}: unknown words ${arg_UNPARSED_ARGUMENTS}")
  endif()
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${arg_NAME})
  endif()
  berth_check_row("${arg_NAME}" "${arg_RANK}" "${arg_DEPS}")

  set(root "${PROJECT_SOURCE_DIR}/src")
  if(arg_SUPPORT)
    set(root "${PROJECT_SOURCE_DIR}")
  endif()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${root}/${arg_FOLDER}/*.cc")
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${root}/${arg_FOLDER}/*.h")
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  list(FILTER sources EXCLUDE REGEX "/app/main\\.cc$")
  if(NOT sources AND NOT headers)
    return()
  endif()

  berth_existing_targets(deps ${arg_DEPS})
  set(target berth_${arg_NAME})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PUBLIC)
    if(NOT arg_SUPPORT)
      berth_link_test(${arg_NAME})
    endif()
    if(arg_PURE)
      set_property(GLOBAL APPEND PROPERTY BERTH_PURE_TARGETS ${target})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(berth::${arg_NAME} ALIAS ${target})
  target_sources(${target} ${scope} FILE_SET HEADERS BASE_DIRS "${root}" FILES ${headers})
  target_link_libraries(${target} ${scope} berth_flags ${arg_LIBS})
  if(arg_SUPPORT)
    # Compiled against every layer, linked to none: each test brings the layers it is about.
    target_include_directories(${target} ${scope} "${PROJECT_SOURCE_DIR}/src")
  else()
    target_link_libraries(${target} ${scope} ${deps})
    set_property(GLOBAL APPEND PROPERTY BERTH_LAYER_TARGETS ${target})
  endif()
  berth_unit_tests(${arg_NAME} "${arg_TEST_DEPS}" "${tests}")
  if(arg_PURE AND TARGET ${arg_NAME}_test)
    set_property(GLOBAL APPEND PROPERTY BERTH_PURE_TESTS ${arg_NAME}_test)
  endif()
endfunction()
