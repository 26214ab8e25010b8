// SPDX-License-Identifier: Apache-2.0
//
// Makes random traces. No state beyond one call.
#include "tests/oracle/random_trace.h"

#include <algorithm>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "proto/sync_types.h"

namespace gpubound::oracle {
namespace {

constexpr int64_t kFirstNode = 11;
constexpr uint64_t kLooksSeed = 0x5eed;
constexpr uint64_t kStacksSeed = 0x57ac5;

class Maker {
 public:
  Maker(uint64_t seed, const TraceKind& kind)
      : random_(seed),
        queues_(~seed),
        looks_(seed ^ kLooksSeed),
        stacks_(seed ^ kStacksSeed),
        kind_(kind),
        crowd_(kind.crowd) {}

  ProcessTrace Make() {
    p_.identity = {"host", 7, static_cast<int64_t>(1)};
    p_.name = "random";
    p_.device_kind = "real";
    p_.main_tid = 1;
    p_.python = Chance(2);
    length_ = crowd_ ? 200 + Pick(200) : kind_.many_parts ? 60 + Pick(60) : 20 + Pick(60);
    p_.span_begin_ns = Pick(10);
    // Mostly everything lies in the span; sometimes it ends early, or at once.
    p_.span_end_ns = p_.span_begin_ns + (Chance(4) ? Pick(length_) : length_ + Pick(20));
    // Processes of a run do things at the same instant too.
    if (!kind_.waits.empty()) grid_ns_ = 1 + Pick(8);
    MakeNames();
    const int64_t threads = crowd_ ? 66 + Pick(60) : 1 + Pick(4);
    for (int64_t i = 0; i < threads; ++i) MakeThread(i);
    for (int64_t i = kind_.hands_over ? 1 + Pick(4) : 0; i > 0; --i) HandOver();
    MakeWork();
    while (Chance(3)) {
      const int64_t start = Pick(length_);
      p_.unknown.push_back({start, start + Pick(15), "random"});
    }
    MakeQueues();
    MakeCpuTimes();
    MakeStacks();
    return std::move(p_);
  }

 private:
  int64_t Pick(int64_t below) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(below));
  }
  bool Chance(int64_t one_in) { return Pick(one_in) == 0; }

  LabelId Add(LabelKind kind, const std::string& domain, const std::string& text,
              Layer layer = Layer::kUnset) {
    p_.labels.push_back({kind, layer, domain, text});
    return static_cast<LabelId>(p_.labels.size() - 1);
  }

  void MakeNames() {
    p_.labels.resize(1);
    // One trace in four has no operation, so that its annotations serve.
    if (!kind_.bare && !Chance(4)) {
      for (const char* name : {"a", "b", "simulation", "save_checkpoint"}) {
        scopes_.push_back(Add(LabelKind::kOperation, "", name));
      }
      own_ = scopes_.back();
      for (const char* name : {"inside", "a"}) {
        jitted_.push_back(Add(LabelKind::kOperation, "jax", name));
        scopes_.push_back(jitted_.back());
      }
    }
    if (!kind_.bare) {
      ranges_.push_back(Add(LabelKind::kAnnotation, "", "note"));
      ranges_.push_back(Add(LabelKind::kAnnotation, "mine", "detail"));
    }
    ranges_.push_back(Add(LabelKind::kAnnotation, "NCCL", "reduce"));
    scopes_.insert(scopes_.end(), ranges_.begin(), ranges_.end());
    for (const auto& [domain, text] : kind_.waits) {
      scopes_.insert(scopes_.end(), 3, Add(LabelKind::kLayer, domain, text, Layer::kWait));
    }
    scopes_.push_back(Add(LabelKind::kLayer, "", "python", Layer::kPython));
    scopes_.push_back(Add(LabelKind::kLayer, "", "wait", Layer::kWait));
    scopes_.push_back(Add(LabelKind::kLayer, "", "native", Layer::kNative));
    scopes_.push_back(Add(LabelKind::kLayer, "", "simulator", Layer::kSimulator));
    scopes_.push_back(Add(LabelKind::kLayer, "", "backend", Layer::kBackend));
    phases_ = {Add(LabelKind::kPhase, "", "warm-up"), Add(LabelKind::kPhase, "", "late")};
    for (const char* name : {"cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemcpy",
                             "cudaDeviceSynchronize", "cuModuleLoadData"}) {
      calls_.push_back(Add(LabelKind::kApi, "", name));
    }
    overheads_ = {Add(LabelKind::kOverhead, "", "COMMAND_BUFFER_FULL"),
                  Add(LabelKind::kOverhead, "", "LAZY_FUNCTION_LOADING")};

    MakeStreams();
    p_.works.resize(1);
    for (const char* name : {"gemm", "ncclDevKernel_AllReduce", "copy", "replay"}) {
      Work work;
      work.name = name;
      work.info.kind = work.name == "copy"     ? WorkKind::kMemcpy
                       : work.name == "replay" ? WorkKind::kGraph
                                               : WorkKind::kKernel;
      p_.works.push_back(work);
    }
    MakeGraphs();
  }

