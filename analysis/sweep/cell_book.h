// SPDX-License-Identifier: Apache-2.0
//
// Books time to cells. The GPU side of a window lies there as a list of segments, the CPU side says
// from when on it is whose time: the book goes along both lists at once, and every stretch between
// two neighbouring changes goes to one cell. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_SWEEP_CELL_BOOK_H_
#define GPUBOUND_ANALYSIS_SWEEP_CELL_BOOK_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/timeline/gpu_segments.h"
#include "analysis/timeline/process_timeline.h"
#include "analysis/timeline/thread_change.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// Time of a process by GPU state.
struct GpuTime {
  std::array<int64_t, kGpuStates> by_state{};
  int64_t sum_ns = 0;     // of all running work, concurrent work counted each
  int64_t graph_ns = 0;   // in which graphs ran that were recorded as a whole
  FilledTime filled = 0;  // weighted by SM fill, mean over the devices that are busy
};

class CellBook {
 public:
  struct Row {
    CpuState state;        // peer is kNotOne
    bool waiting = false;  // the CPU waits for a known other process
    GpuTime time;
    std::vector<int64_t> busy_ns;     // by device, in the order of their first work
    std::vector<int64_t> unknown_ns;  // likewise
    int64_t Wall() const {
      int64_t sum_ns = 0;
      for (const int64_t ns : time.by_state) sum_ns += ns;
      return sum_ns;
    }
  };

  enum class Devices : uint8_t { kTogether, kEach };

  // From |begin_ns| on it is the time of |state|.
  CellBook(int64_t begin_ns, const CpuState& state, Devices devices);

  // The GPU side until the next call. It begins where the book stands.
  void OpenWindow(const GpuWindow& gpu);

  // From |now_ns| on, a time of the window, it is the time of |state|. Never goes back.
  void SwitchTo(const CpuState& state, int64_t now_ns) {
    Switch(state.phase, DoingOf(state), now_ns, &at_);
  }

  // The same for each of |changes|, whose times are clipped to |span|, under |phase|:
  // |doing_of|(what the change says) has an operation, be it kNoOperationIndex.
  template <typename DoingOf>
  void SwitchAll(std::span<const ThreadChange> changes, PhaseIndex phase, const Interval& span,
                 DoingOf doing_of) {
    if (changes.empty()) return;
    const bool inside =
        changes.front().time_ns >= span.begin_ns && changes.back().time_ns <= span.end_ns;
    Place at = at_;  // stays in registers, as long as all that changes it is inline
    for (const ThreadChange& change : changes) {
      const int64_t now_ns =
          inside ? change.time_ns : std::clamp(change.time_ns, span.begin_ns, span.end_ns);
      Switch(phase, doing_of(change.doing), now_ns, &at);
    }
    at_ = at;
  }

  // Books what passes until |now_ns|, a time of the window.
  void BookUntil(int64_t now_ns) { Book(now_ns, &at_); }

  // Closes a book that stands where |other| stands, in the same state, and from then on gets the
  // same time: keeps what it has more than |other|, and little memory. It has to be reopened before
  // anything else is asked of it.
  void Close(const CellBook& other);
  // Then it has what |other| got meanwhile, and stands where that one does.
  void Reopen(const CellBook& other);

  // What was booked until the window's end. The object that reads is new, and goes on in |state|.
  void Visit(StateArchive& archive, const CpuState& state);

  size_t devices() const { return by_device_.size(); }
  // What was booked; in the order of first use.
  std::vector<Row> Rows() const;

  // What is booked from here on is a new part of the time. Before the first, parts are not
  // followed.
  void BeginPart() {
    ++part_;
    touched_.clear();
    books_more_ = true;
  }
  // Calls |on_cell|(CpuState, GpuState, ns) for the cells to which this part has booked, which may
  // be few of many; several may be of one operation and state.
  template <typename OnCell>
  void ForEachCellOfPart(OnCell on_cell) const {
    for (const Touched& touched : touched_) {
      const Account& now = rows_[touched.row];
      for (GpuMix mix = 0; mix < kGpuMixes; ++mix) {
        on_cell(names_[touched.row].state, StateOf(mix), now.by_mix[mix] - touched.before[mix]);
      }
    }
  }

