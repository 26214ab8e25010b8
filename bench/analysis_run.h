// SPDX-License-Identifier: Apache-2.0
//
// Writes the run directory that analysis_bench reads: a training loop of any length, as the
// collector would have stored it. One third scopes, one third CUDA API calls, one third kernels;
// four threads, or any number of short ones, and two streams to a process. Memory does not grow
// with the length.
#ifndef GPUBOUND_BENCH_ANALYSIS_RUN_H_
#define GPUBOUND_BENCH_ANALYSIS_RUN_H_

#include <cstdint>
#include <string>

namespace gpubound {

// |events| are spread over |processes|; the directory exists. Ends the program on any error.
void WriteBenchRun(const std::string& directory, uint64_t events, uint32_t processes);

// The same of one process in which a new thread begins for every kEventsOfShortThread events, when
// the one before has ended.
inline constexpr uint64_t kEventsOfShortThread = 9;
void WriteShortThreads(const std::string& directory, uint64_t events);

}  // namespace gpubound

#endif  // GPUBOUND_BENCH_ANALYSIS_RUN_H_
