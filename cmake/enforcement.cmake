# The checks that keep the table of layers true, and the tests of those checks: each plants a
# violation and expects it to be caught. All are part of every ctest run.

set(checks "${PROJECT_SOURCE_DIR}/tests/enforcement")

function(berth_check name)
  add_test(NAME enforcement.${name} COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(enforcement.${name} PROPERTIES LABELS enforcement TIMEOUT 1500)
endfunction()

# Declared ranks: berth_layer() has already checked the real table when this line is reached.
berth_check(ranks_are_enforced "${Python3_EXECUTABLE}" -B "${checks}/ranks_test.py"
  "${CMAKE_COMMAND}" "${PROJECT_SOURCE_DIR}")

# Each library links with its written dependencies alone, and each header compiles alone. Both
# are builds in this folder, so they take turns and are given the whole machine.
if(TARGET link_tests)
  berth_check(libraries_link_alone "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}"
    --target link_tests -- -k 0)
endif()
if(NOT CMAKE_GENERATOR MATCHES "Ninja")
  message(FATAL_ERROR "Berth builds with Ninja; configure with a preset: cmake --preset dev")
endif()
get_property(berth_has_layers GLOBAL PROPERTY BERTH_LAYER_TARGETS)
if(berth_has_layers)
  berth_check(headers_stand_alone "${CMAKE_COMMAND}" --build "${CMAKE_BINARY_DIR}"
    --target all_verify_interface_header_sets -- -k 0)
endif()
foreach(check libraries_link_alone headers_stand_alone)
  if(TEST enforcement.${check})
    set_tests_properties(enforcement.${check} PROPERTIES RESOURCE_LOCK build PROCESSORS 2)
  endif()
endforeach()
berth_check(link_and_header_checks_catch "${Python3_EXECUTABLE}" -B "${checks}/build_test.py"
  "${CMAKE_COMMAND}" "${PROJECT_SOURCE_DIR}" "${CMAKE_CXX_COMPILER}")

# The rules of the sources.
berth_check(sources_are_tidy "${Python3_EXECUTABLE}" -B "${PROJECT_SOURCE_DIR}/tools/tidy")
berth_check(tidy_catches "${Python3_EXECUTABLE}" -B "${checks}/tidy_test.py"
  "${PROJECT_SOURCE_DIR}/tools/tidy")

# Pure archives need no clock, file, socket, thread or environment. Sanitizers add such needs of
# their own to every object, so the check is for plain builds.
get_property(berth_pure GLOBAL PROPERTY BERTH_PURE_TARGETS)
if(berth_pure AND NOT BERTH_SANITIZE)
  list(TRANSFORM berth_pure REPLACE "(.+)" "$<TARGET_FILE:\\1>")
  berth_check(pure_layers_are_pure "${Python3_EXECUTABLE}" -B
    "${PROJECT_SOURCE_DIR}/tools/purity" --nm "${CMAKE_NM}" ${berth_pure})
endif()
berth_check(purity_catches "${Python3_EXECUTABLE}" -B "${checks}/purity_test.py"
  "${PROJECT_SOURCE_DIR}/tools/purity" "${CMAKE_CXX_COMPILER}" "${CMAKE_NM}")

# The same scenario gives the same plans in every process.
if(TARGET integration_test)
  berth_check(scenarios_are_deterministic "${Python3_EXECUTABLE}" -B "${checks}/determinism"
    $<TARGET_FILE:integration_test> "${PROJECT_SOURCE_DIR}/tests/scenarios")
endif()
berth_check(determinism_catches "${Python3_EXECUTABLE}" -B "${checks}/determinism_test.py"
  "${checks}/determinism")

# The planted bugs follow the sources: one that no longer finds its place tests nothing.
berth_check(mutations_find_their_place "${Python3_EXECUTABLE}" -B
  "${PROJECT_SOURCE_DIR}/tools/mutations" --check)
berth_check(mutations_check_catches "${Python3_EXECUTABLE}" -B "${checks}/mutations_test.py"
  "${PROJECT_SOURCE_DIR}/tools/mutations")
