# SPDX-License-Identifier: Apache-2.0
#
# page_bench: from a run directory to its report page.
add_executable(page_bench ${CMAKE_CURRENT_LIST_DIR}/page_bench.cc
  ${CMAKE_CURRENT_LIST_DIR}/analysis_run.cc)
target_link_libraries(page_bench PRIVATE gpubound_flags gpubound_tools gpubound_profiler)
gpubound_bench_test(page_bench --events 30000)