  // One to four on each of two devices, in any order.
  void MakeStreams() {
    p_.devices.resize(3);
    p_.streams.resize(1);
    for (uint32_t device = 1; device <= 2; ++device) {
      p_.devices[device].info.index = device - 1;
      p_.devices[device].name = "device";
      for (int64_t i = 1 + Pick(4); i > 0; --i) {
        const Stream stream{static_cast<DeviceId>(device), 1, static_cast<uint32_t>(i)};
        p_.streams.insert(p_.streams.begin() + 1 + Pick(Count(p_.streams)), stream);
      }
    }
  }

  // 1 runs collectives, 2 copies, 3 both; of 4 nothing is known.
  void MakeGraphs() {
    const std::string collective = "ncclDevKernel_AllReduce";
    p_.graph_nodes = {{{1, 1, 0, LabelId{}}, collective},
                      {{2, 2, 1, LabelId{}}, "Memcpy"},
                      {{3, 3, 0, LabelId{}}, collective},
                      {{4, 3, 1, LabelId{}}, "Memcpy"}};
    // Of which the work has an operation of its own, or was only captured in one; of the fourth
    // nothing is known.
    uint64_t node = kFirstNode;
    for (const LabelId scope : jitted_) p_.graph_nodes.push_back({{node++, 9, 0, scope}, "gemm"});
    p_.graph_nodes.push_back({{node, 9, 0, own_}, "gemm"});
  }

  template <typename T>
  T Any(const std::vector<T>& of) {
    return of[static_cast<size_t>(Pick(Count(of)))];
  }
  template <typename T>
  static int64_t Count(const std::vector<T>& of) {
    return static_cast<int64_t>(of.size());
  }

  // An instant of the thread that is made.
  int64_t PickTime() { return born_ns_ + Pick(life_ns_); }

  void MakeThread(int64_t index) {
    ThreadTrace thread;
    life_ns_ = crowd_ && index > 0 ? 1 + Pick(30) : length_;
    born_ns_ = life_ns_ < length_ ? Pick(length_ - life_ns_) : 0;
    thread.ordinal = static_cast<ThreadId>(index + 1);
    thread.tid = static_cast<uint32_t>(index + 1);
    // Some threads only make calls, as autograd's do.
    int64_t events = index > 0 && Chance(2) ? 0 : Pick(14);
    if (index == 0 && !kind_.waits.empty()) events += 6;
    std::vector<int64_t> times;
    for (int64_t i = 0; i < events; ++i) times.push_back(PickTime() / grid_ns_ * grid_ns_);
    std::sort(times.begin(), times.end());
    std::vector<LabelId> open;
    for (const int64_t time : times) thread.events.push_back(MakeEvent(time, &open));
    if (index == 0 && kind_.many_parts) MakeSteps(&thread);
    const int64_t calls = Pick(6);
    for (int64_t i = 0; i < calls; ++i) MakeCall(&thread);
    std::sort(thread.calls.begin(), thread.calls.end(), [](const ApiCall& a, const ApiCall& b) {
      return std::tie(a.start_ns, a.correlation) < std::tie(b.start_ns, b.correlation);
    });
    if (Chance(3)) {
      const int64_t start = PickTime();
      thread.overheads.push_back({start, start + Pick(20), 0, Any(overheads_)});
    }
    p_.threads.push_back(std::move(thread));
  }

  void MakeSteps(ThreadTrace* thread) {
    std::vector<int64_t> times;
    for (int64_t i = 12 + Pick(20); i > 0; --i) times.push_back(PickTime());
    std::sort(times.begin(), times.end());
    for (const int64_t time : times) {
      Insert(thread, {{time, ++last_step_, LabelId{}, SlotKind::kStep}});
    }
  }