 private:
  static constexpr uint64_t kNoKey = ~uint64_t{0};
  struct Slot {
    uint64_t key = kNoKey;
    size_t row = 0;
  };
  struct Account {
    std::array<int64_t, kGpuMixes> by_mix{};
    int64_t sum_ns = 0;
    int64_t graph_ns = 0;
    FilledTime filled = 0;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(by_mix, sum_ns, graph_ns, filled);
    }
  };
  struct RowName {
    CpuState state;
    bool waiting;
    uint64_t Key() const { return KeyOf(state.phase, DoingOf(state), waiting); }
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(state, waiting);
    }
  };
  // A row to which the part has booked, as it was before.
  struct Touched {
    size_t row = 0;
    std::array<int64_t, kGpuMixes> before{};
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(row, before);
    }
  };
  using DeviceAccount = std::array<int64_t, kDeviceStates>;
  // In the window.
  struct Place {
    int64_t now_ns = 0;
    const GpuSegment* segment = nullptr;
    int64_t sum_ns = 0;  // of the segments until now
    int64_t graph_ns = 0;
    uint64_t filled = 0;
  };

  [[gnu::always_inline]] void Switch(PhaseIndex phase, const Doing& doing, int64_t now_ns,
                                     Place* at) {
    const uint64_t key = KeyOf(phase, doing, IsWaiting(doing));
    if (key == key_) return;
    Book(now_ns, at);
    key_ = key;
    const Slot& home = slots_[HomeOf(key)];
    current_ = home.key == key ? home.row : Find(CpuStateOf(phase, doing));
  }
  [[gnu::always_inline]] void Book(int64_t now_ns, Place* at) {
    if (books_more_) BookMore(at->now_ns, now_ns);
    Account& account = rows_[current_];
    if (now_ns - at->now_ns > kLongestStretchNs) AddLongStretch(*at, now_ns, &account);
    const GpuSegment* segment = at->segment;
    int64_t since_ns = at->now_ns;
    for (int64_t next_ns; (next_ns = segment[1].begin_ns) <= now_ns; ++segment) {
      account.by_mix[segment->mix] += next_ns - since_ns;
      since_ns = next_ns;
    }
    account.by_mix[segment->mix] += now_ns - since_ns;
    const int64_t into_ns = now_ns - segment->begin_ns;
    const int64_t sum_ns = segment->sum_ns + int64_t{segment->running} * into_ns;
    const int64_t graph_ns = segment->graph_ns + (segment->in_graph ? into_ns : 0);
    const uint64_t filled = segment->filled + segment->fill * static_cast<uint64_t>(into_ns);
    account.sum_ns += sum_ns - at->sum_ns;
    account.graph_ns += graph_ns - at->graph_ns;
    account.filled += filled - at->filled;
    *at = {now_ns, segment, sum_ns, graph_ns, filled};
  }
  static void AddLongStretch(Place at, int64_t now_ns, Account* account);
  // For the part and for each device.
  void BookMore(int64_t begin_ns, int64_t now_ns) {
    if (part_ != 0 && (current_ >= part_of_.size() || part_of_[current_] != part_)) Touch();
    if (!by_device_.empty()) BookDevices(begin_ns, now_ns);
  }
  void Touch();
  void AddAll(const CellBook& other, int sign);
  // For a known other process.
  static bool IsWaiting(const Doing& doing) {
    return doing.layer() == Layer::kWait && doing.peer() != kNotOne;
  }
  static uint64_t KeyOf(PhaseIndex phase, const Doing& doing, bool waiting) {
    static_assert(2 * kMaxLabels <= uint64_t{1} << Doing::kPeerBits);
    return doing.BitsWithoutPeer() | uint64_t{phase} << 1 | (waiting ? 1u : 0u);
  }
  size_t HomeOf(uint64_t key) const {
    constexpr uint64_t kHashFactor = 0x9e3779b97f4a7c15;
    return static_cast<size_t>((key * kHashFactor) >> 32) & slot_mask_;
  }
  size_t Find(const CpuState& state);
  size_t Find(const RowName& name);
  void EnterState(const CpuState& state);
  void MakeSlots(size_t count);
  void Index();
  void BookDevices(int64_t begin_ns, int64_t now_ns);
  void MeetDevice();
  static DeviceAccount OfDevice(const Account& account, bool first);

  const Devices devices_;
  std::vector<Slot> slots_;  // open addressing; a power of two
  size_t slot_mask_ = 0;     // its size less one
  std::vector<RowName> names_;
  std::vector<Account> rows_;
  // Where the process uses several devices: by device, then row.
  std::vector<std::vector<DeviceAccount>> by_device_;
  uint64_t key_ = kNoKey;
  size_t current_ = 0;

  bool books_more_ = false;        // there are parts or several devices
  uint64_t part_ = 0;              // 0: parts are not followed
  std::vector<uint64_t> part_of_;  // by row: the part that booked to it last
  std::vector<Touched> touched_;

  Place at_;
  std::vector<const DeviceSegment*> device_segments_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_SWEEP_CELL_BOOK_H_
