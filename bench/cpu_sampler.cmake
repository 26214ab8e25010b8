# SPDX-License-Identifier: Apache-2.0
#
# What looking where the threads are costs.
add_executable(cpu_sampler_bench ${CMAKE_CURRENT_LIST_DIR}/cpu_sampler_bench.cc)
target_link_libraries(cpu_sampler_bench PRIVATE gpubound_flags gpubound_profiler)
target_compile_options(cpu_sampler_bench PRIVATE -O2)
gpubound_bench_test(cpu_sampler_bench 1)
