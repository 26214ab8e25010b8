# SPDX-License-Identifier: Apache-2.0
#
# What a scope costs a Python program, beside an empty context manager in C: build/.../bench/python.
# Runs as: cmake --build BUILD --target python_bench
get_property(interpreters GLOBAL PROPERTY GPUBOUND_PYTHON_INTERPRETERS)
if(NOT interpreters)
  message(STATUS "python_bench is not built: no Python extension (see above)")
  return()
endif()
list(GET interpreters 0 interpreter)
execute_process(COMMAND ${interpreter} ${CMAKE_SOURCE_DIR}/annotate/python/describe_interpreter.py
  OUTPUT_VARIABLE facts OUTPUT_STRIP_TRAILING_WHITESPACE)
list(GET facts 0 include_dir)

add_library(empty_scope MODULE ${CMAKE_CURRENT_LIST_DIR}/python/empty_scope.c)
target_include_directories(empty_scope SYSTEM PRIVATE ${include_dir})
target_compile_options(empty_scope PRIVATE -O2 -fno-sanitize=all)
set_target_properties(empty_scope PROPERTIES PREFIX "" SUFFIX ".so"
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/python)
set(python_bench ${interpreter} ${CMAKE_CURRENT_LIST_DIR}/python/python_bench.py
  --command $<TARGET_FILE:gpubound> --package ${CMAKE_BINARY_DIR}/python
  --floor ${CMAKE_BINARY_DIR}/bench/python)
add_custom_target(python_bench COMMAND ${python_bench} DEPENDS empty_scope USES_TERMINAL)
add_dependencies(python_bench gpubound gpubound_shim gpubound_core gpubound_python)
if(GPUBOUND_BUILD_TESTS)
  add_test(NAME bench_python_bench COMMAND ${python_bench} --quick)
  set_tests_properties(bench_python_bench PROPERTIES LABELS "long;bench" TIMEOUT 300)
  add_test(NAME bench_stacks_bench COMMAND ${interpreter} ${CMAKE_CURRENT_LIST_DIR}/python/stacks_bench.py
    --command $<TARGET_FILE:gpubound> --package ${CMAKE_BINARY_DIR}/python --quick)
  set_tests_properties(bench_stacks_bench PROPERTIES LABELS "long;bench" TIMEOUT 300)
endif()
