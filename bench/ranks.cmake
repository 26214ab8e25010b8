# SPDX-License-Identifier: Apache-2.0
#
# ranks_bench: collectives of many ranks, matched and split into waiting and moving.
add_executable(ranks_bench ${CMAKE_CURRENT_LIST_DIR}/ranks_bench.cc)
target_link_libraries(ranks_bench PRIVATE gpubound_flags gpubound_analysis Threads::Threads)
