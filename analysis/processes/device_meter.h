// SPDX-License-Identifier: Apache-2.0
//
// Follows what runs on one physical device, whoever launched it, and adds up for how long. Windows
// of time may overlap; what is counted is what lies between two neighbouring bounds of any of them:
//
//   windows   |-------------------------------------|
//             |--start-up--|--------iterations--|
//   pieces    |      0     |          1         |  2 |
//
// One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_DEVICE_METER_H_
#define GPUBOUND_ANALYSIS_PROCESSES_DEVICE_METER_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/base/interval.h"
#include "analysis/base/state_archive.h"
#include "analysis/processes/device_usage.h"
#include "analysis/timeline/device_activity.h"
#include "analysis/timeline/smi_model.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

class DeviceMeter {
 public:
  explicit DeviceMeter(const std::vector<Interval>& windows);

  // A process ran some work on the device, perhaps without length. Returns its place in bands().
  size_t Use(size_t process);
  // From |now_ns| on, which never goes back, |now| is what the process of |band| runs.
  void Change(size_t band, int64_t now_ns, RunningWork now) {
    MoveTo(now_ns);
    running_of_[band] = now;
    if (running_of_.size() != 1) return Combine();
    running_ = now;
    busy_bands_ = now != 0 ? 1 : 0;
  }
  // For how long from |now_ns| on, the time of the last change, it is enough to be told what ran
  // for how long: as long as there is one process, and neither a window ends nor a decision of a
  // model of nvidia-smi is due.
  uint64_t PlainNs(int64_t now_ns) const {
    const int64_t until_ns = std::min(pieces_[piece_].end_ns, undecided_ns_);
    const bool is_plain = running_of_.size() == 1 && now_ns == now_ns_ && now_ns < until_ns;
    return is_plain ? static_cast<uint64_t>(until_ns) - static_cast<uint64_t>(now_ns) : 0;
  }
  // So long it was, until |now_ns|, from when on |now| runs.
  void Change(const RunningTimes& times, int64_t now_ns, RunningWork now);

  // Changes of few bands one after the other, of which no more has to be known than for how long
  // what ran.
  class Stretch {
   public:
    static constexpr size_t kMostBands = 4;

    // Begins at the last change.
    explicit Stretch(const DeviceMeter& meter);
    bool possible() const { return now_ns_ < until_ns_; }
    // Changes come before it.
    int64_t until_ns() const { return until_ns_; }
    // As DeviceMeter::Change().
    void Change(size_t band, int64_t now_ns, RunningWork now) {
      const int64_t ns = now_ns - now_ns_;
      now_ns_ = now_ns;
      times_[running_] += ns;
      alone_ns_[busy_ == 1 ? busy_bands_sum_ : kMostBands] += ns;
      for (Band& each : bands_) each.busy_ns += each.running != 0 ? ns : 0;
      bands_[band].running = now;
      Combine();
    }

    // What a band does next, and the words of its log behind that.
    struct Lane {
      int64_t next_ns = 0;
      RunningWork next = 0;
      std::span<const uint32_t> ahead;
      size_t taken = 0;     // words; below
      int64_t step_ns = 0;  // of those
    };
    // Of two bands: all that both do, as far as the words go and before |until_ns|: |lanes| are
    // where the bands have come to then.
    void RunPair(const std::array<Lane*, 2>& lanes, int64_t until_ns);

   private:
    friend class DeviceMeter;
    struct Band {
      RunningWork running = 0;
      int64_t busy_ns = 0;
    };
    void Combine() {
      running_ = 0;
      busy_ = 0;
      busy_bands_sum_ = 0;
      for (size_t band = 0; band < kMostBands; ++band) {
        const RunningWork of = bands_[band].running;
        running_ |= of;
        busy_ += of != 0 ? 1 : 0;
        busy_bands_sum_ += of != 0 ? band : 0;
      }
    }
    std::array<Band, kMostBands> bands_;
    std::array<int64_t, kMostBands + 1> alone_ns_{};  // by band; the last one: none or several
    RunningTimes times_{};
    RunningWork running_ = 0;
    size_t busy_ = 0;            // bands
    size_t busy_bands_sum_ = 0;  // of their numbers: of one, its number
    int64_t now_ns_;
    int64_t until_ns_;
  };
  void Take(const Stretch& stretch);

