// SPDX-License-Identifier: Apache-2.0
//
// Parts of random runs of several machines: however the machines are cut off from each other, in
// whichever order their parts are merged, and if one is given twice, the report is that of the whole
// run to the byte, but for what the format leaves out.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/parts/machine_part.h"
#include "analysis/parts/part_file.h"
#include "analysis/report/report_json.h"
#include "analysis/report/report_training.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 300;

// Names everything of |run|, which is of one machine, so that nothing of another is called so.
void NameMachine(size_t number, gpubound::Run* run) {
  const std::string name = std::to_string(number);
  for (ProcessTrace& process : run->processes) {
    process.identity.host = "host" + name;
    process.boot_id = "boot" + name;
    for (Device& device : process.devices) {
      if (!device.uuid.empty()) device.uuid += "-" + name;
    }
    // Every machine's clock began at another time, some ns apart as all that they do.
    const auto begun_ns = static_cast<int64_t>(number) * 5;
    process.clock_samples = {{0, 0, begun_ns, 0, 0}, {100, 100, begun_ns + 100, 0, 0}};
  }
}

// What a program may say of its training: most processes have a role, and counters on a thread of their
// own.
void SayTraining(std::mt19937_64* random, gpubound::Run* run) {
  static constexpr const char* kRoles[] = {"rollout", "train", "environment", "trainer", ""};
  static constexpr const char* kCounters[] = {
      "env_steps",      "consumed_version",      "consumed_samples", "discarded_samples:stale",
      "policy_version", "flops_per_iteration",   "role:rollout",     "role:train",
      "tokens",         "flops_peak_per_second", "role:trainee"};
  for (ProcessTrace& process : run->processes) {
    process.role = kRoles[(*random)() % std::size(kRoles)];
    if ((*random)() % 3 == 0) continue;
    const auto first = process.labels.size();
    for (const char* counter : kCounters) {
      process.labels.push_back({LabelKind::kCounter, Layer::kUnset, "", counter});
    }
    ThreadTrace thread;
    for (const ThreadTrace& other : process.threads) {
      thread.ordinal = std::max(thread.ordinal, static_cast<ThreadId>(Raw(other.ordinal) + 1));
    }
    thread.tid = 999'999;
    const auto span_ns = static_cast<uint64_t>(process.span_end_ns - process.span_begin_ns);
    for (uint64_t i = 0, count = (*random)() % 12; i < count && span_ns > 0; ++i) {
      const auto label = static_cast<LabelId>(first + (*random)() % std::size(kCounters));
      const auto time_ns = process.span_begin_ns + static_cast<int64_t>((*random)() % span_ns);
      const auto value = static_cast<double>((*random)() % 9);
      thread.events.push_back({time_ns, std::bit_cast<uint64_t>(value), label, SlotKind::kCounter});
    }
    std::stable_sort(thread.events.begin(), thread.events.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
    process.threads.push_back(std::move(thread));
  }
}

struct Machines {
  std::vector<gpubound::Run> each;
  gpubound::Run whole;
};

Machines RandomMachines(uint64_t seed) {
  Machines machines;
  std::mt19937_64 random(seed);
  const size_t count = 1 + random() % 4;
  for (size_t m = 0; m < count; ++m) {
    gpubound::Run run = MakeRandomRun(seed * 7 + m);
    NameMachine(m, &run);
    SayTraining(&random, &run);
    machines.each.push_back(run);
    for (ProcessTrace& process : run.processes) {
      machines.whole.processes.push_back(std::move(process));
    }
  }
  if (random() % 2 == 0) return machines;
  // The launcher was on one of them.
  const size_t launcher = random() % count;
  RunInfo info;
  info.host = "host" + std::to_string(launcher);
  info.root_pid = machines.each[launcher].processes.front().identity.pid;
  machines.whole.info = info;
  for (gpubound::Run& run : machines.each) run.info = info;
  return machines;
}

// A machine with devices in use and without iterations is measured over the run's in the whole run,
// which nobody can who has the machine alone.
bool IsMeasuredAlike(const CombinedRun& combined) {
  const auto has_iterations = [&combined](const MachineShare& machine) {
    return std::any_of(machine.processes.begin(), machine.processes.end(), [&](size_t process) {
      return combined.share.processes[process].steps.warm_up.has_value();
    });
  };
  const auto is_used = [](const MachineShare& machine) {
    return std::any_of(machine.devices.begin(), machine.devices.end(),
                       [](const DeviceUsage& device) { return device.used; });
  };
  const std::vector<MachineShare>& machines = combined.share.machines;
  if (std::none_of(machines.begin(), machines.end(), has_iterations)) return true;
  return std::all_of(machines.begin(), machines.end(), [&](const MachineShare& machine) {
    return has_iterations(machine) || !is_used(machine);
  });
}

std::string Without(Report report) {
  for (ReportProcess& process : report.processes) process.corrected_why_not.clear();
  return RenderJson(report);
}

// Merges in random order, in some steps, and sometimes one of them twice.
std::vector<StoredPart> MergedAtRandom(std::vector<StoredPart> parts, std::mt19937_64* random) {
  if ((*random)() % 3 == 0) parts.push_back(parts.front());
  std::shuffle(parts.begin(), parts.end(), *random);
  while (parts.size() > 1 && (*random)() % 4 != 0) {
    const size_t from = (*random)() % (parts.size() - 1);
    std::vector<StoredPart> two = MergeParts({parts[from], parts[from + 1]});
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from),
                parts.begin() + static_cast<std::ptrdiff_t>(from) + 2);
    parts.insert(parts.begin(), two.begin(), two.end());
    std::shuffle(parts.begin(), parts.end(), *random);
    if (two.size() == 2 && (*random)() % 2 == 0) break;
  }
  return MergeParts(std::move(parts));
}

