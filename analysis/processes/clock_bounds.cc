// SPDX-License-Identifier: Apache-2.0
//
// Keeps the first collectives of each rank and compares them in turn. No state.
#include "analysis/processes/clock_bounds.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/collective_cursor.h"
#include "analysis/trace/plausible_time.h"
#include "proto/ledger_counters.h"

namespace gpubound {
namespace {

// Of a name on a rank: memory for a whole run has no bound, and clocks drift.
constexpr size_t kMostKept = 4096;
constexpr uint64_t kFewest = 16;   // fewer may agree by chance
constexpr size_t kMostRanks = 16;  // of a host
constexpr int64_t kMostContradictionNs = 100'000'000;

struct Sequence {
  uint64_t count = 0;           // in the whole run
  std::vector<Interval> first;  // in the process's own time
};
using Rank = std::map<std::string, Sequence>;  // by name of the kernel

// Whether every member of a collective of this name leaves after all have entered. The root of a
// broadcast does not, nor who sends to one peer or writes into its memory.
bool JoinsAll(const std::string& name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  constexpr std::string_view kJoining[] = {"allreduce", "allgather", "reducescatter", "alltoall",
                                           "barrier"};
  return std::any_of(std::begin(kJoining), std::end(kJoining), [&](std::string_view part) {
    return letters.find(part) != std::string::npos;
  });
}

// Whether all device work of the process is there, so that its k-th collective is that of others.
bool LacksNothing(const ProcessTrace& process) {
  for (size_t i = 0; i < process.ledger.size(); ++i) {
    const bool is_loss = kLedgerCounters[i].severity == Severity::kDataLoss &&
                         i != static_cast<size_t>(LedgerCounter::python_without_extension);
    if (is_loss && process.ledger[i] != 0) return false;
  }
  return process.unknown.empty() && process.Counted(LedgerCounter::chunks_corrupt) == 0;
}

bool IsSound(const Interval& time) {
  return IsPlausibleTime(time.begin_ns) && IsPlausibleTime(time.end_ns) &&
         time.begin_ns <= time.end_ns;
}

bool Contradict(const OffsetBounds& bounds) {
  __extension__ using Wide = __int128;
  return Wide{bounds.low_ns} - bounds.high_ns > kMostContradictionNs;
}

// The ranks of each host.
std::map<std::string, std::vector<Rank>> RanksOf(const Run& run) {
  std::map<std::string, std::vector<Rank>> hosts;
  for (const ProcessTrace& process : run.processes) {
    std::map<DeviceId, Rank> ranks;
    if (!LacksNothing(process)) continue;
    for (CollectiveCursor next(process, 0); next.Peek() != nullptr; next.Pop()) {
      if (!JoinsAll(next.name()) || !IsSound(next.Time())) continue;
      Sequence& sequence = ranks[next.device()][next.name()];
      ++sequence.count;
      if (sequence.first.size() < kMostKept) sequence.first.push_back(next.Time());
    }
    std::vector<Rank>& of_host = hosts[process.identity.host];
    for (auto& [device, rank] : ranks) {
      if (of_host.size() < kMostRanks) of_host.push_back(std::move(rank));
    }
  }
  return hosts;
}

// Another number, and nobody knows which of them the other rank lacks.
bool AreOneSequence(const Sequence& here, const Sequence& there) {
  return here.count >= kFewest && here.count == there.count;
}

// Narrows |bounds| by every pair of the two ranks.
void Compare(const Rank& here, const Rank& there, std::optional<OffsetBounds>* bounds) {
  for (const auto& [name, own] : here) {
    const auto other = there.find(name);
    if (other == there.end() || !AreOneSequence(own, other->second)) continue;
    const std::vector<Interval>& theirs = other->second.first;
    const size_t pairs = std::min(own.first.size(), theirs.size());
    if (!*bounds) *bounds = OffsetBounds{INT64_MIN, INT64_MAX, 0};
    for (size_t k = 0; k < pairs; ++k) {
      const Interval& a = own.first[k];
      const Interval& b = theirs[k];
      (*bounds)->low_ns = std::max((*bounds)->low_ns, a.begin_ns - b.end_ns);
      (*bounds)->high_ns = std::min((*bounds)->high_ns, a.end_ns - b.begin_ns);
    }
    (*bounds)->collectives += pairs;
  }
}

}  // namespace

std::map<std::string, OffsetBounds> BoundClocks(const Run& run, const std::string& reference_host) {
  std::map<std::string, OffsetBounds> bounds;
  const std::map<std::string, std::vector<Rank>> hosts = RanksOf(run);
  const auto reference = hosts.find(reference_host);
  if (reference == hosts.end()) return bounds;
  for (const auto& [host, ranks] : hosts) {
    if (host == reference_host) continue;
    std::optional<OffsetBounds> found;
    for (const Rank& here : reference->second) {
      for (const Rank& there : ranks) Compare(here, there, &found);
    }
    if (found && !Contradict(*found)) bounds[host] = *found;
  }
  return bounds;
}

}  // namespace gpubound
