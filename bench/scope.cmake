# SPDX-License-Identifier: Apache-2.0
#
# What one annotated scope costs, against the floor of two clock reads and one store.
add_executable(scope_bench ${CMAKE_CURRENT_LIST_DIR}/scope_bench.cc)
target_link_libraries(scope_bench PRIVATE gpubound_flags gpubound::annotate Threads::Threads ${CMAKE_DL_LIBS}
  ${SQLITE3_STATIC_LIBRARY} m)
target_compile_definitions(scope_bench PRIVATE
  GPUBOUND_CORE_PATH="$<TARGET_FILE:gpubound_core>"
  GPUBOUND_SHIM_PATH="$<TARGET_FILE:gpubound_shim>")
add_dependencies(scope_bench gpubound_core gpubound_shim)
gpubound_bench_test(scope_bench 200000 2)
