// SPDX-License-Identifier: Apache-2.0
//
// Idle time of devices whose next work had been launched when the gap began. Causes told from what
// the CPU did at the instant do not hold there, and which gaps these are shows only when they end:
// so what the CPU did during a gap is kept until then, and is then either moved to the cause
// kQueued or kEventWait, or left where it is.
//
//   CPU      | launch A, B |------ python ------| launch C |------ python ------|
//   device   |       |--- A ---| 1 |--- B ---|    2    |--- C ---|
//
// Gap 1 is queued: B had been launched when A ended. Gap 2 is not. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_QUEUED_TIME_H_
#define GPUBOUND_ANALYSIS_SWEEP_QUEUED_TIME_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/device_timeline.h"
#include "analysis/timeline/doing.h"
#include "analysis/timeline/gpu_work.h"
#include "analysis/timeline/thread_change.h"
#include "analysis/trace/idle_cause.h"

namespace gpubound {

// Time of each cause.
using IdleTimes = std::array<int64_t, kIdleCauses>;

inline constexpr int64_t kLaunchedBeforeAll = INT64_MIN;
inline constexpr int64_t kNeverLaunched = INT64_MAX;  // as far as is known

// Idle time that was told from the CPU under |operation| as |from|, and is of cause |to|.
struct MovedIdle {
  OperationIndex operation = kNoOperationIndex;
  IdleCause from = IdleCause::kUnknown;
  IdleCause to = IdleCause::kQueued;
  int64_t ns = 0;
};
// Of one device.
struct QueuedIdle {
  std::vector<MovedIdle> moved;  // by operation, from, to
  uint64_t queued_gaps = 0;
  uint64_t event_wait_gaps = 0;
};

// Of a part of the time, while no device works: what has been moved to these causes, and what may
// still be when the gap that was open at its end is over.
struct QueuedPart {
  IdleTimes queued_ns{};
  IdleTimes event_wait_ns{};
  IdleTimes open_ns{};
  bool open = false;
};

class QueuedTime {
 public:
  // |devices|: as DeviceTimeline::devices() has.
  // |doing|: what the CPU does at the span's begin.
  QueuedTime(size_t devices, const Interval& span, const Doing& doing);

  // Work comes in order of begin, before the window in which it does. The call that launched it
  // ended at |launched_ns|; |waits|: for an event of another stream first.
  void Add(const GpuItem& work, int64_t launched_ns, bool waits);

  // What both sides did in a window that begins at |begin_ns|. Calls |on_gap_over|(cause) whenever
  // a gap of all devices ends in which a part did: kUnknown where its time stays what it was.
  template <typename OnGapOver>
  void TakeWindow(int64_t begin_ns, const Doing& at_begin, std::span<const ThreadChange> cpu,
                  std::span<const DeviceChange> devices, OnGapOver on_gap_over) {
    OpenWindow(begin_ns, at_begin, cpu);
    causes_.assign(devices.size(), IdleCause::kUnknown);
    for (size_t i = 0; i < devices.size(); ++i) {
      causes_[i] = TakeChange(devices[i]);
      if (i + 1 < devices.size() && devices[i + 1].time_ns == devices[i].time_ns) continue;
      const bool was_open = together_.gap.open;
      const IdleCause cause = TogetherFrom(devices[i].time_ns);
      if (!was_open || together_.gap.open || !together_.spans_parts) continue;
      together_.spans_parts = false;
      on_gap_over(cause);
    }
    CloseWindow();
  }
  // By change of that window: the cause of the gap that it ended; kUnknown where what the CPU did
  // tells it.
  const std::vector<IdleCause>& causes() const { return causes_; }

  // A part of the time ends at |now_ns|, where the next window begins.
  QueuedPart TakePart(int64_t now_ns);

  // What holds between two windows, from which on the CPU does |doing|.
  void Visit(StateArchive& archive, const Doing& doing);

  // By DeviceId. Call once, last.
  std::vector<QueuedIdle> Take();

