// SPDX-License-Identifier: Apache-2.0
//
// Small random traces that hit every rule and every tie often: few names, few threads, a span of
// some dozens of ns, so that most events share their instant with another.
#ifndef GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_
#define GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/run.h"

namespace gpubound::oracle {

struct TraceKind {
  bool crowd = false;       // some hundreds of ns, in which threads come and go
  bool many_parts = false;  // more iterations, and mostly more gaps, than a report lists
  bool bare = false;        // opens no operation, nor what serves as one
  bool hands_over = false;  // threads take up operations of each other
  // Domain and text of wait scopes that say for whom.
  std::vector<std::pair<std::string, std::string>> waits;
};

// The same seed gives the same trace. Where only a seed is given, some are of many parts.
inline constexpr uint64_t kTracesPerManyParts = 20;
constexpr bool HasManyParts(uint64_t seed) { return seed % kTracesPerManyParts == 0; }
ProcessTrace MakeRandomTrace(uint64_t seed);
ProcessTrace MakeRandomTrace(uint64_t seed, const TraceKind& kind);

// The same of some hundreds of ns, in which far more threads come and go than live at once.
ProcessTrace MakeRandomCrowd(uint64_t seed);

// Two to five such processes of one host, which share its two devices: GPU-1 and GPU-2.
gpubound::Run MakeRandomRun(uint64_t seed);

// Multiplies every time of |trace|: what takes some dozens of ns may as well take minutes.
void Stretch(ProcessTrace* trace, int64_t factor);

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_RANDOM_TRACE_H_
