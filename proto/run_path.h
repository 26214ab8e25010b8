// SPDX-License-Identifier: Apache-2.0
//
// How long paths of runs and of their files may be, in bytes, absolute, and what the mode of a run's
// directory says.
#ifndef GPUBOUND_PROTO_RUN_PATH_H_
#define GPUBOUND_PROTO_RUN_PATH_H_

#include <cstddef>

namespace gpubound {

// SQLite opens no database behind a longer path: "-journal" must still fit into its MAX_PATHNAME,
// of 512.
inline constexpr size_t kLongestDatabasePath = 504;

// "/HOST.PID.START.SEGMENT.db" takes 110 bytes at the most: 64 of a host name, 10, 19 and 10 of the
// numbers.
inline constexpr size_t kLongestRunPath = 390;

inline constexpr unsigned kRunMode = 0700;
// That a process could not be recorded, and had no room or descriptor for a file that says so: a
// mode takes neither. Also in libprofiler/shim/not_recorded.c and annotate's detail/unrecorded.h.
inline constexpr unsigned kUnrecordedMode = 01700;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_RUN_PATH_H_
