// SPDX-License-Identifier: Apache-2.0
//
// Merges the collective kernels of all processes twice: to learn which streams work together, then
// to book each match. Asks the late ranks.
#include "analysis/attribution/communication.h"

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/late_rank.h"
#include "analysis/processes/collective_cursor.h"
#include "analysis/processes/collective_match.h"
#include "analysis/processes/communicators.h"
#include "analysis/trace/event_source.h"
#include "analysis/trace/memory_source.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

struct Rank {
  size_t process = 0;
  DeviceId device{};
  ReportRank report;
  int64_t merge_doubt_ns = 0;  // waiting in what may be several collectives
  int64_t clock_doubt_ns = 0;  // by which clocks may make its waiting longer or shorter
  int64_t late_doubt_ns = 0;   // likewise, that for it
};

// A doubt that does not matter moves no digit of a share.
bool Matters(int64_t doubt_ns, int64_t of_ns) { return doubt_ns > of_ns / 100; }

// By how much times of one host may be off against those of another.
class ClockErrors {
 public:
  ClockErrors(const Run& run, const ClockAlignment& clocks) {
    std::map<std::string, size_t> hosts;
    for (const ProcessTrace& process : run.processes) {
      const auto [host, is_new] = hosts.try_emplace(process.identity.host, errors_ns_.size());
      if (is_new) errors_ns_.push_back(Of(host->first, clocks));
      host_of_.push_back(host->second);
    }
  }

  // Of times of these processes, at most; 0 where they share a host.
  int64_t Among(const std::vector<size_t>& processes) const {
    size_t most = host_of_[processes.front()];
    int64_t most_ns = errors_ns_[most];
    int64_t second_ns = 0;  // of another host
    bool several = false;
    for (const size_t process : processes) {
      const size_t host = host_of_[process];
      if (host == most) continue;
      several = true;
      const int64_t error_ns = errors_ns_[host];
      second_ns = std::max(second_ns, std::min(error_ns, most_ns));
      if (error_ns > most_ns) {
        most_ns = error_ns;
        most = host;
      }
    }
    return several ? most_ns + second_ns : 0;
  }

 private:
  static constexpr int64_t kNotKnown = INT64_MAX / 4;

  static int64_t Of(const std::string& host, const ClockAlignment& clocks) {
    for (const BoundedHost& bounded : clocks.bounded_hosts) {
      if (bounded.host != host) continue;
      return std::min(bounded.drift_ppm ? bounded.track_error_ns : bounded.error_ns, kNotKnown);
    }
    const bool unbounded = std::find(clocks.unbounded_hosts.begin(), clocks.unbounded_hosts.end(),
                                     host) != clocks.unbounded_hosts.end();
    return unbounded ? kNotKnown : 0;
  }

  std::vector<size_t> host_of_;     // by process
  std::vector<int64_t> errors_ns_;  // by host, against the reference
};

// Whether |time|, which may have no length, is in |window| at least in part.
bool LiesIn(const Interval& window, const Interval& time) {
  if (!time.empty()) return !time.ClippedTo(window).empty();
  return window.begin_ns <= time.begin_ns && time.begin_ns < window.end_ns;
}

class Ranks {
 public:
  Ranks(const Run& run, const ClockAlignment& clocks)
      : run_(run), clocks_(clocks), errors_(run, clocks) {}

  size_t Find(size_t process, DeviceId device) {
    const auto [found, is_new] = index_.try_emplace({process, device}, ranks_.size());
    if (is_new) {
      const ProcessTrace& trace = run_.processes[process];
      Rank rank;
      rank.process = process;
      rank.device = device;
      if (trace.job) rank.report.rank = trace.job->rank;
      rank.report.lacks_ranks = run_.ledger[static_cast<size_t>(LedgerCounter::ranks_missing)] != 0;
      rank.report.host = trace.identity.host;
      rank.report.pid = trace.identity.pid;
      rank.report.uuid = trace.DeviceOf(device).uuid;
      rank.report.ordinal = trace.DeviceOf(device).info.index;
      ranks_.push_back(std::move(rank));
    }
    return found->second;
  }

  void Book(const Collective& collective, const Interval& window) {
    const CollectiveMember& last = collective.back();
    const bool matched = collective.size() > 1;
    const bool merged = MayBeSeveral(collective);
    processes_.clear();
    for (const CollectiveMember& member : collective) {
      processes_.push_back(ranks_[member.rank].process);
    }
    const int64_t error_ns = errors_.Among(processes_);
    int64_t first_ns = last.time.begin_ns;
    for (const CollectiveMember& member : collective) {
      if (&member != &last) first_ns = std::min(first_ns, member.time.begin_ns);
    }
    const Interval late = Interval{first_ns, last.time.begin_ns}.ClippedTo(window);
    for (const CollectiveMember& member : collective) {
      const bool held_up_others = &member == &last && !late.empty();
      if (!LiesIn(window, member.time) && !held_up_others) continue;
      Rank& rank = ranks_[member.rank];
      ReportRank& report = rank.report;
      const Interval inside = member.time.ClippedTo(window);
      const int64_t sum_ns = inside.length();
      const int64_t wait_ns = inside.ClippedTo({member.time.begin_ns, last.time.begin_ns}).length();
      ++report.collectives;
      report.comm_sum_ns += sum_ns;
      (matched ? report.peer_wait_ns : report.unmatched_ns) += matched ? wait_ns : sum_ns;
      report.moving_ns += matched ? sum_ns - wait_ns : 0;
      rank.clock_doubt_ns += std::min(error_ns, sum_ns);
      if (merged) rank.merge_doubt_ns += wait_ns;
      if (&member == &last) continue;
      ranks_[last.rank].report.waited_for_ns += wait_ns;
      ranks_[last.rank].late_doubt_ns += std::min(error_ns, wait_ns);
    }
    if (late.empty()) return;
    ++ranks_[last.rank].report.late;
    late_[last.rank].push_back(late);
  }

