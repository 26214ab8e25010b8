// SPDX-License-Identifier: Apache-2.0
//
// Two passes: the first over processes alone finds rollouts, the second takes devices along. What
// holds is counted when it changes, so that a kernel costs its own device and nothing else.
#include "analysis/attribution/role_sweep.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <optional>
#include <queue>
#include <set>
#include <utility>

#include "analysis/processes/device_table.h"
#include "analysis/processes/process_activity.h"

namespace gpubound {
namespace {

constexpr RoleMask MaskOf(ProcessRole role) { return RoleMask{1} << static_cast<uint32_t>(role); }

bool GivesSamples(ProcessRole role) {
  return role == ProcessRole::kEnvironment || role == ProcessRole::kReward;
}

// What all processes do at one instant, and which of them wait for which others then.
class RoleStates {
 public:
  explicit RoleStates(const std::vector<RoleTimeline>& processes)
      : processes_(processes), next_(processes.size()), now_(processes.size()) {
    clients_.resize(processes.size());
    for (size_t p = 0; p < processes.size(); ++p) {
      std::set<size_t> awaited;
      for (const RoleChange& change : processes[p].changes) {
        if (change.state.peer == kNotOne) continue;
        const std::vector<size_t>& peers = processes[p].peers[change.state.peer];
        awaited.insert(peers.begin(), peers.end());
      }
      for (const size_t other : awaited) clients_[other].push_back(p);
    }
  }

  // When something of |p| changes next; kOpenEnded: never.
  int64_t NextTime(size_t p) const {
    const std::vector<RoleChange>& changes = processes_[p].changes;
    if (next_[p] < changes.size()) return changes[next_[p]].time_ns;
    return now_[p] ? processes_[p].span.end_ns : kOpenEnded;
  }
  void Take(size_t p) {
    const std::vector<RoleChange>& changes = processes_[p].changes;
    if (next_[p] < changes.size()) {
      now_[p] = changes[next_[p]++].state;
    } else {
      now_[p].reset();
    }
  }

  size_t size() const { return now_.size(); }
  // Null: the process is not there.
  const RoleState* Of(size_t p) const { return now_[p] ? &*now_[p] : nullptr; }

  // Calls |take| with each of those that |p| waits for, and says whether there are any. One that waits
  // for nobody known outside of any operation waits for orders, which come from those who wait for it
  // at other times.
  template <typename Take>
  bool ForAwaited(size_t p, Take take) const {
    const RoleState& state = *now_[p];
    if (!state.waits || (state.peer == kNotOne && state.in_operation)) return false;
    bool any = false;
    for (const size_t other :
         state.peer == kNotOne ? clients_[p] : processes_[p].peers[state.peer]) {
      if (other == p || !now_[other]) continue;
      any = true;
      take(other);
    }
    return any;
  }

  // At the end of the chain of those who wait for each other, after |p|: who works, or waits for
  // nobody known. Of a circle those that |p| waits for itself. Valid until the next call.
  const std::vector<size_t>& HoldingUp(size_t p) {
    reached_.clear();
    last_.clear();
    seen_.assign(now_.size(), false);
    seen_[p] = true;
    const auto reach = [this](size_t other) {
      if (seen_[other]) return;
      seen_[other] = true;
      reached_.push_back(other);
    };
    ForAwaited(p, reach);
    const size_t first = reached_.size();
    for (size_t next = 0; next < reached_.size(); ++next) {
      if (!ForAwaited(reached_[next], reach)) last_.push_back(reached_[next]);
    }
    if (last_.empty())
      last_.assign(reached_.begin(), reached_.begin() + static_cast<std::ptrdiff_t>(first));
    return last_;
  }

