// SPDX-License-Identifier: Apache-2.0
//
// replay_bench [--events N] [--repeat N] [--dir DIR]
//
// Millions of events per second of CPU time, on one core, of one process: the engine's pass over a
// run, a replay that only asks how long the run would be, one that writes the retimed events,
// and one that also follows the critical path. An event is a scope, a call or a kernel, as in
// analysis_bench. Measured in turn, medians printed.
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/estimate.h"
#include "analysis/reader/reader.h"
#include "analysis/replay/replay.h"
#include "analysis/report/report.h"
#include "bench/analysis_run.h"

namespace gpubound {
namespace {

double CpuNow() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// CPU seconds of |work| on the run in |directory|; opening it does not count.
double Seconds(const std::string& directory, const std::function<bool(const Run&)>& work) {
  const Result<Run> run = OpenRun(directory);
  const double begin = CpuNow();
  if (!run.ok() || !work(*run)) {
    std::fprintf(stderr, "replay_bench: a measurement failed\n");
    std::exit(1);
  }
  return CpuNow() - begin;
}

bool Replay(const Run& run, bool keep_events, bool critical_path) {
  ReplayOptions options;
  if (critical_path) options.critical_path_of = 0;
  options.keep_events = keep_events;
  Cost cost;
  cost.inside_ns = 100;
  cost.samples = 1;
  options.costs.kinds.fill(cost);
  const Result<ReplayedRun> replayed = ReplayRun(run, options);
  return replayed.ok() && (*replayed).facts.front().removed_ns > 0;
}

void Measure(uint64_t events, int repeat, const std::string& dir) {
  std::string directory = dir + "/replay_bench-XXXXXX";
  if (mkdtemp(directory.data()) == nullptr) std::exit(1);
  WriteBenchRun(directory, events, 1);
  std::vector<double> engine;
  std::vector<double> facts;
  std::vector<double> retimed;
  std::vector<double> path;
  for (int i = 0; i < repeat; ++i) {
    engine.push_back(Seconds(directory, [](const Run& run) { return BuildReport(run).ok(); }));
    facts.push_back(Seconds(directory, [](const Run& run) { return Replay(run, false, false); }));
    retimed.push_back(Seconds(directory, [](const Run& run) { return Replay(run, true, false); }));
    path.push_back(Seconds(directory, [](const Run& run) { return Replay(run, true, true); }));
  }
  const double count = static_cast<double>(events) / 1e6;
  std::printf("%12llu %10.2f %10.2f %10.2f %10.2f\n", static_cast<unsigned long long>(events),
              count / Median(engine), count / Median(facts), count / Median(retimed),
              count / Median(path));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  uint64_t events = 3'000'000;
  int repeat = 5;
  std::string dir = "/tmp";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--events") events = std::strtoull(argv[i + 1], nullptr, 10);
    if (option == "--repeat") repeat = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--dir") dir = argv[i + 1];
  }
  std::printf("M events per second of CPU time\n");
  std::printf("%12s %10s %10s %10s %10s\n", "events", "engine", "replay", "retimed", "and path");
  gpubound::Measure(events, repeat, dir);
  return 0;
}
