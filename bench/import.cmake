# SPDX-License-Identifier: Apache-2.0
#
# import_bench: bytes of a foreign JSON trace per second.
find_package(nlohmann_json REQUIRED)
add_executable(import_bench ${CMAKE_CURRENT_LIST_DIR}/import_bench.cc)
target_link_libraries(import_bench PRIVATE gpubound_flags gpubound_analysis benchmark::benchmark
  nlohmann_json::nlohmann_json)
gpubound_bench_test(import_bench --benchmark_min_time=0.01)
