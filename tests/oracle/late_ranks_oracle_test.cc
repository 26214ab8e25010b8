// SPDX-License-Identifier: Apache-2.0
//
// Who keeps the ranks of a collective waiting, on random runs, against the definition: instant by
// instant, and looking at all events for each.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analysis/reader/late_ranks.h"
#include "analysis/reader/wait_channels.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/late_rank_label.h"
#include "analysis/trace/run.h"
#include "proto/wake_tokens.h"
#include "tests/oracle/seeds.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kRuns = 2'000;
constexpr int64_t kLength = 60;
constexpr LabelId kCollective{1};
constexpr LabelId kBarrier{2};
constexpr LabelId kUpdate{3};
constexpr LabelId kReduction{4};

ThreadEvent Event(int64_t time_ns, SlotKind kind, LabelId label, uint64_t payload = 0) {
  ThreadEvent event;
  event.time_ns = time_ns;
  event.kind = kind;
  event.label = label;
  event.payload = payload;
  return event;
}

// A thread that goes from one wait to the next, some of which are one in a collective, as it says
// or not; with waits, operations and further collectives inside.
class RandomThread {
 public:
  explicit RandomThread(std::mt19937_64* random) : random_(*random) {}

  std::vector<ThreadEvent> Make() {
    while (now_ < kLength) Turn();
    return std::move(events_);
  }

 private:
  bool Maybe(int one_in) { return random_() % static_cast<uint64_t>(one_in) == 0; }
  uint64_t What() { return (Maybe(5) ? 0 : kShared) | (1 + random_() % 6); }
  void Put(SlotKind kind, LabelId label, uint64_t payload = 0) {
    events_.push_back(Event(now_, kind, label, payload));
    now_ += static_cast<int64_t>(random_() % 4);
  }
  void Turn() {
    const LabelId label = Maybe(3) ? kBarrier : Maybe(3) ? kReduction : kCollective;
    const uint64_t what = What();
    const bool enters_before = Maybe(2);
    if (enters_before) Put(SlotKind::kHandOver, LabelId{}, what);
    Put(SlotKind::kBegin, label);
    if (!enters_before && !Maybe(5)) Put(SlotKind::kHandOver, LabelId{}, what);
    if (Maybe(4)) Nested();
    now_ += static_cast<int64_t>(random_() % 8);
    if (!Maybe(5)) Put(SlotKind::kWoken, LabelId{}, what);
    if (Maybe(6)) Put(SlotKind::kWoken, LabelId{}, What());
    Put(SlotKind::kEnd, label);
  }
  void Nested() {
    const LabelId label = Maybe(2) ? kBarrier : kUpdate;
    Put(SlotKind::kBegin, label);
    if (Maybe(3)) Put(SlotKind::kWoken, LabelId{}, What());
    Put(SlotKind::kEnd, label);
  }

  std::mt19937_64& random_;
  std::vector<ThreadEvent> events_;
  int64_t now_ = 0;
};

gpubound::Run MakeRun(uint64_t seed) {
  std::mt19937_64 random(seed);
  gpubound::Run run;
  const int processes = 2 + static_cast<int>(random() % 3);
  for (int p = 0; p < processes; ++p) {
    ProcessTrace& process = run.processes.emplace_back();
    process.identity.host = random() % 5 == 0 ? "other" : "host";
    process.identity.pid = 100 + p;
    process.labels = {{},
                      {LabelKind::kLayer, Layer::kWait, kChannelDomain, "collective:[0]"},
                      {LabelKind::kLayer, Layer::kWait, "", "barrier"},
                      {LabelKind::kOperation, Layer::kUnset, "", "update"},
                      {LabelKind::kLayer, Layer::kWait, kChannelDomain, "reduction:[0]"}};
    const int threads = 1 + static_cast<int>(random() % 2);
    for (int t = 0; t < threads; ++t) {
      process.threads.emplace_back().events = RandomThread(&random).Make();
    }
  }
  return run;
}

// The outermost wait of a thread around |events[at]|, as numbers of its begin and its end.
using WaitEvents = std::pair<size_t, size_t>;
std::vector<WaitEvents> OutermostWaits(const std::vector<ThreadEvent>& events) {
  std::vector<WaitEvents> waits;
  int depth = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const LabelId label = events[i].label;
    if (label != kCollective && label != kBarrier && label != kReduction) continue;
    if (events[i].kind == SlotKind::kBegin && depth++ == 0) waits.push_back({i, events.size()});
    if (events[i].kind == SlotKind::kEnd && --depth == 0) waits.back().second = i;
  }
  return waits;
}

