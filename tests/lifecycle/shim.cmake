# SPDX-License-Identifier: Apache-2.0
#
# The shim with a mock core.
add_library(lifecycle_process_runner STATIC process_family.cc process_runner.cc)
target_link_libraries(lifecycle_process_runner PRIVATE gpubound_flags)

add_library(lifecycle_mock_core MODULE mock_core.cc)
target_link_libraries(lifecycle_mock_core PRIVATE gpubound_flags)
# Neither may need a sanitizer's runtime: they are loaded into plain programs.
target_compile_options(lifecycle_mock_core PRIVATE -fno-sanitize=all)
target_link_options(lifecycle_mock_core PRIVATE -fno-sanitize=all)

add_executable(shim_victim shim_victim.cc)
target_link_libraries(shim_victim PRIVATE gpubound_flags gpubound::annotate Threads::Threads)
target_compile_options(shim_victim PRIVATE -fno-sanitize=all)
target_link_options(shim_victim PRIVATE -fno-sanitize=all)

find_package(GTest REQUIRED)
gpubound_test(process_runner_test SOURCES process_runner_test.cc DEPS lifecycle_process_runner
  LABELS integration)
gpubound_test(shim_test SOURCES shim_test.cc DEPS lifecycle_process_runner LABELS integration)
add_dependencies(shim_test gpubound_shim lifecycle_mock_core shim_victim)
target_compile_definitions(shim_test PRIVATE
  GPUBOUND_TEST_SHIM="$<TARGET_FILE:gpubound_shim>"
  GPUBOUND_TEST_MOCK_CORE="$<TARGET_FILE:lifecycle_mock_core>"
  GPUBOUND_TEST_VICTIM="$<TARGET_FILE:shim_victim>")
