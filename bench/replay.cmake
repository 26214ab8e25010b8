# SPDX-License-Identifier: Apache-2.0
#
# replay_bench: a recorded run replayed, beside the engine's own pass over the same run.
add_executable(replay_bench ${CMAKE_CURRENT_LIST_DIR}/replay_bench.cc
  ${CMAKE_CURRENT_LIST_DIR}/analysis_run.cc)
target_link_libraries(replay_bench PRIVATE gpubound_flags gpubound_analysis gpubound_profiler
  Threads::Threads)
gpubound_bench_test(replay_bench --events 30000 --repeat 1)
