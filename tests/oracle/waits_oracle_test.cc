// SPDX-License-Identifier: Apache-2.0
//
// What processes inherit from each other along recorded waits (SPEC section 2), and what a report
// says of these waits, on random runs against the naive oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/compact/run_summing.h"
#include "analysis/processes/run_frame.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/report/report.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/row_names.h"
#include "tests/oracle/columns.h"
#include "tests/oracle/naive_run.h"
#include "tests/oracle/random_waits.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/shrink_run.h"
#include "tests/oracle/thinned_trace.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 3'000;

// What a report says, by a name for each figure. None is zero.
using Figures = std::map<std::string, int64_t>;

void Add(const std::string& name, const Figures& figures, Figures* all) {
  for (const auto& [key, value] : figures) {
    if (value != 0) (*all)[name + " " + key] += value;
  }
}

std::string NameOf(const gpubound::Run& run, size_t p) {
  const ProcessIdentity& identity = run.processes[p].identity;
  return identity.host + " " + std::to_string(identity.pid) + " (" +
         std::to_string(identity.start_realtime_ns) + ") ";
}

Figures CountedNaively(const gpubound::Run& run) {
  Figures all;
  const std::vector<NaiveProcess> processes = BreakDownNaively(run);
  for (size_t p = 0; p < processes.size(); ++p) {
    const NaiveProcess& process = processes[p];
    const std::string name = NameOf(run, p);
    Add(name + "cell", process.breakdown.cells, &all);
    Add(name + "row", process.breakdown.columns, &all);
    Add(name + "waiting", process.breakdown.waiting, &all);
    Add(name + "caused", process.breakdown.caused, &all);
    Add(name + "sum", process.breakdown.sum, &all);
    Add(name + "inclusive", process.breakdown.inclusive, &all);
    Add(name + "count", process.breakdown.count, &all);
    Add(name + "transitions", process.breakdown.transitions, &all);
    Add(name + "idle", process.breakdown.idle, &all);
    for (const auto& [tid, cells] : process.breakdown.lanes) Add(name + "lane " + tid, cells, &all);
    Add(name + "wait for", process.waits, &all);
    Add(name + "awaited", process.awaited, &all);
    Add(name + "meanwhile", process.meanwhile, &all);
    for (const auto& [key, ns] : process.breakdown.columns) {
      const std::string operation = key.substr(0, key.find('|'));
      const bool any = operation != kNoOperation;
      if (process.inherits && any && ns != 0) all[name + "inherited " + operation] = 1;
    }
    Add(name, {{"busy", process.breakdown.busy}}, &all);
  }
  return all;
}

Figures CellsOf(const std::vector<ReportCell>& cells) {
  Figures figures;
  for (const ReportCell& cell : cells) {
    figures[cell.phase + "|" + cell.operation + "|" + cell.layer + "|" + cell.gpu] += cell.ns;
  }
  return figures;
}

void AddRow(const std::string& name, const ReportOperation& row, Figures* all) {
  Add(name + "row",
      {{row.operation + "|cpu only", row.cpu_only_ns},
       {row.operation + "|cpu+gpu", row.cpu_gpu_ns},
       {row.operation + "|gpu only", row.gpu_only_ns},
       {row.operation + "|waiting", row.waiting_ns},
       {row.operation + "|idle", row.idle_ns},
       {row.operation + "|unknown", row.unknown_ns}},
      all);
  Add(name + "caused", {{row.operation, row.gpu_caused_ns}}, all);
  Add(name + "sum", {{row.operation, row.gpu_sum_ns}}, all);
  for (const CauseTime& idle : row.device_idle) {
    Add(name + "idle", {{row.operation + "|" + idle.cause, idle.ns}}, all);
  }
  if (row.inherited && row.wall_ns != 0) Add(name + "inherited", {{row.operation, 1}}, all);
  if (row.operation == kNoOperation) return;
  Add(name + "inclusive", {{row.operation, row.inclusive_wall_ns}}, all);
  Add(name + "count", {{row.operation, static_cast<int64_t>(row.count)}}, all);
}

void AddWaits(const std::string& name, const ReportProcess& process, Figures* all) {
  for (const ReportWait& wait : process.waits) {
    std::string pids;
    for (const int64_t pid : wait.pids) pids += (pids.empty() ? "" : " ") + std::to_string(pid);
    Add(name + "wait for", {{pids + "|" + wait.operation, wait.ns}}, all);
  }
  for (const ReportAwaited& row : process.awaited) {
    const std::string key = std::to_string(row.pid) + "|" + row.operation;
    Add(name + "awaited", {{key, row.ns}}, all);
    for (const ReportActivity& did : row.meanwhile) {
      Add(name + "meanwhile", {{key + "|" + did.operation + "|" + did.layer, did.ns}}, all);
    }
  }
}

