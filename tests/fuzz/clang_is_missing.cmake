# SPDX-License-Identifier: Apache-2.0
message(FATAL_ERROR
  "chunk_decoder_fuzz was not built: libFuzzer needs clang. Install it (Debian: apt install clang-16 "
  "libclang-rt-16-dev) and configure again.")
