// SPDX-License-Identifier: Apache-2.0
//
// RL-Scope's own overlap tests, restated as data (data/overlap.json), through our sweep and our
// timeline.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analysis/interval.h"
#include "analysis/memory_source.h"
#include "analysis/process_timeline.h"

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

using SetTimes = std::map<std::set<std::string>, int64_t>;

SetTimes OverlapOf(const Json& input) {
  std::vector<std::string> names;
  std::vector<std::vector<Interval>> categories;
  for (const auto& [name, list] : input.items()) {
    names.push_back(name);
    categories.push_back(Intervals(list));
  }
  const OverlapByMask overlap = OverlapOfSets(categories, {0, 1'000'000});
  SetTimes times;
  for (size_t mask = 1; mask < overlap.size(); ++mask) {
    if (overlap[mask] == 0) continue;
    std::set<std::string> set;
    for (size_t i = 0; i < names.size(); ++i) {
      if ((mask >> i & 1) != 0) set.insert(names[i]);
    }
    times[set] = overlap[mask];
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

  ProcessTrace process;
  process.labels.resize(1);
  process.threads.resize(1);
  process.threads[0].tid = process.main_tid = 1;
  for (const Scope& scope : scopes) {
    process.labels.push_back({LabelKind::kOperation, Layer::kUnset, "", scope.name});
    const auto label = static_cast<LabelId>(process.labels.size() - 1);
    process.threads[0].events.push_back({scope.time.begin_ns, 0, label, SlotKind::kBegin});
    process.threads[0].events.push_back({scope.time.end_ns, 0, label, SlotKind::kEnd});
    process.span_end_ns = std::max(process.span_end_ns, scope.time.end_ns);
  }
  std::stable_sort(
      process.threads[0].events.begin(), process.threads[0].events.end(),
      [](const ThreadEvent& a, const ThreadEvent& b) { return a.time_ns < b.time_ns; });

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
