// SPDX-License-Identifier: Apache-2.0
//
// Devices of random runs: classes, graphs, bands and the model of nvidia-smi, within windows that
// may be empty or coincide, of processes whose clocks differ, and of runs that were summed.
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/attribution/unknown_time.h"
#include "analysis/compact/run_summing.h"
#include "analysis/processes/clock_align.h"
#include "analysis/processes/device_usage.h"
#include "analysis/processes/run_frame.h"
#include "analysis/segments/run_sums.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/timeline/smi_model.h"
#include "analysis/trace/memory_source.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/thinned_trace.h"

namespace gpubound::oracle {
namespace {

// By "uuid window figure"; none is zero.
using Figures = std::map<std::string, int64_t>;

constexpr uint64_t kRuns = 3000;

struct Item {
  GpuItem item;
  size_t process;
};

// Half of the processes have some, of a length that few windows of the model of nvidia-smi have.
RunUnknown RandomUnknown(uint64_t seed, size_t processes, int64_t factor) {
  std::mt19937_64 random(seed + 1);
  RunUnknown unknown(processes);
  for (ProcessUnknown& of : unknown) {
    of.sees_any = random() % 8 == 0;
    if (random() % 2 == 0) continue;
    for (uint64_t i = random() % 4; i > 0; --i) {
      const int64_t begin_ns = static_cast<int64_t>(random() % 60) * factor;
      const Interval time{begin_ns, begin_ns + 1 + static_cast<int64_t>(random() % 9) * factor};
      (random() % 4 == 0 ? of.outside : of.times).push_back(time);
    }
  }
  return unknown;
}

// Of the processes that know the device.
std::vector<Interval> UnknownOn(const gpubound::Run& run, const std::string& uuid,
                                const RunUnknown& unknown) {
  std::vector<Interval> times;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    const std::vector<Device>& devices = run.processes[p].devices;
    const bool sees_it = unknown[p].sees_any ||
                         std::any_of(devices.begin(), devices.end(),
                                     [&](const Device& device) { return device.uuid == uuid; });
    if (!sees_it) continue;
    times.insert(times.end(), unknown[p].times.begin(), unknown[p].times.end());
    times.insert(times.end(), unknown[p].outside.begin(), unknown[p].outside.end());
  }
  return times;
}

Figures Naive(const gpubound::Run& run, const std::vector<int64_t>& offsets,
              const std::vector<Interval>& windows, const RunUnknown& unknown) {
  std::map<uint32_t, std::vector<Item>> by_device;
  Figures figures;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    WorkClassifier classifier(run.processes[p]);
    for (const DeviceWork& work : run.processes[p].device_work) {
      GpuItem item = classifier.Classify(work);
      item.begin_ns += offsets[p];
      item.end_ns += offsets[p];
      by_device[item.device].push_back({item, p});
    }
  }
  for (const ProcessTrace& process : run.processes) {
    for (uint32_t device = 1; device < process.devices.size(); ++device) by_device[device];
  }
  for (const auto& [device, items] : by_device) {
    const std::string uuid = "GPU-" + std::to_string(device);
    figures[uuid + " used"] = items.empty() ? 0 : 1;
    std::set<int64_t> bounds;
    for (const Item& item : items) bounds.insert({item.item.begin_ns, item.item.end_ns});
    for (const Interval& window : windows) bounds.insert({window.begin_ns, window.end_ns});
    for (auto at = bounds.begin(); std::next(at) != bounds.end(); ++at) {
      const int64_t begin = *at;
      const int64_t ns = *std::next(at) - begin;
      std::set<size_t> processes;
      std::set<int> classes;
      bool graph = false;
      for (const Item& item : items) {
        if (item.item.begin_ns > begin || item.item.end_ns <= begin) continue;
        processes.insert(item.process);
        classes.insert(item.item.work_class);
        graph |= item.item.is_graph;
      }
      if (processes.empty()) continue;
      for (size_t w = 0; w < windows.size(); ++w) {
        if (begin < windows[w].begin_ns || begin >= windows[w].end_ns) continue;
        const std::string key = uuid + " w" + std::to_string(w);
        figures[key + " busy"] += ns;
        for (const int c : classes) figures[key + " class" + std::to_string(c)] += ns;
        if (graph) figures[key + " graph"] += ns;
        if (w != 0) continue;
        for (const size_t p : processes) {
          figures[uuid + (processes.size() == 1 ? " alone" : " contended") + std::to_string(p)] +=
              ns;
        }
      }
    }
    const std::vector<Interval> unknown_here = UnknownOn(run, uuid, unknown);
    for (size_t w = 0; w < windows.size(); ++w) {
      int64_t touched = 0;
      int64_t most = 0;
      for (int64_t at = windows[w].begin_ns; at < windows[w].end_ns; at += kSmiWindowNs) {
        const Interval part{at, std::min(windows[w].end_ns, at + kSmiWindowNs)};
        const bool any = std::any_of(items.begin(), items.end(), [&](const Item& item) {
          return item.item.work_class != kCopy &&
                 !Interval{item.item.begin_ns, item.item.end_ns}.ClippedTo(part).empty();
        });
        const bool may =
            std::any_of(unknown_here.begin(), unknown_here.end(),
                        [&](const Interval& time) { return !time.ClippedTo(part).empty(); });
        if (any) touched += part.length();
        if (any || may) most += part.length();
      }
      if (windows[w].empty()) continue;
      const auto length = static_cast<double>(windows[w].length());
      const std::string key = uuid + " w" + std::to_string(w);
      figures[key + " smi"] =
          static_cast<int64_t>(static_cast<double>(touched) / length * 1e9 + 0.5);
      figures[key + " most"] = static_cast<int64_t>(static_cast<double>(most) / length * 1e9 + 0.5);
    }
  }
  std::erase_if(figures, [](const auto& entry) { return entry.second == 0; });
  return figures;
}