  // Nothing changes until |now_ns|.
  void MoveTo(int64_t now_ns) {
    if (now_ns <= now_ns_) return;
    if (running_ != 0) Pass(now_ns);
    now_ns_ = now_ns;
  }

  // Before anything else: when, disjoint and ascending, work could have run unrecorded.
  void SetUnknown(std::vector<Interval> times) { unknown_ = std::move(times); }
  // All that begins before |until_ns|; AddKernel() does by itself what comes before a kernel.
  void PassUnknown(int64_t until_ns);

  // Goes on with what |later| was told, of the same windows, from where this one has come to.
  void Append(const DeviceMeter& later);

  // Nothing changes until all windows have ended: work may have no end.
  void MoveToEnd() {
    if (pieces_.size() > 1) MoveTo(pieces_[pieces_.size() - 2].end_ns);
  }

  // What it was told so far. The object that reads goes on at |from_ns|, when nothing runs as far
  // as it knows. Of its windows, those that begin before |from_ns| were windows of the one that
  // wrote, or begin where one without an end did and end at |from_ns| or later; else the archive
  // has failed.
  void Visit(StateArchive& archive, int64_t from_ns);
  // Processes get other numbers: |numbers|, by the one they had.
  void Renumber(const std::vector<size_t>& numbers);

  std::vector<DeviceTime> Times() const;                           // by window
  const std::vector<DeviceBand>& bands() const { return bands_; }  // by first use

 private:
  static constexpr RunningWork kClasses = kGraphRuns - 1;
  static constexpr RunningWork kKernels = kClasses & ~(1u << kCopy);
  struct Sums {
    std::array<int64_t, kGpuStates> by_state{};
    int64_t graph_ns = 0;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(by_state, graph_ns);
    }
    void Add(RunningWork running, int64_t ns) {
      by_state[running & kClasses] += ns;
      if ((running & kGraphRuns) != 0) graph_ns += ns;
    }
    void Add(const Sums& other) {
      for (size_t state = 0; state < kGpuStates; ++state) by_state[state] += other.by_state[state];
      graph_ns += other.graph_ns;
    }
  };
  struct Window {
    Interval time;
    Sums before;  // of what was read
    SmiModel smi;
  };
  struct Piece {
    int64_t end_ns;
    bool in_first;  // window
    Sums sums;
  };
  // Some work has run until |until_ns|.
  void Pass(int64_t until_ns) {
    if ((running_ & kKernels) != 0 && until_ns > undecided_ns_) AddKernel({now_ns_, until_ns});
    Piece& piece = pieces_[piece_];
    if (now_ns_ >= piece.end_ns || until_ns > piece.end_ns) return PassPieces(until_ns);
    Book(&piece, until_ns - now_ns_);
  }
  void PassPieces(int64_t until_ns);
  void Combine();
  void AddKernel(const Interval& time);
  void Book(Piece* piece, int64_t ns) {
    piece->sums.Add(running_, ns);
    if (!piece->in_first) return;
    if (running_of_.size() != 1) return BookBands(ns);
    bands_.front().alone_ns += ns;
  }
  void BookBands(int64_t ns);
  Sums SumsOf(const Window& window) const;

  std::vector<Window> windows_;
  std::vector<Piece> pieces_;  // the last one has no end
  size_t piece_ = 0;           // in which |now_ns_| lies, or before
  std::vector<DeviceBand> bands_;
  std::vector<RunningWork> running_of_;  // by band
  RunningWork running_ = 0;              // of all together
  size_t busy_bands_ = 0;
  std::vector<Interval> unknown_;
  size_t next_unknown_ = 0;
  int64_t now_ns_ = INT64_MIN;
  int64_t undecided_ns_ = INT64_MIN;  // of a window's model of nvidia-smi, the first
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_DEVICE_METER_H_
