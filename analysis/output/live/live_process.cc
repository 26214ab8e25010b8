// SPDX-License-Identifier: Apache-2.0
//
// Follows one process. One object, one thread.
#include "analysis/output/live/live_process.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "analysis/trace/label_roles.h"
#include "analysis/trace/python_frames.h"

namespace gpubound {
namespace {

// CUPTI delivers about in order of time; what comes later than this is cut.
constexpr int64_t kLateWorkNs = 3'000'000'000;

}  // namespace

void LiveProcess::LearnNames() {
  if (operation_of_.size() == facts_.labels.size()) return;
  const bool own = std::any_of(facts_.labels.begin(), facts_.labels.end(), [](const Label& label) {
    return label.kind == LabelKind::kOperation;
  });
  for (size_t id = operation_of_.size(); id < facts_.labels.size(); ++id) {
    const Label& label = facts_.labels[id];
    if (label.kind != LabelKind::kCounter) continue;
    const auto* const found = std::find(kWorkCounters.begin(), kWorkCounters.end(), label.text);
    if (found == kWorkCounters.end()) continue;
    work_labels_[static_cast<LabelId>(id)] = static_cast<uint32_t>(found - kWorkCounters.begin());
  }
  ProcessTrace process;
  process.labels = facts_.labels;
  const std::vector<std::string> promoted;
  const std::vector<Peer> peers;
  LabelRoles::Input input;
  input.promoted = &promoted;
  input.annotations_serve = !own;
  input.peers = &peers;
  const LabelRoles roles(process, input);
  operation_of_.assign(facts_.labels.size(), kNone);
  for (size_t id = 0; id < facts_.labels.size(); ++id) {
    const OperationIndex operation = roles.Of(static_cast<LabelId>(id)).operation;
    if (operation == kNotOne) continue;
    const std::string& name = roles.operations()[operation];
    const auto known = std::find(names_.begin(), names_.end(), name);
    operation_of_[id] = static_cast<uint32_t>(known - names_.begin());
    if (known == names_.end()) names_.push_back(name);
  }
}

uint32_t LiveProcess::OperationOf(LabelId label) const {
  return Raw(label) < operation_of_.size() ? operation_of_[Raw(label)] : kNone;
}

uint32_t LiveProcess::Innermost(const Thread& thread) const {
  for (auto label = thread.open.rbegin(); label != thread.open.rend(); ++label) {
    const uint32_t operation = OperationOf(*label);
    if (operation != kNone) return operation;
  }
  return kNone;
}

void LiveProcess::Book(Thread* thread, int64_t now_ns) {
  const uint32_t operation = Innermost(*thread);
  if (thread->began && operation != kNone) {
    thread->times.Add({thread->last_ns, now_ns}, operation);
    thread->has_operation = true;
  }
  thread->began = true;
  thread->last_ns = std::max(thread->last_ns, now_ns);
}

void LiveProcess::Take(const ChunkRow& chunk) {
  if (chunk.family == EventFamily::kThread) TakeThread(chunk);
  if (chunk.family == EventFamily::kDevice) TakeDevice(chunk);
  if (chunk.family == EventFamily::kStack) TakeStacks(chunk);
}

void LiveProcess::TakeThread(const ChunkRow& chunk) {
  if (!decoder_.Decode(chunk, &thread_events_).ok() || thread_events_.size() == 0) return;
  Thread& thread = threads_[chunk.thread];
  const std::vector<ThreadEvent>& events = thread_events_.events;
  facts_.latest_ns = std::max(facts_.latest_ns, events.back().time_ns);
  // What is open in the beginning was so since the event before it, which may have been thinned.
  thread.open.assign(thread_events_.open_labels.begin(), thread_events_.open_labels.end());
  const int64_t first_ns = events.front().time_ns;
  if (!thread.began && !thread.open.empty()) {
    Book(&thread, std::min(first_ns, std::max(facts_.begin_ns, first_ns - kLiveMemoryNs)));
  }
  Book(&thread, first_ns);
  for (const ThreadEvent& event : events) {
    switch (event.kind) {
      case SlotKind::kBegin:
        Book(&thread, event.time_ns);
        thread.open.push_back(event.label);
        break;
      case SlotKind::kEnd: {
        Book(&thread, event.time_ns);
        const auto found = std::find(thread.open.rbegin(), thread.open.rend(), event.label);
        if (found != thread.open.rend()) thread.open.erase(std::next(found).base());
        break;
      }
      case SlotKind::kStep:
        if (event.payload != kIterationsBegin) steps_.Count(event.time_ns, 0, 1);
        break;
      case SlotKind::kCounter:
        TakeCounter(event);
        break;
      default:
        break;
    }
  }
  Book(&thread, events.back().time_ns);
}

void LiveProcess::TakeCounter(const ThreadEvent& event) {
  const auto which = work_labels_.find(event.label);
  const auto value = std::bit_cast<double>(event.payload);
  if (which == work_labels_.end() || !std::isfinite(value)) return;
  WorkCounted& counted = counted_[which->second];
  const double before = counted.last.value;
  counted.Add({event.time_ns, value});
  if (counted.count < 2) return;  // a running total may begin anywhere
  work_.Count(event.time_ns, which->second, std::llround(counted.grows ? value - before : value));
}

void LiveProcess::TakeDevice(const ChunkRow& chunk) {
  if (!decoder_.Decode(chunk, &device_events_).ok()) return;
  for (size_t i = 0; i < device_events_.size(); ++i) {
    const Interval time{device_events_.start_ns[i], device_events_.end_ns[i]};
    busy_.Add(time);
    const uint32_t stream = Raw(device_events_.stream[i]);
    const uint32_t id = stream < facts_.streams.size() ? Raw(facts_.streams[stream].device) : 0;
    const Device device = id < facts_.devices.size() ? facts_.devices[id] : Device{};
    new_work_[KeyOf(device)].push_back(time);
  }
}

// kNone: a frame that is not known.
uint32_t LiveProcess::LineOf(FrameId innermost) {
  const ProcessFacts& python = facts_.python;
  if (!python.HasFrame(innermost)) return kNone;
  const FrameId own = OwnFrame(innermost, python);
  const Frame& frame = python.FrameOf(own == FrameId{} ? innermost : own);
  const auto [found, is_new] =
      line_of_.try_emplace({frame.function, frame.line}, static_cast<uint32_t>(lines_.size()));
  if (is_new) lines_.push_back(found->first);
  return found->second;
}

// Looks lie about evenly in their stretch; those of a bucket count at its begin.
void LiveProcess::TakeStacks(const ChunkRow& chunk) {
  if (!decoder_.Decode(chunk, &stack_events_).ok()) return;
  const int64_t horizon_ns = chunk.max_ns - kLiveMemoryNs;
  for (size_t i = 0; i < stack_events_.size(); ++i) {
    StackLooks seen;
    seen.start_ns = stack_events_.start_ns[i];
    seen.end_ns = stack_events_.end_ns[i];
    seen.looks = stack_events_.looks[i];
    const uint32_t line = LineOf(stack_events_.frame[i]);
    if (line == kNone || seen.looks == 0 || seen.end_ns < seen.start_ns) continue;
    RecentTime& looks = looks_[stack_events_.tid[i]];
    int64_t at_ns = std::max(seen.start_ns, horizon_ns);
    for (uint32_t first = LooksBefore(seen, at_ns); first < seen.looks;) {
      const int64_t bucket_ns = WholeBuckets({at_ns, at_ns}).begin_ns;
      const uint32_t until = LooksBefore(seen, bucket_ns + kBucketNs);
      if (until > first) looks.Count(bucket_ns, line, until - first);
      first = until;
      at_ns = bucket_ns + kBucketNs;
    }
  }
}

int64_t LiveProcess::Until() const {
  if (facts_.end_ns) return *facts_.end_ns;
  return facts_.delivered_ns ? std::min(*facts_.delivered_ns, facts_.latest_ns) : facts_.latest_ns;
}

void LiveProcess::Forget() {
  if (Until() == INT64_MIN) return;  // nothing is known yet
  const int64_t horizon_ns = Until() - kLiveMemoryNs;
  for (auto& [ordinal, thread] : threads_) thread.times.DropBefore(horizon_ns);
  for (auto& [tid, looks] : looks_) looks.DropBefore(horizon_ns);
  steps_.DropBefore(horizon_ns);
  work_.DropBefore(horizon_ns);
  busy_.Settle(Until() - kLateWorkNs);
  busy_.DropBefore(horizon_ns);
}

// The main thread where it has operations, else the first that does.
std::optional<uint32_t> LiveProcess::ShownOrdinal() const {
  const auto main = threads_.find(facts_.main_thread);
  if (main != threads_.end() && main->second.has_operation) return main->first;
  for (const auto& [ordinal, thread] : threads_) {
    if (thread.has_operation || Innermost(thread) != kNone) return ordinal;
  }
  return std::nullopt;
}

const LiveProcess::Thread* LiveProcess::Shown() const {
  const std::optional<uint32_t> ordinal = ShownOrdinal();
  return ordinal ? &threads_.at(*ordinal) : nullptr;
}

bool LiveProcess::KnowsOperationsSince(int64_t time_ns) const {
  const bool ended_before = Ended() && facts_.end_ns.value_or(facts_.latest_ns) <= time_ns;
  if (names_.empty() || facts_.begin_ns >= time_ns || ended_before) return true;
  const Thread* thread = Shown();
  return thread != nullptr && thread->last_ns >= time_ns;
}

std::vector<int64_t> LiveProcess::OperationTimes(const Interval& window) const {
  const Thread* thread = Shown();
  if (thread == nullptr) return std::vector<int64_t>(names_.size());
  std::vector<int64_t> times = thread->times.SumOver(window, names_.size());
  // What is open goes on until its end is recorded, but not without the process.
  const uint32_t operation = Innermost(*thread);
  if (operation != kNone && !facts_.end_ns) {
    const int64_t until_ns = facts_.gone ? facts_.latest_ns : window.end_ns;
    times[operation] += Interval{thread->last_ns, until_ns}.ClippedTo(window).length();
  }
  return times;
}

std::optional<std::string> LiveProcess::OperationNow() const {
  const Thread* thread = Shown();
  if (thread == nullptr || Ended()) return std::nullopt;
  const uint32_t operation = Innermost(*thread);
  if (operation == kNone) return std::nullopt;
  return names_[operation];
}

std::vector<int64_t> LiveProcess::WorkIn(const Interval& window) const {
  return work_.SumOver(window, kWorkCounters.size());
}

// Where no thread has an operation, the main one's.
std::vector<int64_t> LiveProcess::LooksAtLines(const Interval& window) const {
  const uint32_t ordinal = ShownOrdinal().value_or(facts_.main_thread);
  const auto found = looks_.find(ordinal < facts_.tids.size() ? facts_.tids[ordinal] : uint32_t{0});
  if (found == looks_.end()) return std::vector<int64_t>(lines_.size());
  return found->second.SumOver(window, lines_.size());
}

int64_t LiveProcess::StepsIn(const Interval& window) const {
  return steps_.SumOver(window, 1).front();
}

}  // namespace gpubound