// |parts|: that the time is cut into.
Figures Measured(const gpubound::Run& run, const RunActivity& activity,
                 const std::vector<int64_t>& offsets, const std::vector<Interval>& windows,
                 const RunUnknown& unknown, size_t parts) {
  std::vector<size_t> processes(run.processes.size());
  std::iota(processes.begin(), processes.end(), size_t{0});
  const Result<std::vector<DeviceUsage>> devices =
      MeasureDevices(run, processes, activity, offsets, windows, unknown, parts);
  EXPECT_TRUE(devices.ok()) << (devices.ok() ? "" : devices.error().ToString());
  Figures figures;
  if (!devices.ok()) return figures;
  for (const DeviceUsage& device : *devices) {
    figures[device.uuid + " used"] = device.used ? 1 : 0;
    for (size_t w = 0; w < windows.size(); ++w) {
      const DeviceTime& time = device.windows[w];
      const std::string key = device.uuid + " w" + std::to_string(w);
      figures[key + " busy"] = time.busy_ns;
      figures[key + " class" + std::to_string(kCompute)] = time.compute_ns;
      figures[key + " class" + std::to_string(kComm)] = time.comm_ns;
      figures[key + " class" + std::to_string(kCopy)] = time.copy_ns;
      figures[key + " graph"] = time.graph_ns;
      figures[key + " smi"] = static_cast<int64_t>(time.smi_model * 1e9 + 0.5);
      figures[key + " most"] = static_cast<int64_t>(time.most_smi_model * 1e9 + 0.5);
    }
    for (const DeviceBand& band : device.bands) {
      figures[device.uuid + " alone" + std::to_string(band.process)] = band.alone_ns;
      figures[device.uuid + " contended" + std::to_string(band.process)] = band.contended_ns;
    }
  }
  std::erase_if(figures, [](const auto& entry) { return entry.second == 0; });
  return figures;
}

RunActivity Analyzed(const gpubound::Run& run) {
  RunActivity activity;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    ProcessContext context;
    context.before = run.sums == nullptr ? nullptr : run.sums->Of(run.processes[p].identity);
    const Result<ProcessAnalysis> analysis =
        AnalyzeProcess(run.processes[p], MemorySource(run.processes[p]), {}, context);
    EXPECT_TRUE(analysis.ok()) << (analysis.ok() ? "" : analysis.error().ToString());
    activity.push_back(analysis.ok() ? analysis->activity : nullptr);
  }
  return activity;
}

// Some processes have no device work, some copies are other ends.
gpubound::Run MakeRun(uint64_t seed, int64_t factor) {
  gpubound::Run run = MakeRandomRun(seed);
  std::mt19937_64 random(seed);
  for (ProcessTrace& process : run.processes) {
    if (random() % 4 == 0) process.device_work.clear();
    if (random() % 2 == 0) {
      Work other = process.works[3];
      other.info.copy_kind = kCopyOtherEnd;
      process.works.push_back(other);
      for (DeviceWork& work : process.device_work) {
        if (Raw(work.work) == 3 && random() % 2 == 0) work.work = static_cast<WorkId>(5);
      }
    }
  }
  // Stretched, a run has windows of the model of nvidia-smi.
  for (ProcessTrace& trace : run.processes) Stretch(&trace, factor);
  return run;
}

int64_t FactorOf(uint64_t seed) { return seed % 2 == 0 ? 1 : 27'654'321; }

std::vector<Interval> RandomWindows(std::mt19937_64* random, int64_t factor) {
  std::vector<Interval> windows;
  for (int i = 0; i < 5; ++i) {
    const int64_t begin_ns = (static_cast<int64_t>((*random)() % 120) - 40) * factor;
    windows.push_back({begin_ns, begin_ns + static_cast<int64_t>((*random)() % 90) * factor});
  }
  windows.push_back(windows[2]);
  windows.push_back({windows[1].begin_ns, windows[1].begin_ns});
  return windows;
}

// As the next reader finds them.
std::shared_ptr<const RunSums> FromDisk(RunSums* written) {
  StateArchive out;
  written->Visit(out);
  const std::string bytes = out.Take();
  StateArchive in(bytes);
  auto read = std::make_shared<RunSums>();
  read->Visit(in);
  EXPECT_TRUE(in.done());
  return read;
}

