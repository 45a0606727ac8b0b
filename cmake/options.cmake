# Build options and the flags that every target of ours shares.

option(BERTH_WERROR "Treat compiler warnings as errors" ON)
option(BERTH_HARDEN "Add hardening flags; needs an optimising build" OFF)
option(BERTH_FUZZ "Build the libFuzzer targets (clang only)" OFF)
option(BERTH_BENCH "Build the benchmarks" ON)
set(BERTH_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize=")

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# Assertions stay on in every build, so NDEBUG is never defined.
set(CMAKE_CXX_FLAGS_RELEASE "-O2")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")

include(CheckPIESupported)
check_pie_supported()

# Flags live on this interface target, which every target of ours links.
add_library(berth_flags INTERFACE)
target_compile_options(berth_flags INTERFACE
  -Wall -Wextra -Wnon-virtual-dtor -Woverloaded-virtual -Wvla
  # Aggregates are set by designated initialisers; what is left out has its default.
  -Wno-missing-field-initializers)
target_compile_definitions(berth_flags INTERFACE _GLIBCXX_ASSERTIONS)
if(BERTH_WERROR)
  target_compile_options(berth_flags INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these falsely inside libstdc++ once it inlines; they must not stop a build.
  target_compile_options(berth_flags INTERFACE -Wno-restrict -Wno-error=maybe-uninitialized
    -Wno-error=array-bounds -Wno-error=stringop-overflow -Wno-error=stringop-overread
    -Wno-error=dangling-pointer -Wno-error=free-nonheap-object -Wno-error=use-after-free)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Clang 19 does not count a member function that a generic lambda calls by its name alone, and
  # finds what libstdc++ 12 itself calls for a stable sort deprecated.
  target_compile_options(berth_flags INTERFACE -Wno-unused-lambda-capture
    -Wno-error=deprecated-declarations)
endif()

# Paths in messages and debug information start at the repository, wherever it is cloned and
# whether or not ccache has made them relative to the build folder.
file(RELATIVE_PATH berth_source_from_build "${CMAKE_BINARY_DIR}" "${PROJECT_SOURCE_DIR}/")
target_compile_options(berth_flags INTERFACE
  "-ffile-prefix-map=${PROJECT_SOURCE_DIR}/=" "-ffile-prefix-map=${berth_source_from_build}=")

if(BERTH_HARDEN)
  target_compile_options(berth_flags INTERFACE
    -fstack-protector-strong -fstack-clash-protection -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
  target_link_options(berth_flags INTERFACE -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)
endif()
if(BERTH_SANITIZE)
  target_compile_options(berth_flags INTERFACE
    "-fsanitize=${BERTH_SANITIZE}" -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(berth_flags INTERFACE "-fsanitize=${BERTH_SANITIZE}")
  if(BERTH_SANITIZE STREQUAL "thread")
    # ThreadSanitizer does not understand fences, and GCC says so as an error. What Asio hands from
    # thread to thread goes through its mutexes; its fences serve handlers that share without any.
    target_compile_definitions(berth_flags INTERFACE BOOST_ASIO_DISABLE_FENCED_BLOCK)
  endif()
endif()

# A fast linker where there is one; the default one otherwise.
find_program(BERTH_MOLD mold)
find_program(BERTH_LD_MOLD ld.mold)
mark_as_advanced(BERTH_MOLD BERTH_LD_MOLD)
if(BERTH_MOLD AND BERTH_LD_MOLD AND NOT BERTH_SANITIZE)
  target_link_options(berth_flags INTERFACE -fuse-ld=mold)
endif()

# ccache is used where it is installed. Base folder and working folder are taken out of its
# hash, so that another clone, or another build folder of the same depth, shares the results.
find_program(BERTH_CCACHE ccache)
mark_as_advanced(BERTH_CCACHE)
if(BERTH_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND}" -E env
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1 "${BERTH_CCACHE}")
  set(CMAKE_C_COMPILER_LAUNCHER "${CMAKE_CXX_COMPILER_LAUNCHER}")
endif()
