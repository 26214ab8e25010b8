// SPDX-License-Identifier: Apache-2.0
//
// What the devices of a process did over time: every change of what runs on them. The sweep writes
// it while it goes along the work, for those who bring processes together (device_usage.h) and need
// neither to decode nor to put in order what has been. Memory is bounded: beyond a few megabytes it
// lies in a file without a name.
//
// Times go on from 0, modulo 2^64, and devices from 0:
//
//   a word   31                     5 4       1 0
//           +------------------------+---------+-+
//           | ns since the one before| running |0|   of the device named last
//           +------------------------+-------+-+-+
//           | device                         |0|1|
//           +--------------------------------+-+-+
//           | so many times 2^27 ns go by    |1|1|
//           +--------------------------------+-+-+
//
// Written by one thread, then finished; each reader is of one thread.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_DEVICE_ACTIVITY_H_
#define GPUBOUND_ANALYSIS_TIMELINE_DEVICE_ACTIVITY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/record_log.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// What runs on a device: a bit per class, as in a GpuState, and one for graphs that were recorded
// as a whole.
using RunningWork = uint32_t;
inline constexpr RunningWork kGraphRuns = 1u << kWorkClasses;

// Of devices that may run some, each at most once, in no order. The others run nothing.
using RunningOnDevices = std::vector<std::pair<uint32_t, RunningWork>>;

// For how long each ran, by RunningWork.
using RunningTimes = std::array<int64_t, 2 * kGraphRuns>;

class DeviceActivity {
 public:
  struct Change {
    int64_t time_ns = 0;
    uint32_t device = 0;  // DeviceId
    RunningWork now = 0;
  };

  // |folder|: of the file, where one is needed.
  explicit DeviceActivity(std::string folder) : space_(std::move(folder), kMemoryBytes) {}
  DeviceActivity(const DeviceActivity&) = delete;
  DeviceActivity& operator=(const DeviceActivity&) = delete;

  // What ran when the time begins that this is about; before the first change.
  void BeginWith(uint32_t device, RunningWork now);

  // From |time_ns| on, which never goes back, |now| runs on |device|.
  void Add(uint32_t device, int64_t time_ns, RunningWork now) {
    const uint64_t passed = static_cast<uint64_t>(time_ns) - last_ns_;
    if (device != device_ || passed >= kStep) return AddSlowPath(device, time_ns, now);
    last_ns_ = static_cast<uint64_t>(time_ns);
    Put(static_cast<uint32_t>(passed << kTimeShift) | now << 1);
  }

  // A device of the process ran some work, perhaps without length.
  void Use(uint32_t device) { used_.push_back(device); }

  // Nothing is added any more.
  void Finish() { Seal(); }
  // How long the log is, in words.
  size_t size() const;
  // When the first |words| of the log are over.
  int64_t TimeBehind(size_t words) const;

  const std::vector<uint32_t>& used() const { return used_; }
  // Why the file could not be written or read; what was read is void then.
  const std::optional<Error>& error() const { return space_.error(); }

  // A word of the log: a change of the same device or something else, by how much later it comes
  // and what runs from then on.
  static bool IsChange(uint32_t word) { return (word & 1) == 0; }
  static uint32_t StepOf(uint32_t word) { return word >> kTimeShift; }
  static RunningWork RunningOf(uint32_t word) { return word >> 1 & kRunningMask; }

  class Reader {
   public:
    explicit Reader(const DeviceActivity& activity) : activity_(activity) {}
    // Goes to the first change at |time_ns| or later. Returns what ran until then.
    RunningOnDevices Seek(int64_t time_ns);
    // False at the end.
    bool Next(Change* change) {
      while (next_ != words_.size() || ReadBlock()) {
        const uint32_t word = words_[next_++];
        if (!Take(word)) continue;
        *change = {static_cast<int64_t>(time_ns_), device_, RunningOf(word)};
        return true;
      }
      return false;
    }

    // What lies ahead in the log, as far as it is at hand; then, so many of it, |step_ns| in all,
    // were taken from there.
    std::span<const uint32_t> ahead() const { return words_.subspan(next_); }
    void Skip(size_t words, uint64_t step_ns) {
      next_ += words;
      time_ns_ += step_ns;
    }

    // Whether the next one is at hand and of the same device.
    bool GoesOn() const { return next_ != words_.size() && IsChange(words_[next_]); }
    // Goes on so for no more than |most_ns|: |change|, the last one, becomes the one behind which
    // that is over, and what passes until then is added to |times|.
    void Sum(uint64_t most_ns, Change* change, RunningTimes* times);

   private:
    friend class DeviceActivity;
    void GoTo(size_t block);
    bool ReadBlock();
    // Comes to where |word| says. Whether it is a change.
    bool Take(uint32_t word) {
      if (!IsChange(word)) {
        Escape(word);
        return false;
      }
      time_ns_ += StepOf(word);
      return true;
    }
    void Escape(uint32_t word);

    const DeviceActivity& activity_;
    size_t next_block_ = 0;
    std::vector<uint32_t> buffer_;
    std::span<const uint32_t> words_;
    size_t next_ = 0;
    uint64_t time_ns_ = 0;
    uint32_t device_ = 0;
  };

 private:
  static constexpr size_t kMemoryBytes = size_t{4} << 20;
  static constexpr int kTimeShift = 5;
  static constexpr uint32_t kRunningMask = 2 * kGraphRuns - 1;
  static_assert(kRunningMask < std::tuple_size_v<RunningTimes>);
  static_assert(kRunningMask < 1u << (kTimeShift - 1));
  static constexpr uint64_t kStep = uint64_t{1} << (32 - kTimeShift);
  enum EscapeKind : uint32_t { kDevice = 1, kSteps = 3 };
  static constexpr int kEscapeShift = 2;

  // Where a block of the log begins.
  struct Mark {
    uint64_t time_ns = 0;
    uint32_t device = 0;
    RunningOnDevices running;
  };

  void AddSlowPath(uint32_t device, int64_t time_ns, RunningWork now);
  void CatchUp();
  RunningWork& On(uint32_t device);
  RunningOnDevices Running() const;
  void Put(uint32_t word) {
    log_.open_block().push_back(word);
    if (log_.full()) Seal();
  }
  void Seal();

  LogSpace space_;
  RecordLog<uint32_t> log_{&space_};
  std::vector<uint32_t> used_;
  std::vector<Mark> marks_{1};  // of each block, and of the one that is open
  uint64_t last_ns_ = 0;
  uint32_t device_ = 0;
  RunningWork now_ = 0;           // on that device, as far as the open block does not tell
  RunningOnDevices running_;      // on the others
  std::vector<uint32_t> places_;  // of devices in running_, from 1
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_DEVICE_ACTIVITY_H_