// Of a run in which it is known for whom waits are.
Figures Reported(const gpubound::Run& run) {
  const Result<Report> report = BuildReport(run);
  if (!report.ok()) return {{report.error().ToString(), 1}};
  Figures all;
  for (size_t p = 0; p < report->processes.size(); ++p) {
    const ReportProcess& process = report->processes[p];
    const std::string name = NameOf(run, p);
    Add(name + "cell", CellsOf(process.cells), &all);
    for (const ReportCell& cell : process.cells) {
      Add(name + "waiting", {{cell.phase + "|" + cell.operation, cell.waiting_ns}}, &all);
    }
    for (const ReportOperation& row : process.operations) AddRow(name, row, &all);
    Add(name + "transitions", TransitionsOf(process), &all);
    for (const ReportLane& lane : process.lanes) {
      Add(name + "lane " + std::to_string(lane.tid), CellsOf(lane.cells), &all);
    }
    AddWaits(name, process, &all);
    Add(name, {{"busy", process.gpu_busy_ns}}, &all);
  }
  return all;
}

std::string Difference(const Figures& found, const Figures& expected) {
  std::string text;
  Figures both = found;
  both.insert(expected.begin(), expected.end());
  for (const auto& [name, value] : both) {
    const auto one = found.find(name);
    const auto other = expected.find(name);
    const int64_t has = one == found.end() ? 0 : one->second;
    const int64_t should = other == expected.end() ? 0 : other->second;
    if (has == should) continue;
    text += "  " + name + ": " + std::to_string(has) + ", not " + std::to_string(should) + "\n";
  }
  return text;
}

gpubound::Run Named(gpubound::Run run) {
  NameAwaitedProcesses(&run);
  return run;
}

// Runs of several hosts cannot be summed.
gpubound::Run OfOneHost(gpubound::Run run) {
  for (ProcessTrace& process : run.processes) process.identity.host = run.info->host;
  std::sort(run.processes.begin(), run.processes.end(),
            [](const auto& a, const auto& b) { return a.identity < b.identity; });
  return run;
}

// The same from sums until each of |stops|, ascending, and the detail behind the last.
Figures ReportedWithStops(gpubound::Run run, const std::vector<int64_t>& stops) {
  for (const int64_t stop_ns : stops) {
    Result<SummedRun> summed = SumRun(run, {}, stop_ns);
    // Where another process turns out to be the one whose steps count, sums are refused.
    if (!summed.ok()) continue;
    run.sums = std::make_shared<RunSums>(std::move(summed->sums));
    for (ProcessTrace& process : run.processes) {
      if (process.span_begin_ns >= stop_ns) continue;  // nothing of it was summed
      process = WithoutDetail(std::move(process), stop_ns);
    }
  }
  return Reported(run);
}

// What a report says of a run in spite of sums.
Figures WithoutWhatTheAwaitedDid(Figures figures) {
  std::erase_if(figures, [](const auto& figure) {
    return figure.first.find(" awaited ") != std::string::npos ||
           figure.first.find(" meanwhile ") != std::string::npos;
  });
  return figures;
}

class WaitsOracleTest : public testing::Test {
 protected:
  // Stops at the first run on which |check| says something.
  static void OnRandomRuns(
      const std::function<std::string(const gpubound::Run&, uint64_t seed)>& check) {
    const Seeds seeds(kRuns);
    std::printf("%s\n", seeds.InWords().c_str());
    for (const uint64_t seed : seeds) {
      const gpubound::Run run = MakeRandomWaits(seed);
      if (check(run, seed).empty()) continue;
      const gpubound::Run less =
          Shrunk(run, [&](const gpubound::Run& part) { return !check(part, seed).empty(); });
      FAIL() << ToReproduce(seed) << "\nof which this is enough:\n"
             << InWords(less) << check(less, seed);
    }
  }
};

TEST_F(WaitsOracleTest, EveryFigureIsThatOfTheNaiveOracle) {
  OnRandomRuns([](const gpubound::Run& run, uint64_t) {
    return Difference(Reported(Named(run)), CountedNaively(run));
  });
}

TEST_F(WaitsOracleTest, StoppingAnywhereChangesNothing) {
  OnRandomRuns([](const gpubound::Run& recorded, uint64_t seed) {
    const gpubound::Run run = Named(OfOneHost(recorded));
    // Of a run without any length the devices' time is not summed.
    if (FrameOf(run).span.empty()) return std::string();
    std::vector<int64_t> stops = {static_cast<int64_t>(seed % 70)};
    if (seed % 2 == 0) stops.push_back(stops.front() + static_cast<int64_t>(seed % 23));
    return Difference(ReportedWithStops(run, stops), WithoutWhatTheAwaitedDid(Reported(run)));
  });
}

}  // namespace
}  // namespace gpubound::oracle
