// SPDX-License-Identifier: Apache-2.0
//
// RL-Scope's own overlap tests, restated as data (data/overlap.json), through our report and our
// timeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/attribution/build_report.h"
#include "analysis/base/interval.h"
#include "analysis/report/report.h"
#include "analysis/timeline/process_timeline.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

using Json = nlohmann::json;

// The cases are in seconds with halves, or in us; either way a unit is this many ns.
constexpr double kUnitNs = 1000;

int64_t Ns(const Json& value) {
  return static_cast<int64_t>(std::llround(value.get<double>() * kUnitNs));
}

Json Cases(const char* kind) {
  std::ifstream file(std::string(GPUBOUND_TEST_DATA) + "/overlap.json");
  return Json::parse(file).at(kind);
}

std::vector<Interval> Intervals(const Json& list) {
  std::vector<Interval> intervals;
  for (const Json& pair : list) intervals.push_back({Ns(pair[0]), Ns(pair[1])});
  return intervals;
}

ProcessTrace WithOneThread() {
  ProcessTrace process;
  process.labels.resize(1);
  process.threads.resize(1);
  process.threads[0].tid = process.main_tid = 1;
  return process;
}

void AddScope(LabelId label, const Interval& time, ProcessTrace* process) {
  process->threads[0].events.push_back({time.begin_ns, 0, label, SlotKind::kBegin});
  process->threads[0].events.push_back({time.end_ns, 0, label, SlotKind::kEnd});
}

void SortEvents(ProcessTrace* process) {
  std::vector<ThreadEvent>& events = process->threads[0].events;
  std::stable_sort(events.begin(), events.end(), [](const ThreadEvent& a, const ThreadEvent& b) {
    return a.time_ns < b.time_ns;
  });
}

using SetTimes = std::map<std::set<std::string>, int64_t>;

enum Category : uint8_t { kKernels, kCopies, kOperation };

void Add(Category category, const std::string& name, const Interval& time, ProcessTrace* process) {
  if (category == kOperation) {
    process->labels.push_back({LabelKind::kOperation, Layer::kUnset, "", name});
    AddScope(static_cast<LabelId>(process->labels.size() - 1), time, process);
    return;
  }
  const uint32_t row = category + 1u;
  DeviceWork& work = process->device_work.emplace_back();
  work.start_ns = time.begin_ns;
  work.end_ns = time.end_ns;
  work.stream = static_cast<StreamId>(row);
  work.work = static_cast<WorkId>(row);
}

// The report of a program in which the first category is kernels, the second copies, and the third
// an operation.
Result<Report> ReportOf(const Json& input) {
  Run run;
  ProcessTrace& process = run.processes.emplace_back(WithOneThread());
  process.span_end_ns = 1'000'000;
  process.device_kind = "real";
  process.devices.resize(2);
  process.streams = {{}, {DeviceId{1}, 1, 1}, {DeviceId{1}, 1, 2}};
  process.works.resize(3);
  process.works[1].info.kind = WorkKind::kKernel;
  process.works[2].info.kind = WorkKind::kMemcpy;
  uint8_t category = 0;
  for (const auto& [name, list] : input.items()) {
    for (const Interval& time : Intervals(list)) {
      Add(static_cast<Category>(category), name, time, &process);
    }
    ++category;
  }
  std::stable_sort(
      process.device_work.begin(), process.device_work.end(),
      [](const DeviceWork& a, const DeviceWork& b) { return a.start_ns < b.start_ns; });
  SortEvents(&process);
  return BuildReport(run);
}

// The cells of that report as sets of the categories' names.
SetTimes OverlapOf(const Json& input) {
  std::vector<std::string> names;
  for (const auto& [name, list] : input.items()) names.push_back(name);
  names.resize(3);
  const Result<Report> report = ReportOf(input);
  EXPECT_TRUE(report.ok());
  SetTimes times;
  for (const ReportCell& cell : report->processes.front().cells) {
    std::set<std::string> set;
    if (cell.gpu.find("compute") != std::string::npos) set.insert(names[kKernels]);
    if (cell.gpu.find("copy") != std::string::npos) set.insert(names[kCopies]);
    if (cell.operation == names[kOperation]) set.insert(names[kOperation]);
    if (!set.empty()) times[set] += cell.ns;
  }
  return times;
}

SetTimes Expected(const Json& list) {
  SetTimes times;
  for (const Json& entry : list)
    times[entry["set"].get<std::set<std::string>>()] = Ns(entry["sec"]);
  return times;
}