std::vector<MachinePart> LoadedFrom(const std::vector<StoredPart>& stored) {
  std::vector<MachinePart> parts;
  for (const StoredPart& part : stored) {
    Result<MachinePart> read = LoadPart(part, "memory");
    EXPECT_TRUE(read.ok()) << (read.ok() ? "" : read.error().ToString());
    if (read.ok()) parts.push_back(std::move(*read));
  }
  return parts;
}

// Of the ranks of |run|, one machine.
std::vector<LateRank> LateIn(const gpubound::Run& run, const Lateness& lateness) {
  std::vector<LateRank> late;
  for (size_t p = 0; p < run.processes.size(); ++p) {
    for (const Lateness::Rank& of : lateness.ranks) {
      const ProcessTrace& process = run.processes[p];
      if (of.boot_id != process.boot_id || of.pid != process.identity.pid) continue;
      late.push_back(of.rank);
      late.back().process = p;
    }
  }
  return late;
}

// One of each machine; |lateness|: what all of them have said before.
std::vector<StoredPart> PartsOf(const Machines& machines, const Lateness& lateness) {
  std::vector<StoredPart> parts;
  for (const gpubound::Run& run : machines.each) {
    const std::string host = run.processes.front().identity.host;
    Result<MachinePart> part = PartOf(run, host, {}, LateIn(run, lateness));
    EXPECT_TRUE(part.ok()) << (part.ok() ? "" : part.error().ToString());
    if (!part.ok()) continue;
    part->late_among = lateness.among;
    parts.push_back(StorePart(*part));
  }
  return parts;
}

TEST(MachinePartsOracleTest, TheReportOfPartsIsThatOfTheWholeRun) {
  uint64_t compared = 0;
  uint64_t with_roles = 0;
  uint64_t with_flops = 0;
  const Seeds seeds(kRuns);
  for (const uint64_t seed : seeds) {
    if (testing::Test::HasFailure()) return;
    SCOPED_TRACE(ToReproduce(seed));
    const Machines machines = RandomMachines(seed);
    std::mt19937_64 random(seed);
    const std::vector<StoredPart> first = PartsOf(machines, {});
    const Result<Lateness> lateness = LatenessOf(LoadedFrom(first));
    ASSERT_TRUE(lateness.ok()) << lateness.error().ToString();
    const std::vector<StoredPart> parts = PartsOf(machines, *lateness);
    const std::vector<StoredPart> merged = MergedAtRandom(parts, &random);
    EXPECT_EQ(merged.size(), machines.each.size());
    Result<CombinedRun> combined = CombineParts(LoadedFrom(merged));
    ASSERT_TRUE(combined.ok()) << combined.error().ToString();
    if (!IsMeasuredAlike(*combined)) continue;
    ++compared;
    const Result<Report> report = ReportOfShare(combined->run, std::move(combined->share), {});
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    Result<Report> whole = BuildReport(machines.whole);
    ASSERT_TRUE(whole.ok()) << whole.error().ToString();
    for (const ReportProcess& process : whole->processes) {
      with_flops += process.training != nullptr && process.training->flops ? 1 : 0;
    }
    if (machines.each.size() > 1) {  // what they did together none of them knows
      whole->run.training.reset();
    } else if (whole->run.training != nullptr && whole->run.training->roles) {
      ++with_roles;
    }
    EXPECT_EQ(Without(*report), Without(*whole));
  }
  if (seeds.is_one()) return;
  EXPECT_GT(with_roles, seeds.size() / 50);
  EXPECT_GT(with_flops, seeds.size() / 50);
  EXPECT_GT(compared, seeds.size() / 4) << "most random runs say nothing of parts";
}

}  // namespace
}  // namespace gpubound::oracle
