# SPDX-License-Identifier: Apache-2.0
#
# analysis_bench: from a run directory to its report, beside sorting and sweeping arrays in memory.
add_executable(analysis_bench ${CMAKE_CURRENT_LIST_DIR}/analysis_bench.cc
  ${CMAKE_CURRENT_LIST_DIR}/analysis_run.cc)
target_link_libraries(analysis_bench PRIVATE gpubound_flags gpubound_analysis gpubound_profiler
  Threads::Threads)
gpubound_bench_test(analysis_bench --events 30000 --repeat 1)