void KeepSetsWith(const Json& names, SetTimes* times) {
  const auto wanted = names.get<std::set<std::string>>();
  std::erase_if(*times, [&wanted](const auto& entry) {
    return std::none_of(entry.first.begin(), entry.first.end(),
                        [&wanted](const std::string& name) { return wanted.count(name) != 0; });
  });
}

TEST(OverlapCasesTest, OverlapsOfSetsAreThoseOfRlScope) {
  const Json cases = Cases("overlap_cases");
  ASSERT_EQ(cases.size(), 4u);
  for (const Json& one : cases) {
    SetTimes times = OverlapOf(one["input"]);
    if (one.contains("overlaps_with")) KeepSetsWith(one["overlaps_with"], &times);
    const bool derived = one["expected_overlap"].is_null();
    EXPECT_EQ(times, Expected(one[derived ? "derived_expected_overlap" : "expected_overlap"]))
        << one["id"];
  }
}

TEST(OverlapCasesTest, SelfOverlapIsMergedFirst) {
  for (const Json& one : Cases("overlap_cases")) {
    if (!one.contains("expected_merged")) continue;
    for (const auto& [name, list] : one["input"].items()) {
      EXPECT_EQ(Union(Intervals(list)), Intervals(one["expected_merged"][name])) << name;
    }
  }
}

using Flat = std::vector<std::tuple<std::string, int64_t, int64_t>>;

// Nested operation events -> who owns which time, by the timeline of a process with one thread.
Flat Flatten(const Json& input) {
  struct Scope {
    std::string name;
    Interval time;
  };
  std::vector<Scope> scopes;
  for (const Json& one : input) scopes.push_back({one[0], {Ns(one[1]), Ns(one[2])}});
  // Outer before inner, as a thread opens them.
  std::sort(scopes.begin(), scopes.end(), [](const Scope& a, const Scope& b) {
    return std::pair(a.time.begin_ns, -a.time.end_ns) < std::pair(b.time.begin_ns, -b.time.end_ns);
  });

  ProcessTrace process = WithOneThread();
  for (const Scope& scope : scopes) {
    process.labels.push_back({LabelKind::kOperation, Layer::kUnset, "", scope.name});
    AddScope(static_cast<LabelId>(process.labels.size() - 1), scope.time, &process);
    process.span_end_ns = std::max(process.span_end_ns, scope.time.end_ns);
  }
  SortEvents(&process);

  const MemorySource source(process);
  const std::vector<std::string> promoted;
  const std::vector<Peer> peers;
  const std::vector<InheritedOperation> inherited;
  LabelRoles::Input roles_input;
  roles_input.promoted = &promoted;
  roles_input.peers = &peers;
  const LabelRoles roles(process, roles_input);
  const ThreadScan scan = ScanThreads(process, source, roles);
  ProcessTimeline timeline({&process, &source, &roles, &scan, &peers, &inherited});
  Flat flat;
  OperationIndex last = kNoOperationIndex;
  const auto note = [&](int64_t now_ns, OperationIndex operation) {
    if (operation == last) return;
    if (last != kNoOperationIndex) std::get<2>(flat.back()) = now_ns;
    last = operation;
    if (operation == kNoOperationIndex) return;
    flat.emplace_back(roles.operations()[operation], now_ns, process.span_end_ns);
  };
  while (timeline.NextTime() != kOpenEnded) {
    const int64_t begin_ns = timeline.NextTime();
    timeline.Run(begin_ns, timeline.Open(begin_ns, kOpenEnded));
    note(begin_ns, timeline.state_at_begin().operation);
    for (const ThreadChange& change : timeline.changes()) {
      note(change.time_ns, change.doing.operation());
    }
  }
  return flat;
}

Flat ExpectedFlat(const Json& list) {
  Flat flat;
  for (const Json& one : list) flat.emplace_back(one[0], Ns(one[1]), Ns(one[2]));
  return flat;
}

TEST(OverlapCasesTest, FlattenedOperationsAreThoseOfRlScope) {
  const Json cases = Cases("op_flatten_cases");
  ASSERT_EQ(cases.size(), 3u);
  for (const Json& one : cases) {
    const Flat flat = Flatten(one["input"]);
    EXPECT_EQ(flat, ExpectedFlat(one["expected"])) << one["id"];
    if (!one.contains("filtered")) continue;
    for (const auto& [name, list] : one["filtered"].items()) {
      Flat of_name = flat;
      std::erase_if(of_name,
                    [&name = name](const auto& part) { return std::get<0>(part) != name; });
      EXPECT_EQ(of_name, ExpectedFlat(list)) << one["id"] << " " << name;
    }
  }
}

}  // namespace
}  // namespace gpubound