 private:
  const std::vector<RoleTimeline>& processes_;
  std::vector<size_t> next_;  // by process, as all here
  std::vector<std::optional<RoleState>> now_;
  std::vector<std::vector<size_t>> clients_;  // that ever wait for it
  std::vector<bool> seen_;
  std::vector<size_t> reached_;
  std::vector<size_t> last_;
};

// Whether |p| may be making samples: it has the role rollout and does not wait for those that consume
// them, or for its like.
bool MayRoll(const RoleStates& states, const std::vector<RoleTimeline>& processes, size_t p) {
  const RoleState* const state = states.Of(p);
  if (state == nullptr || state->role != ProcessRole::kRollout) return false;
  if (state->work == RoleWork::kStartsUp || state->work == RoleWork::kSyncs) return false;
  if (!state->waits) return true;
  if (state->peer == kNotOne) return state->in_operation;
  bool any = false;
  for (const size_t other : processes[p].peers[state->peer]) {
    const RoleState* const its = other == p ? nullptr : states.Of(other);
    if (its == nullptr) continue;
    any = true;
    const bool makes = its->role == ProcessRole::kNone &&
                       (its->work == RoleWork::kSimulates || its->work == RoleWork::kRewards);
    if (!GivesSamples(its->role) && !makes) return false;
  }
  return any || state->in_operation;
}

// What is due first, of many streams.
using Due = std::pair<int64_t, size_t>;
using DueFirst = std::priority_queue<Due, std::vector<Due>, std::greater<>>;

class RolloutFinder {
 public:
  RolloutFinder(const std::vector<RoleTimeline>& processes, const Interval& window)
      : processes_(processes),
        window_(window),
        states_(processes),
        opens_operations_(processes.size()),
        rolls_(processes.size()),
        part_(processes.size()) {
    for (size_t p = 0; p < processes.size(); ++p) {
      const std::vector<RoleChange>& changes = processes[p].changes;
      opens_operations_[p] =
          std::any_of(changes.begin(), changes.end(), [](const RoleChange& change) {
            return change.state.role == ProcessRole::kRollout && change.state.in_operation &&
                   change.state.work != RoleWork::kSyncs;
          });
    }
  }

  std::vector<RolloutTime> Find() {
    DueFirst due;
    for (size_t p = 0; p < processes_.size(); ++p) due.emplace(states_.NextTime(p), p);
    while (!due.empty() && due.top().first < window_.end_ns) {
      const int64_t now_ns = due.top().first;
      while (!due.empty() && due.top().first == now_ns) {
        const size_t p = due.top().second;
        due.pop();
        states_.Take(p);
        const int64_t next_ns = states_.NextTime(p);
        if (next_ns != kOpenEnded) due.emplace(next_ns, p);
      }
      At(now_ns);
    }
    return std::move(found_);
  }

 private:
  void At(int64_t now_ns) {
    for (size_t p = 0; p < processes_.size(); ++p) {
      // Between two waits a process may do little, as to see what it was sent: what it makes begins
      // with an operation, if it opens any.
      const bool rolls = MayRoll(states_, processes_, p) &&
                         (rolls_[p] || !opens_operations_[p] || states_.Of(p)->in_operation);
      if (rolls == rolls_[p]) continue;
      rolls_[p] = rolls;
      rolling_ += rolls ? 1 : SIZE_MAX;
      Interval& part = part_[p];
      if (rolls && part.empty()) part.begin_ns = now_ns;
      part.end_ns = rolls ? kOpenEnded : now_ns;
    }
    // One that ends where another begins goes on.
    if (rolling_ > 0 && begin_ns_ == kOpenEnded) begin_ns_ = now_ns;
    if (rolling_ == 0 && begin_ns_ != kOpenEnded) End(now_ns);
  }

  void End(int64_t now_ns) {
    RolloutTime rollout{{begin_ns_, now_ns}, {}, {}};
    std::vector<int64_t> ends_ns;
    for (Interval& part : part_) {
      if (!part.empty()) {
        rollout.lengths_ns.push_back(part.length());
        ends_ns.push_back(part.end_ns);
      }
      part = {};
    }
    begin_ns_ = kOpenEnded;
    if (ends_ns.size() < 2 || rollout.time.begin_ns <= window_.begin_ns) return;
    std::sort(ends_ns.begin(), ends_ns.end());
    constexpr size_t kNine = 9;
    constexpr size_t kTen = 10;
    const size_t most = std::max<size_t>(1, ends_ns.size() * kNine / kTen);
    rollout.tail = {ends_ns[most - 1], now_ns};
    found_.push_back(std::move(rollout));
  }

