# SPDX-License-Identifier: Apache-2.0
#
# What a program pays for being preloaded, and for annotations that nobody records.
if(TARGET gpubound_shim)
  add_executable(inject_bench ${CMAKE_CURRENT_LIST_DIR}/inject_bench.cc)
  target_link_libraries(inject_bench PRIVATE gpubound_flags gpubound::annotate)
  target_compile_options(inject_bench PRIVATE -O2)
  target_compile_definitions(inject_bench PRIVATE GPUBOUND_SHIM_PATH="$<TARGET_FILE:gpubound_shim>")
  add_dependencies(inject_bench gpubound_shim)
  gpubound_bench_test(inject_bench 20)
endif()