  ThreadEvent MakeEvent(int64_t time, std::vector<LabelId>* open) {
    ThreadEvent event;
    event.time_ns = time;
    const int64_t what = Pick(11);
    if (what == 0) {
      event.kind = SlotKind::kPhase;
      event.label = Any(phases_);
    } else if (what == 1) {
      event.kind = SlotKind::kRangeStart;
      event.label = Any(ranges_);
      event.payload = ++last_range_;
    } else if (what == 2) {
      // Any range of any thread, ended before or after, once or twice.
      event.kind = SlotKind::kRangeEnd;
      event.payload = static_cast<uint64_t>(1 + Pick(4));
    } else if (what == 10) {
      event.kind = SlotKind::kStep;
      event.payload = ++last_step_;
    } else if (what < 6 && !open->empty()) {
      // Mostly the innermost, sometimes one from the middle, sometimes one that is not open.
      event.kind = SlotKind::kEnd;
      event.label = Chance(3) ? Any(scopes_) : open->back();
      const auto found = std::find(open->rbegin(), open->rend(), event.label);
      if (found != open->rend()) open->erase(std::next(found).base());
    } else {
      event.kind = SlotKind::kBegin;
      event.label = Any(scopes_);
      open->push_back(event.label);
    }
    return event;
  }

  // The operation that a thread has begun last, which the recorder would hand over; 0: none is
  // open.
  LabelId InnermostOperation(const ThreadTrace& thread, int64_t time) const {
    std::vector<LabelId> open;
    for (const ThreadEvent& event : thread.events) {
      if (event.time_ns > time) break;
      if (p_.labels[Raw(event.label)].kind != LabelKind::kOperation) continue;
      if (event.kind == SlotKind::kBegin) open.push_back(event.label);
      if (event.kind != SlotKind::kEnd) continue;
      const auto found = std::find(open.rbegin(), open.rend(), event.label);
      if (found != open.rend()) open.erase(std::next(found).base());
    }
    return open.empty() ? LabelId{0} : open.back();
  }

  static void Insert(ThreadTrace* thread, std::vector<ThreadEvent> events) {
    const auto behind = std::upper_bound(
        thread->events.begin(), thread->events.end(), events.front().time_ns,
        [](int64_t time, const ThreadEvent& event) { return time < event.time_ns; });
    thread->events.insert(behind, events.begin(), events.end());
  }

  // Mostly from one thread to another. What was taken up mostly ends.
  void HandOver() {
    ThreadTrace& giver = p_.threads[static_cast<size_t>(Pick(Count(p_.threads)))];
    ThreadTrace& taker = p_.threads[static_cast<size_t>(Pick(Count(p_.threads)))];
    if (giver.events.empty()) return;
    int64_t time = Any(giver.events).time_ns;
    const LabelId operation = InnermostOperation(giver, time);
    if (operation == LabelId{0}) return;
    const uint64_t token = ++last_token_;
    Insert(&giver, {{time, token, operation, SlotKind::kHandOver}});
    time += Pick(10);
    Insert(&taker,
           {{time, token, operation, SlotKind::kAdopt}, {time, 0, operation, SlotKind::kBegin}});
    if (Chance(4)) return;
    Insert(&taker, {{time + Pick(20), 0, operation, SlotKind::kEnd}});
  }

  void MakeCall(ThreadTrace* thread) {
    const int64_t start = PickTime();
    thread->calls.push_back({start, start + Pick(12), ++last_correlation_, Any(calls_), 0});
  }

  void MakeWork() {
    const int64_t works = kind_.many_parts ? 20 + Pick(30) : Pick(crowd_ ? 60 : 12);
    for (int64_t i = 0; i < works; ++i) {
      DeviceWork work;
      work.correlation = static_cast<uint32_t>(Pick(int64_t{last_correlation_} + 2));
      work.start_ns = Pick(length_);
      work.end_ns = work.start_ns + Pick(kind_.many_parts ? 4 : 20);
      work.work = static_cast<WorkId>(1 + Pick(4));
      if (Raw(work.work) == 4) work.graph = static_cast<uint32_t>(1 + Pick(4));
      work.stream = static_cast<StreamId>(1 + Pick(Count(p_.streams) - 1));
      if (Chance(2)) work.graph_node = static_cast<uint64_t>(kFirstNode + Pick(4));
      p_.device_work.push_back(work);
    }
    std::sort(p_.device_work.begin(), p_.device_work.end(),
              [](const DeviceWork& a, const DeviceWork& b) {
                return std::tie(a.start_ns, a.end_ns, a.stream, a.correlation, a.work, a.graph) <
                       std::tie(b.start_ns, b.end_ns, b.stream, b.correlation, b.work, b.graph);
              });
  }