 private:
  // What ends a gap.
  struct Ender {
    int64_t begin_ns;
    int64_t launched_ns;
    bool waits;
    void Join(const Ender& other);
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(begin_ns, launched_ns, waits);
    }
  };
  // Work of a device, or of all, one behind the other.
  struct Work {
    int64_t busy_until_ns = INT64_MIN;
    std::deque<Ender> enders;  // of gaps that are not over
    void Add(const Ender& ender, int64_t end_ns);
    // The cause of a gap from |begin_ns| until |end_ns|, where work began.
    IdleCause CauseOf(int64_t begin_ns, int64_t end_ns);
    void Visit(StateArchive& archive);
  };
  struct Gap {
    bool open = true;
    int64_t begin_ns = INT64_MIN;  // before the first work of all: no launch precedes that
    int64_t from_ns = 0;           // until then what the CPU did was taken
    size_t at = 0;                 // stretch of the window that holds there; 0 between windows
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(open, begin_ns, from_ns);
    }
  };
  // Time by operation and cause.
  class Sums {
   public:
    void Add(const Doing& doing, int64_t ns) { Add(KeyOf(doing), ns); }
    void Add(uint64_t key, int64_t ns);
    void AddAll(const Sums& other);
    void clear();
    using List = std::vector<std::pair<uint64_t, int64_t>>;
    List Sorted() const;
    void Visit(StateArchive& archive);
    static constexpr int kCauseBits = 4;

   private:
    static uint64_t KeyOf(const Doing& doing) {
      return uint64_t{doing.operation()} << kCauseBits | static_cast<uint64_t>(doing.cause());
    }
    std::unordered_map<uint64_t, int64_t> ns_;
    // Of the key that came last, mostly the next one too: not in |ns_| yet.
    uint64_t last_key_ = 0;
    int64_t last_ns_ = 0;
  };
  struct Device {
    Work work;
    Gap gap;
    Sums pending;  // of the gap, until its |from_ns|
    Sums queued;
    Sums event_wait;
    uint64_t queued_gaps = 0;
    uint64_t event_wait_gaps = 0;
    bool used = false;
    void Visit(StateArchive& archive) {
      archive.All(work, gap, pending, queued, event_wait, queued_gaps, event_wait_gaps, used);
    }
  };
  struct Together {
    Work work;
    Gap gap;
    IdleTimes pending{};
    IdleTimes queued{};  // of the part
    IdleTimes event_wait{};
    bool spans_parts = false;  // one ended in the gap
    uint64_t busy = 0;         // devices
    bool unknown = false;
    void Visit(StateArchive& archive) {
      archive.All(work, gap, pending, queued, event_wait, spans_parts, busy, unknown);
    }
  };
  // What the CPU did, stretch by stretch: since the last window, from its begin on, and from each
  // change on.
  size_t Stretches() const { return 2 + cpu_.size(); }
  int64_t BeginOf(size_t stretch) const;
  const Doing& DoingIn(size_t stretch) const {
    return stretch == 0 ? before_ : stretch == 1 ? at_begin_ : cpu_[stretch - 2].doing;
  }
  int64_t Clipped(int64_t time_ns) const;

  void OpenWindow(int64_t begin_ns, const Doing& at_begin, std::span<const ThreadChange> cpu);
  void CloseWindow();
  IdleCause TakeChange(const DeviceChange& change);
  IdleCause TogetherFrom(int64_t time_ns);
  void Follow(int64_t now_ns);
  void Meet(Device* device);
  void Open(int64_t time_ns, Gap* gap) const;
  // Calls |on_stretch|(what the CPU did, ns) for |gap| from where that was taken until |until_ns|.
  template <typename OnStretch>
  void Stretch(int64_t until_ns, Gap* gap, OnStretch on_stretch) const;

  const Interval span_;
  std::vector<Device> devices_;  // by DeviceId; behind them the one that is never used
  Together together_;
  Doing before_;          // from |since_ns_| on, as far as is known
  int64_t since_ns_ = 0;  // clipped
  // Of the window.
  int64_t begin_ns_ = 0;
  Doing at_begin_;
  std::span<const ThreadChange> cpu_;
  size_t at_ = 0;  // stretch that holds at the last change of a device
  std::vector<IdleCause> causes_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_QUEUED_TIME_H_
