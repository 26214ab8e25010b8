# SPDX-License-Identifier: Apache-2.0
#
# codec_bench: what one event costs to encode and store, how large it is, and how fast it comes back,
# beside plain SQLite rows in the same run.
find_path(SQLITE3_INCLUDE_DIR sqlite3.h REQUIRED)
find_library(SQLITE3_STATIC_LIBRARY libsqlite3.a REQUIRED)

add_executable(codec_bench ${CMAKE_CURRENT_LIST_DIR}/codec_bench.cc
  ${CMAKE_CURRENT_LIST_DIR}/codec_stream.cc)
target_include_directories(codec_bench SYSTEM PRIVATE ${SQLITE3_INCLUDE_DIR})
target_link_libraries(codec_bench PRIVATE gpubound_flags gpubound_profiler)
gpubound_bench_test(codec_bench --events 30000 --repeat 1)