  // What queues look like. Drawn beside everything else, whose traces stay what they were: some
  // work was launched before the trace began, and streams wait for events of others or their own.
  void MakeQueues() {
    constexpr uint32_t kLaunchedBefore = 3;
    for (ThreadTrace& thread : p_.threads) {
      for (ApiCall& call : thread.calls) call.correlation += kLaunchedBefore;
    }
    for (DeviceWork& work : p_.device_work) {
      if (work.correlation == 0) continue;
      const bool launched = work.correlation <= last_correlation_;
      work.correlation = launched || queues_() % 2 == 0
                             ? work.correlation + kLaunchedBefore
                             : 1 + static_cast<uint32_t>(queues_() % kLaunchedBefore);
    }
    for (uint64_t left = queues_() % 8; left > 0 && length_ > 0; --left) {
      const Stream& stream = p_.streams[1 + queues_() % (p_.streams.size() - 1)];
      Sync sync;
      sync.start_ns = static_cast<int64_t>(queues_() % static_cast<uint64_t>(length_));
      sync.end_ns = sync.start_ns + 1;
      sync.event = 1 + queues_() % 2;
      sync.type = queues_() % 3 == 0 ? kSyncEventRecorded : kSyncEventByStream;
      sync.context = stream.context;
      sync.stream = stream.stream;
      p_.syncs.push_back(sync);
    }
    std::stable_sort(p_.syncs.begin(), p_.syncs.end(),
                     [](const Sync& a, const Sync& b) { return a.start_ns < b.start_ns; });
  }

  int64_t PickLook(int64_t below) {
    return static_cast<int64_t>(looks_() % static_cast<uint64_t>(below));
  }

  // Looks at some of the threads, and at one that did nothing else. Also beside everything else.
  // Most begin where the one before ended; a thread is blocked as often as not. Blocked stretches
  // reach into the sums beside them, as far as these leave room.
  void MakeCpuTimes() {
    constexpr uint32_t kUnknownThread = 999;
    for (size_t i = 0; i <= p_.threads.size(); ++i) {
      if (PickLook(3) == 0) continue;
      const uint32_t tid = i < p_.threads.size() ? p_.threads[i].tid : kUnknownThread;
      const bool knows_ready = PickLook(4) != 0;
      for (int64_t now_ns = PickLook(10); now_ns < length_ + 10;) {
        if (PickLook(6) == 0) now_ns += PickLook(8);
        CpuTime time{now_ns, now_ns + 1 + PickLook(12), 0, std::nullopt, tid};
        const int64_t length_ns = time.end_ns - time.start_ns;
        const bool blocked = PickLook(2) == 0;
        // What is counted late may be more than fits.
        if (!blocked) time.on_cpu_ns = PickLook(length_ns + 2);
        if (knows_ready) time.ready_ns = blocked ? 0 : PickLook(length_ns + 1 - time.on_cpu_ns / 2);
        now_ns = time.end_ns;
        CpuTime* const last = p_.cpu_times.empty() ? nullptr : &p_.cpu_times.back();
        if (last != nullptr && last->tid == tid && last->IsBlocked() != time.IsBlocked()) {
          const CpuTime& sums = blocked ? *last : time;
          const int64_t left_ns =
              sums.end_ns - sums.start_ns - sums.on_cpu_ns - sums.ready_ns.value_or(kOpenEnded / 2);
          // A stretch at their begin may have it already.
          const bool taken = p_.cpu_times.size() > 1 && (last - 1)->end_ns > last->start_ns;
          const bool beside =
              left_ns > 0 && !taken && last->end_ns == time.start_ns && PickLook(2) == 0;
          if (beside && blocked) time.start_ns -= left_ns;
          if (beside && !blocked) last->end_ns += left_ns;
        }
        p_.cpu_times.push_back(time);
      }
    }
    std::sort(p_.cpu_times.begin(), p_.cpu_times.end(), [](const CpuTime& a, const CpuTime& b) {
      return std::tie(a.start_ns, a.end_ns, a.tid) < std::tie(b.start_ns, b.end_ns, b.tid);
    });
  }