// For whom the thread waits at |t|, by the definition; 0: for nobody that is known.
int64_t AwaitedNaively(const gpubound::Run& run, size_t p, const std::vector<ThreadEvent>& events,
                       int64_t t) {
  for (const auto& [begin, end] : OutermostWaits(events)) {
    size_t over = begin;
    while (over < end && !(events[over].kind == SlotKind::kWoken && IsShared(events[over].payload)))
      ++over;
    if (over == end || t < events[begin].time_ns || t >= events[over].time_ns) continue;
    int64_t counted_until_ns = INT64_MAX;  // who says later that it has entered, has by then
    for (const ProcessTrace& process : run.processes) {
      if (process.identity.host != run.processes[p].identity.host) continue;
      for (const ThreadTrace& thread : process.threads) {
        for (const ThreadEvent& event : thread.events) {
          if (event.kind != SlotKind::kWoken || event.payload != events[over].payload) continue;
          if (events[begin].label != kReduction) continue;
          counted_until_ns = std::min(counted_until_ns, event.time_ns);
        }
      }
    }
    int64_t last_ns = events[begin].time_ns;
    int64_t last = 0;
    for (size_t other = 0; other < run.processes.size(); ++other) {
      const ProcessTrace& process = run.processes[other];
      if (other == p || process.identity.host != run.processes[p].identity.host) continue;
      for (const ThreadTrace& thread : process.threads) {
        for (const ThreadEvent& event : thread.events) {
          if (!IsWake(event) || event.payload != events[over].payload) continue;
          const int64_t entered_ns = std::min(event.time_ns, counted_until_ns);
          if (entered_ns <= last_ns || entered_ns > events[over].time_ns) continue;
          last_ns = entered_ns;
          last = process.identity.pid;
        }
      }
    }
    return t < last_ns ? last : 0;
  }
  return 0;
}

// The same as the scopes have it that lie in the thread's events now.
int64_t Awaited(const ProcessTrace& process, const std::vector<ThreadEvent>& events, int64_t t) {
  std::vector<LabelId> open;
  for (const ThreadEvent& event : events) {
    if (event.time_ns > t) break;
    if (event.kind == SlotKind::kBegin) open.push_back(event.label);
    if (event.kind != SlotKind::kEnd) continue;
    for (size_t i = open.size(); i-- > 0;) {
      if (open[i] != event.label) continue;
      open.erase(open.begin() + static_cast<ptrdiff_t>(i));
      break;
    }
  }
  for (const LabelId label : open) {
    const Label& of = process.labels[Raw(label)];
    if (of.domain == kLateRankDomain) return AwaitedPids(of).front();
  }
  return 0;
}

// Without what stands for the ranks that were waited for, scopes are open as they were.
std::vector<std::pair<int64_t, LabelId>> OtherScopes(const std::vector<ThreadEvent>& events) {
  std::map<std::pair<int64_t, LabelId>, int> balance;
  for (const ThreadEvent& event : events) {
    if (event.label != kBarrier && event.label != kUpdate) continue;
    balance[{event.time_ns, event.label}] += event.kind == SlotKind::kBegin ? 1 : -1;
  }
  std::vector<std::pair<int64_t, LabelId>> changes;
  for (const auto& [at, sum] : balance) {
    if (sum != 0 && at.second == kUpdate) changes.push_back(at);
  }
  return changes;
}

TEST(LateRanksOracleTest, EachRankWaitsForTheLastOtherOneUntilThatHasEntered) {
  const Seeds seeds(kRuns);
  uint64_t waited = 0;
  for (const uint64_t seed : seeds) {
    const gpubound::Run recorded = MakeRun(seed);
    gpubound::Run run = recorded;
    NameLateRanks(&run);
    for (size_t p = 0; p < run.processes.size(); ++p) {
      for (size_t thread = 0; thread < run.processes[p].threads.size(); ++thread) {
        const auto& before = recorded.processes[p].threads[thread].events;
        const auto& after = run.processes[p].threads[thread].events;
        ASSERT_EQ(OtherScopes(before), OtherScopes(after)) << "seed " << seed;
        for (size_t i = 1; i < after.size(); ++i) {
          ASSERT_GE(after[i].time_ns, after[i - 1].time_ns) << "seed " << seed;
        }
        for (int64_t t = 0; t < kLength + 10; ++t) {
          const int64_t expected = AwaitedNaively(recorded, p, before, t);
          ASSERT_EQ(Awaited(run.processes[p], after, t), expected)
              << "seed " << seed << " process " << p << " thread " << thread << " at " << t;
          waited += expected != 0 ? 1 : 0;
        }
      }
    }
  }
  if (seeds.is_one()) return;
  EXPECT_GT(waited, seeds.size()) << "hardly anybody waited";
}

}  // namespace
}  // namespace gpubound::oracle
