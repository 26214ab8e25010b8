# SPDX-License-Identifier: Apache-2.0
#
# What the library costs in front of functions that may block, where they do not.
if(TARGET gpubound_shim)
  find_package(Threads REQUIRED)
  add_executable(waits_bench ${CMAKE_CURRENT_LIST_DIR}/waits_bench.cc)
  target_link_libraries(waits_bench PRIVATE gpubound_flags gpubound::annotate Threads::Threads)
  target_compile_options(waits_bench PRIVATE -O2)
  target_compile_definitions(waits_bench PRIVATE GPUBOUND_SHIM_PATH="$<TARGET_FILE:gpubound_shim>")
  add_dependencies(waits_bench gpubound_shim)
  gpubound_bench_test(waits_bench 1)
endif()
