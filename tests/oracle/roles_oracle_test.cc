// SPDX-License-Identifier: Apache-2.0
//
// Roles, bubbles, overlap and tails of random runs against the naive oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdio>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/processes/run_frame.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/report/report_training.h"
#include "tests/oracle/naive_roles.h"
#include "tests/oracle/random_waits.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/shrink_run.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 2'000;

using Figures = std::map<std::string, int64_t>;

// Gives the processes of a random run something to have roles by: names of operations that say one, a
// variable, counters; some of the words are none.
gpubound::Run MakeRandomRoles(uint64_t seed) {
  gpubound::Run run = MakeRandomWaits(seed);
  std::mt19937_64 random(seed ^ 0x401e5);
  const auto any = [&random](const std::vector<std::string>& of) {
    return of[random() % of.size()];
  };
  const std::vector<std::string> roles = {"environment", "rollout", "rollout", "reward",
                                          "data",        "train",   "train",   "critic"};
  // Half of the runs have one trainer, and workers that make its samples.
  const bool usual = random() % 2 == 0;
  for (ProcessTrace& process : run.processes) {
    const std::string a = any({"a", "weight_sync", "inference", "reward"});
    const std::string b = any({"b", "update", "update", "weight_sync", "backpropagation"});
    for (Label& label : process.labels) {
      if (label.kind != LabelKind::kOperation) continue;
      if (label.text == "a") label.text = a;
      if (label.text == "b") label.text = b;
    }
    if (usual) {
      process.role = &process == &run.processes.front() ? "train" : "rollout";
      continue;
    }
    if (random() % 4 == 0) process.role = any(roles);
    if (random() % 3 != 0) continue;
    for (uint64_t left = 1 + random() % 3; left > 0; --left) {
      const auto label = static_cast<LabelId>(process.labels.size());
      process.labels.push_back({LabelKind::kCounter, Layer::kUnset, "", "role:" + any(roles)});
      std::vector<ThreadEvent>& events = process.threads[random() % process.threads.size()].events;
      const auto time_ns = static_cast<int64_t>(random() % 70);
      const auto place = std::upper_bound(
          events.begin(), events.end(), time_ns,
          [](int64_t time, const ThreadEvent& event) { return time < event.time_ns; });
      events.insert(place, {time_ns, std::bit_cast<uint64_t>(1.0), label, SlotKind::kCounter});
    }
  }
  return run;
}

void AddRole(const ReportRole& role, const gpubound::Run& run, Figures* all) {
  (*all)["role " + role.role + " active"] = role.active_ns;
  (*all)[role.role + " busy"] = role.busy_ns;
  (*all)[role.role + " unknown"] = role.unknown_ns;
  int64_t idle_ns = 0;
  for (const ReportBubble& bubble : role.bubbles) {
    (*all)[role.role + " " + bubble.cause] = bubble.ns;
    idle_ns += bubble.ns;
  }
  EXPECT_EQ(idle_ns, role.idle_ns);
  EXPECT_EQ(role.held_ns, role.busy_ns + role.idle_ns + role.unknown_ns);
  size_t next = 0;
  for (const ReportRoleProcess& process : role.processes) {
    while (run.processes[next].identity.pid != process.pid ||
           run.processes[next].identity.host != process.host) {
      ++next;
    }
    // By exec a pid may be several, and only those are here that had the role.
    (*all)[process.host + " " + std::to_string(process.pid) + " " + role.role] += process.ns;
    (*all)[process.host + " " + std::to_string(process.pid) + " " + role.role + " active"] +=
        process.active_ns;
  }
}

Figures Reported(const gpubound::Run& run) {
  BreakdownOptions options;
  options.window = ReportWindow::kWhole;
  const Result<Report> report = BuildReport(run, options);
  if (!report.ok()) return {{report.error().ToString(), 1}};
  if (report->run.training == nullptr || !report->run.training->roles) return {};
  const ReportRoles& roles = *report->run.training->roles;
  Figures all = {{"perfect", roles.perfect_overlap_ns}};
  for (const ReportRole& role : roles.roles) AddRole(role, run, &all);
  int64_t ns = 0;
  for (const ReportRoleOverlap& row : roles.overlap) {
    std::string together = "active";
    for (const std::string& role : row.roles) together += " " + role;
    all[together] = row.ns;
    ns += row.ns;
  }
  EXPECT_EQ(ns, roles.ns);
  if (roles.tail) {
    const ReportTail& tail = *roles.tail;
    all["rollouts"] = static_cast<int64_t>(tail.rollouts);
    all["parts"] = static_cast<int64_t>(tail.parts);
    all["median"] = tail.median_ns;
    all["p95"] = tail.p95_ns;
    all["max"] = tail.max_ns;
    all["rollout time"] = tail.rollout_ns;
    all["tail time"] = tail.tail_ns;
    all["held in tails"] = tail.held_ns;
    all["busy in tails"] = tail.busy_ns;
  }
  std::erase_if(all, [](const auto& figure) { return figure.second == 0; });
  return all;
}

// As Reported() names processes.
Figures CountedNaively(const gpubound::Run& run) {
  Figures named;
  for (const auto& [name, value] : RolesNaively(run, FrameOf(run).span)) {
    if (name[0] < '0' || name[0] > '9') {
      named[name] = value;
      continue;
    }
    const ProcessIdentity& identity = run.processes[std::stoul(name)].identity;
    named[identity.host + " " + std::to_string(identity.pid) + name.substr(name.find(' '))] +=
        value;
  }
  return named;
}

std::string Difference(const Figures& found, const Figures& expected) {
  std::string text;
  Figures both = found;
  both.insert(expected.begin(), expected.end());
  for (const auto& [name, value] : both) {
    const int64_t has = found.contains(name) ? found.at(name) : 0;
    const int64_t should = expected.contains(name) ? expected.at(name) : 0;
    if (has == should) continue;
    text += "  " + name + ": " + std::to_string(has) + ", not " + std::to_string(should) + "\n";
  }
  return text;
}

std::string Check(const gpubound::Run& recorded) {
  gpubound::Run run = recorded;
  NameAwaitedProcesses(&run);
  return Difference(Reported(run), CountedNaively(recorded));
}

TEST(RolesOracleTest, BubblesOverlapAndTailsAreThoseOfTheNaiveOracle) {
  const Seeds seeds(kRuns);
  std::printf("%s\n", seeds.InWords().c_str());
  Figures seen;
  for (const uint64_t seed : seeds) {
    const gpubound::Run run = MakeRandomRoles(seed);
    for (const auto& [name, value] : CountedNaively(run)) seen[name] += value;
    if (Check(run).empty()) continue;
    const gpubound::Run less =
        Shrunk(run, [](const gpubound::Run& part) { return !Check(part).empty(); });
    FAIL() << ToReproduce(seed) << "\nof which this is enough:\n" << InWords(less) << Check(less);
  }
  if (seeds.is_one()) return;
  // Each figure comes up, so that none is right for never being there.
  for (const char* figure :
       {"train starved", "rollout blocked", "rollout tail", "train tail", "rollout weight sync",
        "rollout environment or reward", "train environment or reward", "rollout start-up",
        "rollout other", "rollout busy", "rollout unknown", "busy in tails"}) {
    EXPECT_GT(seen[figure], 0) << figure;
  }
}

}  // namespace
}  // namespace gpubound::oracle
