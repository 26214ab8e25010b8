# SPDX-License-Identifier: Apache-2.0
#
# Flags that every target of ours is built with, and the helpers that declare libraries and tests.
include_guard(GLOBAL)
find_package(Threads REQUIRED)

# For the compilers and the build types that the tests use: another compiler, or -O3, warns of other things.
option(GPUBOUND_WERROR "Warnings are errors" OFF)

add_library(gpubound_flags INTERFACE)
target_include_directories(gpubound_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(gpubound_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  $<$<BOOL:${GPUBOUND_WERROR}>:-Werror>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>)
target_compile_definitions(gpubound_flags INTERFACE GPUBOUND_VERSION="${PROJECT_VERSION}")

# Environment of tests whose programs are built with a sanitizer: one that gets libgpubound.so by
# LD_PRELOAD does not have the sanitizer's runtime first in its list of libraries, which is in order;
# and what only repeats is repeated less.
set(GPUBOUND_SANITIZER_ENVIRONMENT "")
set(repeat_less
  "GPUBOUND_ORACLE_PERCENT=3;GPUBOUND_TEST_KERNELS=50000;GPUBOUND_CORRECTION_WORKLOADS=7")

if(GPUBOUND_SANITIZE STREQUAL "address")
  set(GPUBOUND_SANITIZER_ENVIRONMENT "ASAN_OPTIONS=verify_asan_link_order=0;${repeat_less}")
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
elseif(GPUBOUND_SANITIZE STREQUAL "thread")
  # Children of programs with threads start threads here, which the sanitizer refuses otherwise.
  set(GPUBOUND_SANITIZER_ENVIRONMENT "TSAN_OPTIONS=die_after_fork=0;${repeat_less}")
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
elseif(GPUBOUND_SANITIZE STREQUAL "fuzzer")
  # Of clang: what libFuzzer sees of which way an input went (tests/fuzz).
  add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
  add_link_options(-fsanitize=address,undefined)
elseif(GPUBOUND_SANITIZE)
  message(FATAL_ERROR
    "GPUBOUND_SANITIZE is '${GPUBOUND_SANITIZE}', expected 'address', 'thread' or 'fuzzer'")
endif()
if(GPUBOUND_SANITIZE)
  # Debug builds have no -O, and their tests take three times as long; a third of the time to compile
  # would be for a debugger's variables.
  add_compile_options(-O1 -g1)
endif()

# Half of the time to compile a file goes to headers that its neighbours read as well. So the files of one
# folder of the reading half are compiled together, for which no two of them may define one name. Off,
# one file that was changed is compiled sooner.
option(GPUBOUND_UNITY_BUILD "Compile files of one folder together: about half of the time" ON)

# gpubound_library(NAME [BY_FOLDER] SOURCES ... DEPS ...): a static library of one room. BY_FOLDER: one
# that the option above is for.
function(gpubound_library name)
  cmake_parse_arguments(ARG "BY_FOLDER" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC gpubound_flags ${ARG_DEPS})
  if(NOT ARG_BY_FOLDER OR NOT GPUBOUND_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  set(most_together 8)  # so that some processors have enough to do
  foreach(source IN LISTS ARG_SOURCES)
    if(NOT source MATCHES "\\.cc$")
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    string(MAKE_C_IDENTIFIER "of_${folder}" folder)
    list(APPEND ${folder} ${source})
    list(LENGTH ${folder} number)
    math(EXPR group "(${number} - 1) / ${most_together}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${group})
  endforeach()
endfunction()

# gpubound_install(COMPONENT DESTINATION TARGET ...): a build of some targets installs these, and says of
# each of the others that it is left out.
function(gpubound_install component destination)
  foreach(target IN LISTS ARGN)
    install(TARGETS ${target} RUNTIME DESTINATION ${destination} COMPONENT ${component} OPTIONAL
      LIBRARY DESTINATION ${destination} COMPONENT ${component} OPTIONAL NAMELINK_SKIP)
    install(CODE "if(NOT EXISTS \"$<TARGET_FILE:${target}>\")
        message(WARNING \"$<TARGET_FILE_NAME:${target}> is not installed: it was not built. To build it: \"
          \"cmake --build ${CMAKE_BINARY_DIR} --target ${target}\")
      endif()" COMPONENT ${component})
  endforeach()
endfunction()

# gpubound_test(NAME SOURCES ... DEPS ... LABELS ... TIMEOUT n): one GoogleTest program, one ctest
# entry. Labels: unit (default), integration, fuzz, long, gpu, frameworks, hygiene, mount. Tests of
# other kinds also have browser and clean_root.
function(gpubound_test name)
  if(NOT GPUBOUND_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "TIMEOUT" "SOURCES;DEPS;LABELS;ENVIRONMENT" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  if(GPUBOUND_SANITIZE)
    math(EXPR ARG_TIMEOUT "${ARG_TIMEOUT} * 5")
  endif()
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE gpubound_flags ${ARG_DEPS} GTest::gtest GTest::gmock
    GTest::gtest_main Threads::Threads)
  # Compiled once and run once: a seventh of the time that compiling a test takes. What they test is
  # built as it is shipped.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1>)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT}
    ENVIRONMENT "${ARG_ENVIRONMENT};${GPUBOUND_SANITIZER_ENVIRONMENT}")
endfunction()