// |run| is summed until |until_ns|, and thinned.
void Sum(const std::vector<int64_t>& boundaries_ns, int64_t until_ns, const RunUnknown& unknown,
         gpubound::Run* run) {
  RunSums sums;
  sums.until_ns = until_ns;
  RunActivity activity;
  for (ProcessTrace& process : run->processes) {
    ProcessContext context;
    context.before = run->sums == nullptr ? nullptr : run->sums->Of(process.identity);
    Result<SummedProcess> summed =
        SumProcess(process, MemorySource(process), {}, context, until_ns);
    ASSERT_TRUE(summed.ok()) << summed.error().ToString();
    activity.push_back(summed->activity);
    sums.processes.push_back(std::move(summed->sums));
  }
  Result<std::string> devices = SumDevices(*run, activity, unknown, boundaries_ns, until_ns);
  ASSERT_TRUE(devices.ok()) << devices.error().ToString();
  sums.devices = *devices;
  run->sums = FromDisk(&sums);
  for (ProcessTrace& process : run->processes) {
    process = WithoutDetail(std::move(process), until_ns);
  }
}

TEST(DeviceWindowsOracleTest, FiguresOfWindowsAndClocksOfAnyKindAreThoseCountedNaively) {
  for (const uint64_t seed : Seeds(kRuns)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    std::mt19937_64 random(seed);
    const int64_t factor = FactorOf(seed);
    const gpubound::Run run = MakeRun(seed, factor);
    std::vector<int64_t> offsets;
    for (size_t p = 0; p < run.processes.size(); ++p) {
      offsets.push_back((static_cast<int64_t>(random() % 60) - 30) * factor);
    }
    const std::vector<Interval> windows = RandomWindows(&random, factor);
    const RunUnknown unknown = RandomUnknown(seed, run.processes.size(), factor);
    EXPECT_EQ(Measured(run, Analyzed(run), offsets, windows, unknown, 1 + seed % 5),
              Naive(run, offsets, windows, unknown));
  }
}

TEST(DeviceWindowsOracleTest, SummingTwiceChangesNothing) {
  for (const uint64_t seed : Seeds(kRuns)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    std::mt19937_64 random(seed);
    const int64_t factor = FactorOf(seed);
    const auto some_ns = [&](uint64_t below) {
      return static_cast<int64_t>(random() % below) * factor;
    };
    const gpubound::Run whole = MakeRun(seed, factor);
    const std::vector<int64_t> offsets(whole.processes.size());
    const RunUnknown unknown = RandomUnknown(seed, whole.processes.size(), factor);
    gpubound::Run run = whole;
    const std::vector<int64_t> boundaries = {some_ns(10), 10 * factor + some_ns(10),
                                             20 * factor + some_ns(10)};
    int64_t until_ns = boundaries.back() + 1 + some_ns(20);
    for (int stop = 0; stop < 2; ++stop) {
      SCOPED_TRACE("until " + std::to_string(until_ns));
      Sum(boundaries, until_ns, unknown, &run);
      const std::vector<Interval> windows = {{boundaries[0], until_ns + 40 * factor},
                                             {boundaries[0], boundaries[1]},
                                             {boundaries[1], until_ns + some_ns(40)},
                                             {boundaries[1], boundaries[2]},
                                             {until_ns + 3, until_ns + 30 * factor}};
      EXPECT_EQ(Measured(run, Analyzed(run), offsets, windows, unknown, 1 + seed % 5),
                Naive(whole, offsets, windows, unknown));
      until_ns += some_ns(20);
    }
  }
}

// A device may have worked for a process before that one's span begins, and sums may end between.
TEST(DeviceWindowsOracleTest, SummingARunBeforeSomeProcessesBeginChangesNothing) {
  for (const uint64_t seed : Seeds(kRuns)) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    const gpubound::Run whole = MakeRun(seed, 1);
    const std::vector<int64_t> offsets(whole.processes.size());
    const int64_t begin_ns = FrameOf(whole).span.begin_ns;
    const int64_t until_ns = begin_ns + 1 + static_cast<int64_t>(seed % 9);
    gpubound::Run run = whole;
    Result<SummedRun> summed = SumRun(run, {}, until_ns);
    ASSERT_TRUE(summed.ok()) << summed.error().ToString();
    run.sums = FromDisk(&summed->sums);
    for (ProcessTrace& process : run.processes) {
      if (run.sums->Of(process.identity) == nullptr) continue;
      process = WithoutDetail(std::move(process), until_ns);
    }
    const std::vector<Interval> windows = {{begin_ns, 100}};
    std::vector<std::vector<Interval>> pauses;
    for (const ProcessTrace& process : whole.processes) {
      pauses.push_back(AnalyzeProcess(process, {})->pauses);
    }
    const RunUnknown unknown = UnknownOf(whole, pauses, offsets);
    EXPECT_EQ(Measured(run, Analyzed(run), offsets, windows, unknown, 1 + seed % 5),
              Naive(whole, offsets, windows, unknown));
  }
}

}  // namespace
}  // namespace gpubound::oracle