  SplitRanks Finish() {
    SplitRanks split;
    for (const auto& [key, rank] : index_) {
      if (ranks_[rank].report.collectives == 0) continue;
      MarkDoubts(&ranks_[rank]);
      LateRank late{key.first, Raw(key.second), std::move(late_[rank]), {}};
      for (Interval& time : late.times) {
        time = {OwnTime(key.first, time.begin_ns), OwnTime(key.first, time.end_ns)};
      }
      split.late.push_back(std::move(late));
      split.ranks.push_back(std::move(ranks_[rank].report));
    }
    return split;
  }

 private:
  // |time_ns| of the reference host on the clock of a process's own.
  int64_t OwnTime(size_t process, int64_t time_ns) const {
    const int64_t about_ns = time_ns - clocks_.offset_ns[process];
    const OffsetTrack* const track = clocks_.TrackOf(run_.processes[process]);
    return track == nullptr ? about_ns : time_ns - track->At(about_ns);
  }

  static void MarkDoubts(Rank* rank) {
    ReportRank& report = rank->report;
    const int64_t wait_ns = report.peer_wait_ns;
    report.peer_wait_is_lower_bound = report.lacks_ranks || Matters(rank->clock_doubt_ns, wait_ns);
    report.peer_wait_is_upper_bound = Matters(rank->clock_doubt_ns + rank->merge_doubt_ns, wait_ns);
    report.late_is_doubtful =
        report.waited_for_ns > 0 && rank->late_doubt_ns >= report.waited_for_ns / 2;
  }

  const Run& run_;
  const ClockAlignment& clocks_;
  const ClockErrors errors_;
  std::map<std::pair<size_t, DeviceId>, size_t> index_;
  std::vector<Rank> ranks_;
  std::map<size_t, std::vector<Interval>> late_;  // by rank
  std::vector<size_t> processes_;                 // of a collective that is booked
};

// The first so many collective kernels of a run say which streams work together.
constexpr uint64_t kMostLearnt = 1 << 16;

// Calls |on_kernel|(process, cursor) for the collective kernels of all processes, in order of
// begin, as long as it returns true.
template <typename OnKernel>
void ForEachCollectiveKernel(const Run& run, const ClockAlignment& clocks, OnKernel on_kernel) {
  std::vector<std::unique_ptr<CollectiveCursor>> cursors;
  std::vector<std::pair<int64_t, size_t>> queue;  // min-heap of (next begin, process)
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const ProcessTrace& process = run.processes[p];
    cursors.push_back(
        std::make_unique<CollectiveCursor>(process, clocks.offset_ns[p], clocks.TrackOf(process)));
    if (cursors[p]->Peek() != nullptr) queue.emplace_back(cursors[p]->begin_ns(), p);
  }
  std::make_heap(queue.begin(), queue.end(), std::greater<>());
  while (!queue.empty()) {
    std::pop_heap(queue.begin(), queue.end(), std::greater<>());
    const size_t process = queue.back().second;
    queue.pop_back();
    CollectiveCursor& cursor = *cursors[process];
    if (!on_kernel(process, cursor)) return;
    cursor.Pop();
    if (cursor.Peek() == nullptr) continue;
    queue.emplace_back(cursor.begin_ns(), process);
    std::push_heap(queue.begin(), queue.end(), std::greater<>());
  }
}

// A stream of a process.
class Streams {
 public:
  size_t Find(size_t process, StreamId stream) {
    return index_.try_emplace({process, stream}, index_.size()).first->second;
  }

 private:
  std::map<std::pair<size_t, StreamId>, size_t> index_;
};

}  // namespace

SplitRanks SplitCommunication(const Run& run, const ClockAlignment& clocks,
                              const Interval& window) {
  Ranks ranks(run, clocks);
  Streams streams;
  Communicators communicators;
  uint64_t learnt = 0;
  ForEachCollectiveKernel(run, clocks, [&](size_t process, const CollectiveCursor& kernel) {
    communicators.Add(kernel.name(), streams.Find(process, kernel.stream()),
                      ranks.Find(process, kernel.device()), kernel.Time());
    return ++learnt < kMostLearnt;
  });
  communicators.Finish();
  CollectiveMatch match;
  const auto book = [&] {
    for (const Collective& collective : match.Take()) ranks.Book(collective, window);
  };
  ForEachCollectiveKernel(run, clocks, [&](size_t process, const CollectiveCursor& kernel) {
    const size_t stream = streams.Find(process, kernel.stream());
    match.Add(kernel.name(), {ranks.Find(process, kernel.device()), kernel.Time(),
                              communicators.Group(kernel.name(), stream)});
    book();
    return true;
  });
  match.Finish();
  book();
  return ranks.Finish();
}

void ExplainLateRanks(const Run& run, const KnownWaits& waits, const BreakdownOptions& options,
                      std::vector<LateRank>* late) {
  for (LateRank& rank : *late) {
    rank.meanwhile =
        WhatItDid(run.processes[rank.process], rank.times, waits.HeritageOf(rank.process), options);
  }
}

}  // namespace gpubound