  std::mt19937_64 random_;
  std::mt19937_64 queues_;
  // A tree of frames in which any frame may be seen, at looks that share no instant.
  void MakeStacks() {
    const auto pick = [this](int64_t below) {
      return static_cast<int64_t>(stacks_() % static_cast<uint64_t>(below));
    };
    const int64_t functions = 1 + pick(4);
    p_.functions.emplace_back();
    for (int64_t i = 0; i < functions; ++i) {
      p_.functions.push_back({"/p/a.py", "f" + std::to_string(i)});
    }
    p_.frames.emplace_back();
    const int64_t frames = 1 + pick(8);
    for (int64_t i = 1; i <= frames; ++i) {
      p_.frames.push_back({static_cast<FrameId>(pick(i)),
                           static_cast<FunctionId>(1 + pick(functions)),
                           static_cast<uint32_t>(1 + pick(3))});
    }
    for (const ThreadTrace& thread : p_.threads) {
      for (int64_t now_ns = pick(10); now_ns < length_ + 10; now_ns += 1 + pick(9)) {
        StackLooks seen{now_ns, now_ns, thread.tid, static_cast<FrameId>(1 + pick(frames)), 1, 0};
        if (pick(3) == 0) {
          seen.end_ns += 1 + pick(12);
          seen.looks = static_cast<uint32_t>(2 + pick(4));
        }
        seen.runnable = static_cast<uint32_t>(pick(seen.looks + 1));
        now_ns = seen.end_ns;
        p_.stack_looks.push_back(seen);
      }
    }
    std::sort(
        p_.stack_looks.begin(), p_.stack_looks.end(), [](const StackLooks& a, const StackLooks& b) {
          return std::tie(a.start_ns, a.end_ns, a.tid) < std::tie(b.start_ns, b.end_ns, b.tid);
        });
  }

  std::mt19937_64 looks_;
  std::mt19937_64 stacks_;
  const TraceKind kind_;
  const bool crowd_;
  ProcessTrace p_;
  int64_t length_ = 0;
  int64_t grid_ns_ = 1;  // of events
  int64_t born_ns_ = 0;  // of the thread that is made
  int64_t life_ns_ = 0;
  std::vector<LabelId> scopes_;
  LabelId own_{};                // an operation of the program's own
  std::vector<LabelId> jitted_;  // scopes of a jitted function
  std::vector<LabelId> ranges_;
  std::vector<LabelId> phases_;
  std::vector<LabelId> calls_;
  std::vector<LabelId> overheads_;
  uint64_t last_range_ = 0;
  uint64_t last_step_ = 0;
  uint64_t last_token_ = 0;
  uint32_t last_correlation_ = 0;
};

}  // namespace

ProcessTrace MakeRandomTrace(uint64_t seed) {
  TraceKind kind;
  kind.many_parts = HasManyParts(seed);
  return MakeRandomTrace(seed, kind);
}
ProcessTrace MakeRandomTrace(uint64_t seed, const TraceKind& kind) {
  return Maker(seed, kind).Make();
}

gpubound::Run MakeRandomRun(uint64_t seed) {
  constexpr uint64_t kMostProcesses = 5;
  gpubound::Run run;
  const uint64_t processes = 2 + seed % (kMostProcesses - 1);
  for (uint64_t i = 0; i < processes; ++i) {
    ProcessTrace& process = run.processes.emplace_back(MakeRandomTrace(seed * kMostProcesses + i));
    process.identity.pid += static_cast<int64_t>(i);
    for (uint32_t device = 1; device <= 2; ++device) {
      process.devices[device].uuid = "GPU-" + std::to_string(device);
    }
  }
  return run;
}

ProcessTrace MakeRandomCrowd(uint64_t seed) {
  TraceKind kind;
  kind.crowd = true;
  return MakeRandomTrace(seed, kind);
}

void Stretch(ProcessTrace* trace, int64_t factor) {
  trace->span_begin_ns *= factor;
  trace->span_end_ns *= factor;
  for (ThreadTrace& thread : trace->threads) {
    for (ThreadEvent& event : thread.events) event.time_ns *= factor;
    for (ApiCall& call : thread.calls) call.start_ns *= factor, call.end_ns *= factor;
    for (Overhead& cost : thread.overheads) cost.start_ns *= factor, cost.end_ns *= factor;
  }
  for (DeviceWork& work : trace->device_work) work.start_ns *= factor, work.end_ns *= factor;
  for (UnknownInterval& time : trace->unknown) time.start_ns *= factor, time.end_ns *= factor;
  for (Sync& sync : trace->syncs) sync.start_ns *= factor, sync.end_ns *= factor;
  for (StackLooks& seen : trace->stack_looks) seen.start_ns *= factor, seen.end_ns *= factor;
  for (CpuTime& time : trace->cpu_times) {
    time.start_ns *= factor, time.end_ns *= factor, time.on_cpu_ns *= factor;
    if (time.ready_ns) *time.ready_ns *= factor;
  }
}

}  // namespace gpubound::oracle