  const std::vector<RoleTimeline>& processes_;
  const Interval window_;
  RoleStates states_;
  std::vector<bool> opens_operations_;  // by process
  std::vector<bool> rolls_;             // likewise
  std::vector<Interval> part_;          // likewise: of the rollout that goes on
  size_t rolling_ = 0;
  int64_t begin_ns_ = kOpenEnded;
  std::vector<RolloutTime> found_;
};

// What a device is for a role: busy, unknown, idle for some reason, or not held.
enum class Held : uint8_t { kNot, kBusy, kUnknown, kIdle };

class RoleSweep {
 public:
  RoleSweep(const Run& run, const std::vector<RoleTimeline>& processes, const RunActivity& activity,
            const std::vector<int64_t>& offset_ns, const RunUnknown& unknown,
            const Interval& window)
      : processes_(processes),
        offset_ns_(offset_ns),
        window_(window),
        states_(processes),
        own_(processes.size()) {
    result_.process.resize(processes.size());
    result_.rollouts = FindRollouts(processes, window);
    FindDevices(run, activity, unknown);
    for (const RolloutTime& rollout : result_.rollouts) {
      if (rollout.tail.empty()) continue;
      edges_.push_back({rollout.tail.begin_ns, kTails, true});
      edges_.push_back({rollout.tail.end_ns, kTails, false});
    }
    std::stable_sort(edges_.begin(), edges_.end(),
                     [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  }

  RoleSweepResult Go() {
    const size_t count = processes_.size();
    // Of streams: states of a process, then devices of each, then all edges.
    const size_t edges = 2 * count;
    DueFirst due;
    const auto expect = [&](size_t stream, int64_t time_ns) {
      if (time_ns != kOpenEnded) due.emplace(time_ns, stream);
    };
    for (size_t p = 0; p < count; ++p) {
      expect(p, states_.NextTime(p));
      expect(count + p, NextWork(p));
    }
    if (!edges_.empty()) expect(edges, edges_.front().time_ns);
    since_ns_ = window_.begin_ns;
    while (!due.empty() && due.top().first < window_.end_ns) {
      const int64_t now_ns = due.top().first;
      Begin(now_ns);
      while (!due.empty() && due.top().first == now_ns) {
        const size_t stream = due.top().second;
        due.pop();
        if (stream < count) {
          states_.Take(stream);
          states_changed_ = true;
          changed_.push_back(stream);
          expect(stream, states_.NextTime(stream));
        } else if (stream < edges) {
          TakeWork(stream - count);
          expect(stream, NextWork(stream - count));
        } else {
          TakeEdge();
          if (next_edge_ < edges_.size()) expect(edges, edges_[next_edge_].time_ns);
        }
      }
      Settle(now_ns);
    }
    Begin(window_.end_ns);
    for (size_t p = 0; p < count; ++p) CountProcess(p, window_.end_ns);
    for (DeviceNow& device : devices_) {
      CountDevice(&device, window_.end_ns);
      result_.most_busy_ns = std::max(result_.most_busy_ns, device.busy_ns);
    }
    return std::move(result_);
  }

 private:
  // Of a device for one role, since it is so.
  struct HeldNow {
    Held held = Held::kNot;
    Bubble bubble = Bubble::kOther;
    friend bool operator==(const HeldNow&, const HeldNow&) = default;
  };
  struct DeviceNow {
    std::vector<size_t> holders;  // processes that ever use it
    size_t running = 0;           // processes with work on it
    size_t unknown = 0;
    std::array<HeldNow, kProcessRoles> held;
    int64_t since_ns = INT64_MIN;
    int64_t busy_ns = 0;
    bool was_busy = false;
  };
  // What a process does on its devices.
  struct OwnWork {
    std::optional<DeviceActivity::Reader> reader;
    DeviceActivity::Change next;
    bool any = false;                       // there is a next one
    std::vector<size_t> device;             // by DeviceId
    std::vector<bool> runs;                 // likewise
    size_t running = 0;                     // devices
    ProcessRole role = ProcessRole::kNone;  // as it was counted last
    bool there = false;
    bool active = false;
    int64_t since_ns = INT64_MIN;
  };
  static constexpr size_t kTails = SIZE_MAX;
  struct Edge {
    int64_t time_ns = 0;
    size_t device = 0;  // of unknown time; kTails
    bool begins = false;
  };

  void FindDevices(const Run& run, const RunActivity& activity, const RunUnknown& unknown) {
    const std::vector<Interval> windows = {window_};
    DeviceTable table(windows);
    std::map<const PhysicalDevice*, size_t> numbers;
    const auto number_of = [&](size_t p, uint32_t id) {
      const PhysicalDevice* const device = table.Find(run.processes[p], static_cast<DeviceId>(id));
      const auto [place, is_new] = numbers.try_emplace(device, devices_.size());
      if (is_new) devices_.emplace_back();
      return place->second;
    };
    for (size_t p = 0; p < processes_.size(); ++p) {
      // It tells the table which devices the process sees.
      ProcessActivity(run, p, activity[p].get(), offset_ns_[p], INT64_MIN, &table);
      if (activity[p] == nullptr) continue;
      OwnWork& own = own_[p];
      for (const uint32_t id : activity[p]->used()) {
        const size_t number = number_of(p, id);
        if (own.device.size() <= id) own.device.resize(size_t{id} + 1, SIZE_MAX);
        own.device[id] = number;
        std::vector<size_t>& holders = devices_[number].holders;
        if (holders.empty() || holders.back() != p) holders.push_back(p);
      }
      own.runs.resize(own.device.size());
      own.reader.emplace(*activity[p]);
      own.any = own.reader->Next(&own.next);
    }
    for (const DeviceTable::Unknown& of : table.UnknownOf(unknown)) {
      for (const auto& [device, number] : numbers) {
        const bool same = of.uuid.empty() ? device->usage.uuid.empty() && device->host == of.host &&
                                                device->ordinal == of.ordinal
                                          : device->usage.uuid == of.uuid;
        if (!same) continue;
        for (const Interval& time : of.times) {
          if (time.empty()) continue;
          edges_.push_back({time.begin_ns, number, true});
          edges_.push_back({time.end_ns, number, false});
        }
      }
    }
  }

  int64_t NextWork(size_t p) const {
    return own_[p].any ? own_[p].next.time_ns + offset_ns_[p] : kOpenEnded;
  }
  void TakeWork(size_t p) {
    OwnWork& own = own_[p];
    const uint32_t id = own.next.device;
    const bool runs = own.next.now != 0;
    const size_t number = id < own.device.size() ? own.device[id] : SIZE_MAX;
    own.any = own.reader->Next(&own.next);
    if (number == SIZE_MAX || own.runs[id] == runs) return;
    own.runs[id] = runs;
    devices_[number].running += runs ? 1 : SIZE_MAX;
    changed_devices_.push_back(number);
    own.running += runs ? 1 : SIZE_MAX;
    changed_.push_back(p);
  }
  void TakeEdge() {
    const Edge& edge = edges_[next_edge_++];
    if (edge.device == kTails) {
      in_tails_ += edge.begins ? 1 : SIZE_MAX;
      states_changed_ = true;
      return;
    }
    devices_[edge.device].unknown += edge.begins ? 1 : SIZE_MAX;
    changed_devices_.push_back(edge.device);
  }

  // What held since the last change held until |now_ns|.
  void Begin(int64_t now_ns) {
    if (now_ns <= since_ns_) return;
    result_.active_ns[active_] += now_ns - since_ns_;
    since_ns_ = now_ns;
  }

  void Settle(int64_t now_ns) {
    for (const size_t p : changed_) SettleProcess(p, now_ns);
    changed_.clear();
    if (states_changed_) {
      for (DeviceNow& device : devices_) SettleDevice(&device, now_ns);
    } else {
      for (const size_t device : changed_devices_) SettleDevice(&devices_[device], now_ns);
    }
    changed_devices_.clear();
    was_in_tails_ = in_tails_;
    states_changed_ = false;
  }

  int64_t Since(int64_t since_ns, int64_t now_ns) const {
    return Interval{since_ns, now_ns}.ClippedTo(window_).length();
  }

  void CountProcess(size_t p, int64_t now_ns) {
    OwnWork& own = own_[p];
    const int64_t ns = own.there ? Since(own.since_ns, now_ns) : 0;
    own.since_ns = now_ns;
    RoleTime& time = result_.process[p][static_cast<size_t>(own.role)];
    time.ns += ns;
    time.active_ns += own.active ? ns : 0;
  }

  void SettleProcess(size_t p, int64_t now_ns) {
    OwnWork& own = own_[p];
    const RoleState* const state = states_.Of(p);
    const bool there = state != nullptr;
    const ProcessRole role = there ? state->role : ProcessRole::kNone;
    const bool works = there && !state->waits && state->work != RoleWork::kStartsUp;
    const bool active = there && (works || own.running > 0);
    if (there == own.there && role == own.role && active == own.active) return;
    CountProcess(p, now_ns);
    const auto count = [this](ProcessRole of, size_t change) {
      size_t& processes = active_processes_[static_cast<size_t>(of)];
      processes += change;
      if (of == ProcessRole::kNone) return;
      active_ = processes > 0 ? active_ | MaskOf(of) : active_ & ~MaskOf(of);
    };
    if (own.active) count(own.role, SIZE_MAX);
    if (active) count(role, 1);
    own.there = there;
    own.role = role;
    own.active = active;
  }

  Bubble BubbleOf(size_t p) {
    const RoleState& state = *states_.Of(p);
    if (state.work == RoleWork::kStartsUp) return Bubble::kStartUp;
    if (state.work == RoleWork::kSyncs) return Bubble::kWeightSync;
    const std::vector<size_t>& last = states_.HoldingUp(p);
    if (last.empty()) return state.work == RoleWork::kOther ? Bubble::kOther : Bubble::kEnvironment;
    bool is[kBubbles] = {};
    const auto set = [&is](Bubble bubble) { is[static_cast<size_t>(bubble)] = true; };
    for (const size_t other : last) {
      const RoleState& its = *states_.Of(other);
      if (its.work == RoleWork::kSyncs) return Bubble::kWeightSync;
      const bool rolls_out = its.role == ProcessRole::kRollout;
      if (its.role == state.role) {
        set(rolls_out ? Bubble::kTail : Bubble::kOther);
      } else if (GivesSamples(its.role)) {
        set(Bubble::kEnvironment);
      } else if (its.role == ProcessRole::kNone) {
        set(its.work == RoleWork::kOther || its.work == RoleWork::kStartsUp ? Bubble::kOther
                                                                            : Bubble::kEnvironment);
      } else if (IsUpstreamOf(its.role, state.role)) {
        set(rolls_out && in_tails_ > 0 ? Bubble::kTail : Bubble::kStarved);
      } else {
        set(Bubble::kBlocked);
      }
    }
    for (const Bubble bubble :
         {Bubble::kTail, Bubble::kStarved, Bubble::kBlocked, Bubble::kEnvironment}) {
      if (is[static_cast<size_t>(bubble)]) return bubble;
    }
    return Bubble::kOther;
  }

  void CountDevice(DeviceNow* device, int64_t now_ns) {
    const int64_t ns = Since(device->since_ns, now_ns);
    device->since_ns = now_ns;
    if (ns == 0) return;
    device->busy_ns += device->was_busy ? ns : 0;
    const auto add = [ns](const HeldNow& now, HeldTime* time) {
      if (now.held == Held::kBusy) time->busy_ns += ns;
      if (now.held == Held::kUnknown) time->unknown_ns += ns;
      if (now.held == Held::kIdle) time->idle_ns[static_cast<size_t>(now.bubble)] += ns;
    };
    for (size_t role = 1; role < kProcessRoles; ++role)
      add(device->held[role], &result_.held[role]);
    if (was_in_tails_ > 0) {
      add(device->held[static_cast<size_t>(ProcessRole::kRollout)], &result_.held_in_tails);
    }
  }

  void SettleDevice(DeviceNow* device, int64_t now_ns) {
    std::array<HeldNow, kProcessRoles> held;
    std::array<std::pair<bool, Bubble>, kProcessRoles> reasons;  // whether it waits, and for what
    const bool busy = device->running > 0;
    for (const size_t p : device->holders) {
      const RoleState* const state = states_.Of(p);
      if (state == nullptr || state->role == ProcessRole::kNone) continue;
      HeldNow& now = held[static_cast<size_t>(state->role)];
      if (busy || device->unknown > 0) {
        now.held = busy ? Held::kBusy : Held::kUnknown;
        continue;
      }
      // Who works is what a device of several waits for.
      const bool works = !state->waits && state->work != RoleWork::kStartsUp;
      const std::pair reason{!works, BubbleOf(p)};
      std::pair<bool, Bubble>& best = reasons[static_cast<size_t>(state->role)];
      if (now.held == Held::kNot || reason < best) best = reason;
      now = {Held::kIdle, best.second};
    }
    if (held == device->held && busy == device->was_busy && in_tails_ == was_in_tails_) return;
    CountDevice(device, now_ns);
    device->held = held;
    device->was_busy = busy;
  }

  const std::vector<RoleTimeline>& processes_;
  const std::vector<int64_t>& offset_ns_;
  const Interval window_;
  RoleStates states_;
  std::vector<OwnWork> own_;  // by process
  std::vector<DeviceNow> devices_;
  std::vector<Edge> edges_;  // ascending
  size_t next_edge_ = 0;
  size_t in_tails_ = 0;
  size_t was_in_tails_ = 0;
  bool states_changed_ = false;
  // At this instant.
  std::vector<size_t> changed_;  // processes
  std::vector<size_t> changed_devices_;
  std::array<size_t, kProcessRoles> active_processes_{};
  RoleMask active_ = 0;
  int64_t since_ns_ = INT64_MIN;
  RoleSweepResult result_;
};

}  // namespace

int64_t HeldTime::Idle() const {
  return std::accumulate(idle_ns.begin(), idle_ns.end(), int64_t{0});
}

std::vector<RolloutTime> FindRollouts(const std::vector<RoleTimeline>& processes,
                                      const Interval& window) {
  return RolloutFinder(processes, window).Find();
}

RoleSweepResult SweepRoles(const Run& run, const std::vector<RoleTimeline>& processes,
                           const RunActivity& activity, const std::vector<int64_t>& offset_ns,
                           const RunUnknown& unknown, const Interval& window) {
  return RoleSweep(run, processes, activity, offset_ns, unknown, window).Go();
}

}  // namespace gpubound
