// SPDX-License-Identifier: Apache-2.0
//
// Layout of the file `<host>.<pid>.<start>.later`: when the iterations of a process ended that came
// behind the end of its recording (`--steps`, `--duration`). They ran without the profiler, so they
// tell what it costs in this very program.
//
//   +-------------------+ 0
//   | LaterHeader       |
//   +-------------------+ 16
//   | LaterIteration[]  |  kLaterCapacity; those before the first one without a time are there
//   +-------------------+
//
// One thread writes, the one that was the first to end an iteration; the file is complete at every
// instant. All integers are little endian.
#ifndef GPUBOUND_PROTO_LATER_FORMAT_H_
#define GPUBOUND_PROTO_LATER_FORMAT_H_

#include <cstddef>
#include <cstdint>

namespace gpubound {

inline constexpr uint64_t kLaterMagic = 0x32524554414C5047;  // "GPLATER2" as little-endian bytes
inline constexpr uint32_t kLaterCapacity = 8192;

struct LaterHeader {
  uint64_t magic;  // stored last, when the rest is valid
  uint64_t ended;  // iterations so far; those beyond kLaterCapacity are not there
};
static_assert(sizeof(LaterHeader) == 16);

struct LaterIteration {
  uint64_t number;  // as the program counts
  int64_t end_ns;   // CLOCK_MONOTONIC; stored last; 0: none
};
static_assert(sizeof(LaterIteration) == 16);

inline constexpr size_t kLaterFileBytes =
    sizeof(LaterHeader) + size_t{kLaterCapacity} * sizeof(LaterIteration);

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_LATER_FORMAT_H_
