// SPDX-License-Identifier: Apache-2.0
//
// The limits of device work. One object, one caller.
#include "analysis/replay/replay_device.h"

#include <algorithm>
#include <limits>

#include "analysis/replay/copy_kinds.h"

namespace gpubound {
namespace {

// Kinds of resource on a device.
enum ResourceKind : uint32_t { kComputeSlot = 0, kCopyIn, kCopyOut, kCopyOther, kResourceKinds };

constexpr double kNever = std::numeric_limits<double>::infinity();

void Add(int64_t end_ns, const Moment& end, DoneWork* done) {
  done->end_ns = std::max(done->end_ns, end_ns);
  done->done = Later(done->done, end);
}

}  // namespace

ReplayDevice::ReplayDevice(const ProcessTrace& process, PathLog* path, SharedDevices* shared)
    : process_(process), path_(path), shared_(shared) {
  for (const ContextInfo& context : process.contexts) {
    if (context.is_green && context.parent != 0) made_of_[context.context] = context.parent;
  }
  for (const gpubound::Stream& stream : process.streams) {
    if (stream.context == 0) continue;
    context_done_.try_emplace(stream.context);
    if (const auto green = made_of_.find(stream.context); green != made_of_.end()) {
      context_done_.try_emplace(green->second);
    }
  }
}

ReplayDevice::Stream& ReplayDevice::StreamAt(StreamId id) {
  while (streams_.size() <= Raw(id)) {
    const auto& next = process_.StreamOf(static_cast<StreamId>(streams_.size()));
    Stream& added = streams_.emplace_back();
    added.device = Raw(next.device);
    added.context = next.context;
  }
  return streams_[Raw(id)];
}

uint32_t ReplayDevice::ResourceOf(const DeviceWork& work, uint32_t device) const {
  const WorkInfo& info = process_.WorkOf(work.work).info;
  uint32_t kind = kComputeSlot;
  if (info.kind == WorkKind::kMemcpy) {
    kind = info.copy_kind == kCopyHostToDevice   ? kCopyIn
           : info.copy_kind == kCopyDeviceToHost ? kCopyOut
                                                 : kCopyOther;
  }
  return device * kResourceKinds + kind;
}

void ReplayDevice::RetireStream(Stream* stream, int64_t until_ns) {
  stream->running.EraseIf([&](const Running& work) {
    if (work.end_ns > until_ns) return false;
    Add(work.end_ns, work.end, &stream->done);
    return true;
  });
}

void ReplayDevice::Retire(int64_t until_ns) {
  while (!running_.empty() && running_.front().end_ns <= until_ns) {
    std::pop_heap(running_.begin(), running_.end(), EndsLater);
    const Running& ended = running_.back();
    --resources_[ended.resource].running;
    Add(ended.end_ns, ended.end, &all_done_);
    NoteContext(ended);
    last_ended_ = {ended.end_ns, ended.end};
    Device& device = devices_[ended.resource / kResourceKinds];
    device.last_ended = last_ended_;
    device.last_resource = ended.resource;
    running_.pop_back();
  }
}

const DoneWork& ReplayDevice::StreamDone(StreamId stream, int64_t until_ns) {
  Stream& found = StreamAt(stream);
  RetireStream(&found, until_ns);
  return found.done;
}

const DoneWork& ReplayDevice::AllDone(int64_t until_ns) {
  Retire(until_ns);
  return all_done_;
}

void ReplayDevice::NoteContext(const Running& ended) {
  if (context_done_.size() <= 1) return;  // the same as of all
  const auto done = context_done_.find(ended.context);
  if (done == context_done_.end()) return;
  Add(ended.end_ns, ended.end, &done->second);
  const auto green = made_of_.find(ended.context);
  if (green != made_of_.end()) Add(ended.end_ns, ended.end, &context_done_[green->second]);
}

const DoneWork& ReplayDevice::ContextDone(uint32_t context, int64_t until_ns) {
  Retire(until_ns);
  if (context_done_.size() <= 1) return all_done_;
  const auto done = context_done_.find(context);
  return done == context_done_.end() ? all_done_ : done->second;
}

const DoneWork& ReplayDevice::LastEnded(int64_t until_ns) {
  Retire(until_ns);
  return last_ended_;
}

void ReplayDevice::WaitFor(StreamId stream, const DoneWork& done) {
  Add(done.end_ns, done.done, &StreamAt(stream).waits_for);
}

// Whether the call that launched work, which is open still, decided when it started by its own
// part, |unexplained| longer than usual, rather than other work that had ended |delay| before.
bool ReplayDevice::OwnPartDecided(const LaunchAnchor& launch, double unexplained,
                                  double delay) const {
  if (launch.own_part == nullptr || !latency_.known()) return false;
  return launch.own_part->Strangeness(launch.own_ns + unexplained) <= gap_.Strangeness(delay);
}

// Whether its launch and not its stream decided when work started, |unexplained| longer after the
// launch than usual or |gap| after what came before it in its stream.
bool ReplayDevice::LaunchDecided(const LaunchAnchor& launch, double unexplained, double gap) const {
  const double by_stream = gap - std::min(gap_.ns(), gap);
  if (launch.own_part == nullptr || !latency_.known()) return unexplained <= by_stream;
  return OwnPartDecided(launch, unexplained, gap);
}

ReplayDevice::Limits ReplayDevice::Explain(const DeviceWork& work, const LaunchAnchor& launch,
                                           const Stream& stream, uint32_t index) {
  const auto since = [&work](int64_t ns) { return static_cast<double>(work.start_ns - ns); };
  Resource& resource = resources_[index];
  const double latency = since(launch.at_ns);
  const bool has_before = stream.done.done.exists();
  const double gap = has_before ? since(stream.done.end_ns) : kNever;
  const bool stream_was_idle = !has_before || stream.done.end_ns <= launch.at_ns;

  Limits limits;
  // While nothing is known of the latency, a launch on an idle stream explains all of it.
  const bool guess = !latency_.known() && stream_was_idle;
  limits.latency = guess ? latency : std::min(latency_.ns(), latency);
  limits.gap = has_before ? std::min(gap_.ns(), gap) : 0;
  limits.hand_over = resource.hand_over.ns();
  const bool has_wait = stream.waits_for.end_ns <= work.start_ns && stream.waits_for.done.exists();
  const double wait = has_wait ? since(stream.waits_for.end_ns) : kNever;
  limits.wait = has_wait ? std::min(gap_.ns(), wait) : 0;
  const double unexplained =
      std::min({latency - limits.latency, gap - limits.gap, wait - limits.wait});

  const Device& device = devices_[stream.device];
  const double other = device.last_ended.done.exists() ? since(device.last_ended.end_ns) : kNever;
  if (unexplained > 0 && other < unexplained &&
      !OwnPartDecided(launch, latency - limits.latency, other)) {
    // Work that waits for a slot starts with as many beside it as ever run at the same time.
    const uint32_t together = resource.running + 1;
    const bool same = device.last_resource == index;
    if (same && together >= resource.most) resource.slots = together;
    limits.slot = same && together == resource.slots;
    if (limits.slot) {
      limits.hand_over = other;
    } else {
      limits.other = &device.last_ended;
    }
  } else if (wait - limits.wait < std::min(latency - limits.latency, gap - limits.gap)) {
    limits.wait = wait;
  } else if (LaunchDecided(launch, latency - limits.latency, gap)) {
    if (!launch.moved) limits.latency = latency;
    if (launch.own_part != nullptr && !guess) {
      const double own_ns = launch.own_ns + latency - latency_.ns();
      limits.latency += launch.own_part->Likely(own_ns, launch.own_variance) - own_ns;
      limits.deviation = launch.own_part->DeviationOf(launch.own_variance);
      launch.own_part->Add(own_ns, stream_was_idle);
    }
    const bool undisturbed = stream_was_idle && resource.running == 0;
    if (undisturbed && launch.tells_latency) latency_.Add(latency);
  } else {
    limits.gap = gap;
    if (resource.running == 0) gap_.Add(gap);
    if (launch.own_part != nullptr && !guess) {
      launch.own_part->AddBelow(launch.own_ns + latency - latency_.ns());
    }
  }
  return limits;
}

bool ReplayDevice::IsOtherEndOf(const DeviceWork& copy, const DeviceWork& work) const {
  return process_.WorkOf(work.work).info.is_other_end() &&
         !process_.WorkOf(copy.work).info.is_other_end() && copy.start_ns == work.start_ns &&
         copy.end_ns == work.end_ns && copy.correlation == work.correlation &&
         copy.graph_node == work.graph_node;
}

Moment ReplayDevice::PlaceAmongOthers(const DeviceWork& work, uint32_t kind, const Moment& ready,
                                      double duration, Resource* resource) {
  if (resource->shared == nullptr) {
    const DeviceId device = process_.StreamOf(work.stream).device;
    resource->shared = &shared_->LineOf(process_.DeviceOf(device), kind);
  }
  const uint32_t of_one_run = std::max(1u, resource->most);
  const uint32_t slots = kind == kComputeSlot ? of_one_run * shared_->runs_beside() : of_one_run;
  const SlotLine::Slot slot = resource->shared->Take(slots, ready, resource->hand_over.ns());
  resource->shared->Hold(slots, slot.from, slot.start.After(duration));
  return slot.start;
}

ReplayDevice::Times ReplayDevice::Start(const DeviceWork& work, const LaunchAnchor& launch,
                                        double scale) {
  Stream& stream = StreamAt(work.stream);
  const uint32_t index = ResourceOf(work, stream.device);
  if (resources_.size() <= index) resources_.resize(index + 1);
  if (devices_.size() <= stream.device) devices_.resize(stream.device + 1);
  Retire(work.start_ns);
  RetireStream(&stream, work.start_ns);

  Resource& resource = resources_[index];
  if (IsOtherEndOf(copy_, work)) {
    ++resource.running;
    AddRunning(&stream, {std::max(work.start_ns, work.end_ns), index, stream.context, copied_.end});
    return copied_;
  }
  Limits limits = Explain(work, launch, stream, index);
  ++resource.running;
  resource.most = std::max(resource.most, resource.running);
  if (resource.most > resource.slots) resource.slots = 0;  // it was no limit after all
  const Moment recorded = Recorded(work.start_ns);
  SlotLine::Slot recorded_slot{recorded, recorded.at};
  if (limits.slot) {
    Moment recorded_ready = Recorded(launch.at_ns).After(limits.latency);
    if (stream.done.done.exists()) {
      recorded_ready = Later(recorded_ready, Recorded(stream.done.end_ns).After(limits.gap));
    }
    if (stream.waits_for.end_ns <= work.start_ns && stream.waits_for.done.exists()) {
      recorded_ready = Later(recorded_ready, Recorded(stream.waits_for.end_ns).After(limits.wait));
    }
    const SlotLine::Slot by_slot =
        resource.recorded_line.Take(resource.slots, recorded_ready, limits.hand_over);
    if (by_slot.start.at == recorded.at) {
      recorded_slot = by_slot;
      resource.hand_over.Add(limits.hand_over);
    } else {  // a slot was free; it waited for that work itself
      limits.other = &devices_[stream.device].last_ended;
      limits.hand_over = resource.hand_over.ns();
    }
  }

  Moment ready = launch.at.After(limits.latency);
  if (stream.done.done.exists()) {
    const Moment after = stream.done.done.After(launch.goes_on ? 0 : limits.gap);
    ready = Later(ready, after).After(LaterBy(ready.at, after.at, limits.deviation));
  }
  if (limits.other != nullptr) {
    const auto delay = static_cast<double>(work.start_ns - limits.other->end_ns);
    ready = Later(ready, limits.other->done.After(delay));
  }
  if (stream.waits_for.end_ns <= work.start_ns) {
    ready = Later(ready, stream.waits_for.done.After(limits.wait));
  }
  stream.waits_for = {};

  const SlotLine::Slot slot = resource.line.Take(resource.slots, ready, limits.hand_over);
  Times times;
  times.start = slot.start;
  const auto duration = static_cast<double>(std::max<int64_t>(0, work.end_ns - work.start_ns));
  if (shared_ != nullptr) {
    times.start =
        PlaceAmongOthers(work, index % kResourceKinds, slot.start, duration * scale, &resource);
  }
  times.end = times.start.After(duration * scale);
  if (path_ != nullptr) {
    times.end.step = path_->Add(times.start.step, launch.path_part, times.end.at);
  }
  resource.line.Hold(resource.slots, slot.from, times.end);
  resource.recorded_line.Hold(resource.slots, recorded_slot.from, recorded.After(duration));
  AddRunning(&stream, {std::max(work.start_ns, work.end_ns), index, stream.context, times.end});
  copy_ = work;
  copied_ = times;
  return times;
}

void ReplayDevice::AddRunning(Stream* stream, const Running& running) {
  stream->running.push_back(running);
  running_.push_back(running);
  std::push_heap(running_.begin(), running_.end(), EndsLater);
}

}  // namespace gpubound
