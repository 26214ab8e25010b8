// SPDX-License-Identifier: Apache-2.0
//
// ranks_bench [RANKS ...]
//
// The breakdown of runs of many ranks (256, 512, 1024 and 2048), of which each has an operation, a
// kernel of its own and an all-reduce with all others in each of 80 turns; rank 1 is late in all of
// them. CPU seconds of the whole report and of matching alone (communicators and collectives), each
// beside that of half as many ranks, medians of five in turns. What the report says of the late
// rank is checked.
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/processes/collective_match.h"
#include "analysis/processes/communicators.h"
#include "bench/median.h"

namespace gpubound {
namespace {

constexpr int kTurns = 80;
constexpr int kTimes = 5;
constexpr int64_t kTurnNs = 30'000'000;
constexpr int64_t kMovesNs = 2'000'000;
constexpr size_t kLate = 1;
constexpr char kAllReduce[] = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

double CpuNow() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// When each rank enters the collective of each turn, and all leave it.
struct Turns {
  std::vector<std::vector<int64_t>> entered_ns;  // by turn and rank
  std::vector<int64_t> left_ns;
};

Turns MakeTurns(size_t ranks) {
  std::mt19937_64 random(1);
  Turns turns;
  for (int turn = 0; turn < kTurns; ++turn) {
    const int64_t begin_ns = turn * kTurnNs;
    std::vector<int64_t>& entered = turns.entered_ns.emplace_back();
    for (size_t rank = 0; rank < ranks; ++rank) {
      const auto varies_ns = static_cast<int64_t>(random() % 4'000'000);
      entered.push_back(begin_ns + 15'000'000 + varies_ns + (rank == kLate ? 8'000'000 : 0));
    }
    turns.left_ns.push_back(*std::max_element(entered.begin(), entered.end()) + kMovesNs);
  }
  return turns;
}

ProcessTrace MakeRank(size_t rank, const Turns& turns) {
  ProcessTrace process;
  process.identity = {"host", static_cast<int64_t>(rank) + 1000, static_cast<int64_t>(rank) + 1};
  process.parent_pid = 1;
  process.name = "train";
  process.device_kind = "real";
  process.main_tid = static_cast<uint32_t>(rank) + 1000;
  process.labels.resize(1);
  process.labels.push_back({LabelKind::kOperation, Layer::kUnset, "", "backpropagation"});
  process.labels.push_back({LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"});
  process.devices.resize(2);
  process.devices[1].uuid = "GPU-" + std::to_string(rank);
  process.streams.resize(1);
  process.streams.push_back({DeviceId{1}, 1, 7});
  process.works.resize(1);
  for (const char* const name : {"gemm", kAllReduce}) {
    Work work;
    work.info.kind = WorkKind::kKernel;
    work.name = name;
    process.works.push_back(work);
  }
  ThreadTrace& thread = process.threads.emplace_back();
  thread.ordinal = ThreadId{1};
  thread.tid = process.main_tid;
  uint32_t correlation = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const int64_t begin_ns = turn * kTurnNs;
    const int64_t entered_ns = turns.entered_ns[turn][rank];
    thread.events.push_back({begin_ns, 0, LabelId{1}, SlotKind::kBegin});
    const auto launch = [&](int64_t at_ns, const Interval& time, uint32_t work) {
      thread.calls.push_back({at_ns, at_ns + 5000, ++correlation, LabelId{2}, 0});
      process.device_work.push_back({time.begin_ns, time.end_ns, 0, 0, correlation, 0, StreamId{1},
                                     static_cast<WorkId>(work)});
    };
    launch(begin_ns + 1000, {begin_ns + 10'000, entered_ns - 5000}, 1);
    launch(begin_ns + 8000, {entered_ns, turns.left_ns[turn]}, 2);
    thread.events.push_back({begin_ns + 20'000, 0, LabelId{1}, SlotKind::kEnd});
    thread.events.push_back(
        {begin_ns + kTurnNs - 1, static_cast<uint64_t>(turn), LabelId{}, SlotKind::kStep});
  }
  process.span_end_ns = kTurns * kTurnNs;
  return process;
}

Run MakeRun(size_t ranks) {
  const Turns turns = MakeTurns(ranks);
  Run run;
  for (size_t rank = 0; rank < ranks; ++rank) run.processes.push_back(MakeRank(rank, turns));
  return run;
}

double ReportSeconds(const Run& run) {
  const double before = CpuNow();
  const Result<Report> report = BuildReport(run);
  const double seconds = CpuNow() - before;
  const auto& ranks = (*report).ranks;
  const bool as_planted =
      ranks.size() == run.processes.size() && ranks[kLate].late + 10 > ranks[kLate].collectives;
  if (!as_planted) {
    std::fprintf(stderr, "ranks_bench: the late rank was not found\n");
    std::exit(1);
  }
  return seconds;
}

double MatchSeconds(const Turns& turns, size_t ranks) {
  struct Entered {
    int64_t ns;
    size_t rank;
    int64_t left_ns;
  };
  std::vector<Entered> kernels;
  for (int turn = 0; turn < kTurns; ++turn) {
    for (size_t rank = 0; rank < ranks; ++rank) {
      kernels.push_back({turns.entered_ns[turn][rank], rank, turns.left_ns[turn]});
    }
  }
  std::sort(kernels.begin(), kernels.end(),
            [](const Entered& a, const Entered& b) { return a.ns < b.ns; });
  const double before = CpuNow();
  Communicators communicators;
  for (const Entered& kernel : kernels) {
    communicators.Add(kAllReduce, kernel.rank, kernel.rank, {kernel.ns, kernel.left_ns});
  }
  communicators.Finish();
  CollectiveMatch match;
  size_t found = 0;
  for (const Entered& kernel : kernels) {
    match.Add(
        kAllReduce,
        {kernel.rank, {kernel.ns, kernel.left_ns}, communicators.Group(kAllReduce, kernel.rank)});
    found += match.Take().size();
  }
  match.Finish();
  found += match.Take().size();
  const double seconds = CpuNow() - before;
  if (found != kTurns) {
    std::fprintf(stderr, "ranks_bench: %zu collectives were found instead of %d\n", found, kTurns);
    std::exit(1);
  }
  return seconds;
}

struct Measured {
  size_t ranks = 0;
  Turns turns;
  Run run;
  std::vector<double> report_s;
  std::vector<double> match_s;
};

int Main(const std::vector<size_t>& counts) {
  std::vector<Measured> all;
  for (const size_t ranks : counts)
    all.push_back({ranks, MakeTurns(ranks), MakeRun(ranks), {}, {}});
  for (int time = 0; time < kTimes; ++time) {
    for (Measured& one : all) {
      one.report_s.push_back(ReportSeconds(one.run));
      one.match_s.push_back(MatchSeconds(one.turns, one.ranks));
    }
  }
  std::printf("%6s %14s %7s %14s %7s\n", "ranks", "report, CPU s", "ratio", "match, CPU s",
              "ratio");
  for (size_t i = 0; i < all.size(); ++i) {
    const double report_s = Median(all[i].report_s);
    const double match_s = Median(all[i].match_s);
    const double before_report_s = i == 0 ? 0 : Median(all[i - 1].report_s);
    const double before_match_s = i == 0 ? 0 : Median(all[i - 1].match_s);
    std::printf("%6zu %14.3f %7.2f %14.3f %7.2f\n", all[i].ranks, report_s,
                i == 0 ? 0 : report_s / before_report_s, match_s,
                i == 0 ? 0 : match_s / before_match_s);
  }
  return 0;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  std::vector<size_t> counts;
  for (int i = 1; i < argc; ++i) counts.push_back(std::strtoul(argv[i], nullptr, 10));
  if (counts.empty()) counts = {256, 512, 1024, 2048};
  return gpubound::Main(counts);
}
