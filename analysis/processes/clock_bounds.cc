// SPDX-License-Identifier: Apache-2.0
//
// Keeps collectives of each rank, as many from each part of the run, and compares them in turn. No
// state.
#include "analysis/processes/clock_bounds.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/processes/collective_cursor.h"
#include "analysis/trace/plausible_time.h"
#include "proto/ledger_counters.h"

namespace gpubound {
namespace {

// Of a name on a rank: memory for a whole run has no bound.
constexpr size_t kMostKept = 4096;
constexpr uint64_t kFewest = 16;   // fewer may agree by chance
constexpr size_t kMostRanks = 16;  // of a host
constexpr int64_t kMostContradictionNs = 100'000'000;
constexpr size_t kOfAPart = 64;       // collectives, of which a knot of a track is the median
constexpr size_t kMostParts = 64;     // of a run
constexpr double kMostDrift = 0.001;  // ten times what oscillators do; beyond it is no drift

// One of |every| collectives is kept, so that ranks with as many keep the same ones.
struct Sequence {
  uint64_t count = 0;  // in the whole run
  uint64_t every = 1;
  std::vector<Interval> kept;  // in the process's own time

  void Add(const Interval& time) {
    if (count++ % every != 0) return;
    kept.push_back(time);
    if (kept.size() < kMostKept) return;
    every *= 2;
    for (size_t i = 0; 2 * i < kept.size(); ++i) kept[i] = kept[2 * i];
    kept.resize((kept.size() + 1) / 2);
  }
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

// Losses of a process that has all its device work.
constexpr LedgerCounter kLosesNoWork[] = {
    LedgerCounter::python_without_extension, LedgerCounter::hooks_failed,
    LedgerCounter::nvtx_not_injected,        LedgerCounter::waits_unnamed,
    LedgerCounter::frames_overflowed,
};

// Whether all device work of the process is there, so that its k-th collective is that of others.
bool LacksNothing(const ProcessTrace& process) {
  for (size_t i = 0; i < process.ledger.size(); ++i) {
    if (process.ledger[i] == 0 || kLedgerCounters[i].severity != Severity::kDataLoss) continue;
    const auto counter = static_cast<LedgerCounter>(i);
    if (std::find(std::begin(kLosesNoWork), std::end(kLosesNoWork), counter) ==
        std::end(kLosesNoWork)) {
      return false;
    }
  }
  return process.unknown.empty() && process.Counted(LedgerCounter::chunks_corrupt) == 0;
}

bool IsSound(const Interval& time) {
  return IsPlausibleTime(time.begin_ns) && IsPlausibleTime(time.end_ns) &&
         time.begin_ns <= time.end_ns;
}

// 0 where they agree.
int64_t ContradictionOf(const OffsetBounds& bounds) {
  __extension__ using Wide = __int128;
  const Wide by_ns = Wide{bounds.low_ns} - bounds.high_ns;
  return by_ns > kMostContradictionNs ? static_cast<int64_t>(std::min<Wide>(by_ns, INT64_MAX)) : 0;
}

// The ranks of each host.
std::map<std::string, std::vector<Rank>> RanksOf(const Run& run) {
  std::map<std::string, std::vector<Rank>> hosts;
  for (const ProcessTrace& process : run.processes) {
    std::map<DeviceId, Rank> ranks;
    if (!LacksNothing(process)) continue;
    for (CollectiveCursor next(process, 0, nullptr); next.Peek() != nullptr; next.Pop()) {
      if (!JoinsAll(next.name()) || !IsSound(next.Time())) continue;
      ranks[next.device()][next.name()].Add(next.Time());
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

// The same collective here and there, in the own time of each.
struct Pair {
  Interval here;
  Interval there;
};

// Calls |on_pair| for the collectives that the two ranks ran together.
template <typename OnPair>
void ForEachPair(const Rank& here, const Rank& there, OnPair on_pair) {
  for (const auto& [name, own] : here) {
    const auto other = there.find(name);
    if (other == there.end() || !AreOneSequence(own, other->second)) continue;
    const std::vector<Interval>& theirs = other->second.kept;
    const size_t pairs = std::min(own.kept.size(), theirs.size());
    for (size_t k = 0; k < pairs; ++k) on_pair(Pair{own.kept[k], theirs[k]});
  }
}

template <typename OnPair>
void ForEachPair(const std::vector<Rank>& here, const std::vector<Rank>& there, OnPair on_pair) {
  for (const Rank& own : here) {
    for (const Rank& other : there) ForEachPair(own, other, on_pair);
  }
}

// At the middle of |ends|, which are sorted by time: |track| and the median of what is beside it.
OffsetTrack::Knot KnotOf(std::span<const OffsetTrack::Knot> ends, const OffsetTrack& track) {
  std::vector<int64_t> beside_ns;
  for (const OffsetTrack::Knot& end : ends) {
    beside_ns.push_back(end.offset_ns - track.At(end.time_ns));
  }
  const auto median = beside_ns.begin() + static_cast<ptrdiff_t>(beside_ns.size() / 2);
  std::nth_element(beside_ns.begin(), median, beside_ns.end());
  const int64_t time_ns = ends[ends.size() / 2].time_ns;
  return {time_ns, track.At(time_ns) + *median};
}

bool DriftsPlausibly(const std::vector<OffsetTrack::Knot>& knots) {
  for (size_t i = 1; i < knots.size(); ++i) {
    const auto time_ns = static_cast<double>(knots[i].time_ns - knots[i - 1].time_ns);
    const auto drift_ns = static_cast<double>(knots[i].offset_ns - knots[i - 1].offset_ns);
    if (time_ns <= 0 || std::abs(drift_ns) > kMostDrift * time_ns) return false;
  }
  return true;
}

// Of one rank here and one there: ends of others differ by what they do, and say the same.
std::optional<OffsetTrack> TrackOf(const std::vector<Rank>& here, const std::vector<Rank>& there) {
  std::vector<OffsetTrack::Knot> ends;
  for (const Rank& own : here) {
    for (const Rank& other : there) {
      if (!ends.empty()) break;
      ForEachPair(own, other, [&ends](const Pair& pair) {
        ends.push_back({pair.there.end_ns, pair.here.end_ns - pair.there.end_ns});
      });
    }
  }
  const size_t parts = std::min(kMostParts, ends.size() / kOfAPart);
  if (parts < 2) return std::nullopt;
  std::sort(ends.begin(), ends.end(),
            [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  if (ends.front().time_ns == ends.back().time_ns) return std::nullopt;
  OffsetTrack track{{ends.front(), ends.back()}, 0};
  // The second time it is known how the offset changes within a part.
  for (int round = 0; round < 2; ++round) {
    std::vector<OffsetTrack::Knot> knots;
    for (size_t part = 0; part < parts; ++part) {
      const size_t begin = part * ends.size() / parts;
      const size_t end = (part + 1) * ends.size() / parts;
      knots.push_back(KnotOf(std::span(ends).subspan(begin, end - begin), track));
    }
    if (!DriftsPlausibly(knots)) return std::nullopt;
    track.knots = std::move(knots);
  }
  std::vector<int64_t> errors_ns;
  for (const OffsetTrack::Knot& at : ends) {
    errors_ns.push_back(std::abs(at.offset_ns - track.At(at.time_ns)));
  }
  const auto most = errors_ns.begin() + static_cast<ptrdiff_t>(errors_ns.size() * 99 / 100);
  std::nth_element(errors_ns.begin(), most, errors_ns.end());
  track.error_ns = *most;
  return track;
}

// Narrows |bounds| by every pair; those of |beside| are what the track leaves.
void Narrow(const std::vector<Rank>& here, const std::vector<Rank>& there,
            const std::optional<OffsetTrack>& track, OffsetBounds* bounds, OffsetBounds* beside) {
  ForEachPair(here, there, [&](const Pair& pair) {
    const int64_t low_ns = pair.here.begin_ns - pair.there.end_ns;
    const int64_t high_ns = pair.here.end_ns - pair.there.begin_ns;
    bounds->low_ns = std::max(bounds->low_ns, low_ns);
    bounds->high_ns = std::min(bounds->high_ns, high_ns);
    ++bounds->collectives;
    if (!track) return;
    beside->low_ns = std::max(beside->low_ns, low_ns - track->At(pair.there.end_ns));
    beside->high_ns = std::min(beside->high_ns, high_ns - track->At(pair.there.begin_ns));
  });
}

std::optional<OffsetBounds> Compare(const std::vector<Rank>& here, const std::vector<Rank>& there) {
  OffsetBounds bounds{INT64_MIN, INT64_MAX, 0, {}};
  OffsetBounds beside = bounds;
  std::optional<OffsetTrack> track = TrackOf(here, there);
  Narrow(here, there, track, &bounds, &beside);
  if (bounds.collectives == 0) return std::nullopt;
  if (!IsPlausibleTime(bounds.low_ns) || !IsPlausibleTime(bounds.high_ns)) return std::nullopt;
  if (track && ContradictionOf(beside) == 0) {
    track->error_ns = std::max({track->error_ns, beside.low_ns, -beside.high_ns});
    bounds.track = std::move(track);
  } else {
    bounds.contradiction_ns = ContradictionOf(bounds);
  }
  return bounds;
}

}  // namespace

std::map<std::string, OffsetBounds> BoundClocks(const Run& run, const std::string& reference_host) {
  std::map<std::string, OffsetBounds> bounds;
  const std::map<std::string, std::vector<Rank>> hosts = RanksOf(run);
  const auto reference = hosts.find(reference_host);
  if (reference == hosts.end()) return bounds;
  for (const auto& [host, ranks] : hosts) {
    if (host == reference_host) continue;
    if (auto found = Compare(reference->second, ranks)) bounds.emplace(host, std::move(*found));
  }
  return bounds;
}

int64_t OffsetTrack::At(int64_t time_ns) const {
  const auto after =
      std::upper_bound(knots.begin() + 1, knots.end() - 1, time_ns,
                       [](int64_t time, const Knot& knot) { return time < knot.time_ns; });
  const Knot& to = *after;
  const Knot& from = *(after - 1);
  const double slope = static_cast<double>(to.offset_ns - from.offset_ns) /
                       static_cast<double>(to.time_ns - from.time_ns);
  return from.offset_ns + std::llround(slope * static_cast<double>(time_ns - from.time_ns));
}

}  // namespace gpubound
