// SPDX-License-Identifier: Apache-2.0
//
// The threads of a process timeline: which of them a window has to follow. One object, one caller.
#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/timeline/process_timeline.h"

namespace gpubound {
namespace {

// A window holds about so many events of one thread, unless more happen at one instant: with as
// many calls, what a core's second cache holds of a few threads.
constexpr size_t kMostEvents = 2048;

// Of so many threads the first events are kept until they come; of others they are read again. A
// process seldom has more unless threads come and go.
constexpr uint32_t kMostOpen = 64;

}  // namespace

bool ProcessTimeline::Adopts(uint32_t thread) const {
  return thread != scan_.reporting &&
         (thread >= scan_.annotates.size() || !scan_.annotates[thread]);
}

void ProcessTimeline::AddThread() {
  ThreadTimeline::Input input;
  input.rules = &rules_;
  input.thread = static_cast<uint32_t>(threads_.size());
  input.reports = input.thread == scan_.reporting;
  input.adopts = Adopts(input.thread);
  // Of a thread that only makes calls nothing is known in between; it may well be asleep.
  input.base = input.adopts ? Layer::kUnset : base_layer_;
  input.calls = &call_index_;
  input.counts = &counts_;
  input.findings = &found_;
  const bool is_lane = input.thread < scan_.lane.size() && scan_.lane[input.thread];
  if (is_lane) input.lane = &lane_scopes_.emplace_back(process_);
  threads_.push_back(std::make_unique<ThreadTimeline>(input, EventsOf(input.thread)));
  if (input.thread < process_.threads.size()) {
    const int64_t began_ns = process_.threads[input.thread].began_ns;
    numbers_.Begins(input.thread, std::min(began_ns, threads_.back()->events().NextTime()));
  }
  const Doing& doing = threads_.back()->doing();
  lane_of_.push_back(is_lane ? static_cast<uint32_t>(lanes_.size()) : kNotOne);
  if (is_lane) lanes_.push_back({input.thread, InOwnLane(input.thread)});
  if (input.reports) reporting_ = doing;
  EnterRoster(input.thread);
}

ThreadStream ProcessTimeline::EventsOf(uint32_t thread) const {
  if (thread >= process_.threads.size()) return {};
  ThreadStream events(source_, thread);
  if (thread >= kMostOpen) events.Close();
  return events;
}

// Its events tell the process, or another thread may end a range of it at any time.
bool ProcessTimeline::NeverSleeps(uint32_t thread) const {
  return thread == scan_.reporting || threads_[thread]->ranges_open() != 0;
}

ThreadRoster::Sleeper ProcessTimeline::SleeperOf(uint32_t thread) const {
  const ThreadTimeline& of = *threads_[thread];
  return {{of.doing(), of.adopts()}, of.NextTime()};
}

void ProcessTimeline::EnterRoster(uint32_t thread) {
  if (!NeverSleeps(thread)) return roster_.AddAsleep(thread, SleeperOf(thread));
  threads_[thread]->events().Open();
  roster_.AddAwake(thread);
  roster_.Order();
}

std::optional<uint32_t> ProcessTimeline::WakeBefore(int64_t end_ns) {
  const std::optional<uint32_t> woken = roster_.WakeBefore(end_ns);
  if (woken) threads_[*woken]->events().Open();
  return woken;
}

// Wakes those that do something in the window, and says where it has to end for what they do. The
// events of a sleeper lie behind that end.
int64_t ProcessTimeline::WakeAndLimit(int64_t begin_ns, int64_t end_ns) {
  const auto limit = [&](uint32_t thread) {
    ThreadStream& events = threads_[thread]->events();
    const int64_t known_ns = std::max(events.KnownUntil(kMostEvents), begin_ns + 1);
    end_ns = std::min({end_ns, known_ns, events.NextCut(begin_ns)});
  };
  for (const uint32_t thread : roster_.awake()) limit(thread);
  while (const std::optional<uint32_t> woken = WakeBefore(end_ns)) limit(*woken);
  return end_ns;
}

// Those to which nothing happens for as long as the window was.
void ProcessTimeline::LetSleep(int64_t begin_ns, int64_t end_ns) {
  const int64_t length_ns = end_ns - begin_ns;
  const int64_t soon_ns = end_ns < kOpenEnded - length_ns ? end_ns + length_ns : kOpenEnded;
  roster_.SleepWhere([this, soon_ns](uint32_t thread) {
    std::optional<ThreadRoster::Sleeper> sleeper;
    if (threads_[thread]->NextTime() >= soon_ns && !NeverSleeps(thread)) {
      sleeper = SleeperOf(thread);
    }
    return sleeper;
  });
}

}  // namespace gpubound
