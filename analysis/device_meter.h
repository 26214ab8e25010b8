// SPDX-License-Identifier: Apache-2.0
//
// Follows the work of one physical device, whoever launched it, and adds up what ran. One object,
// one caller.
#ifndef GPUBOUND_ANALYSIS_DEVICE_METER_H_
#define GPUBOUND_ANALYSIS_DEVICE_METER_H_

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/device_usage.h"
#include "analysis/interval.h"
#include "analysis/smi_model.h"
#include "analysis/state_archive.h"
#include "analysis/work_classes.h"

namespace gpubound {

class DeviceMeter {
 public:
  explicit DeviceMeter(const std::vector<Interval>& windows);

  // Work comes in order of begin.
  // |is_graph|: it is a graph that was recorded as a whole.
  void Begin(const Interval& work, WorkClass work_class, bool is_graph, size_t process);

  // What it was told so far. Of the windows of the object that reads, those that begin before
  // |from_ns| were windows of the one that wrote, or begin where one without an end did and end at
  // |from_ns| or later; else the archive has failed.
  void Visit(StateArchive& archive, int64_t from_ns);
  // Processes get other numbers: |numbers|, by the one they had.
  void Renumber(const std::vector<size_t>& numbers);

  // Call once, last.
  std::vector<DeviceTime> Finish();
  const std::vector<DeviceBand>& bands() const { return bands_; }  // by first use

 private:
  struct Running {
    int64_t end_ns;
    WorkClass work_class;
    bool is_graph;
    size_t band;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(end_ns, is_graph, band);
      archive.IndexBelow(kWorkClasses, work_class);
    }
  };
  struct Window {
    Interval time;
    std::array<int64_t, kGpuStates> by_state;
    SmiModel smi;
    int64_t graph_ns = 0;
    template <typename Archive>
    void Visit(Archive& archive) {
      archive.All(by_state, smi, graph_ns);
    }
  };
  void MoveTo(int64_t now_ns) {
    while (!works_.empty() && works_.back().end_ns <= now_ns) EndLast();
    if (!works_.empty() && now_ns > now_ns_) Pass(now_ns);
    now_ns_ = now_ns;
  }
  void EndLast();
  void Pass(int64_t until_ns);
  size_t BandOf(size_t process) {
    if (last_band_ < bands_.size() && bands_[last_band_].process == process) return last_band_;
    return FindBand(process);
  }
  size_t FindBand(size_t process);
  void VisitWindows(StateArchive& archive, int64_t from_ns);

  std::vector<Window> windows_;
  std::vector<Running> works_;  // that run now, by end, latest first
  ActiveSet classes_;
  std::vector<DeviceBand> bands_;
  std::vector<int64_t> running_;  // pieces of work, by band
  size_t running_graphs_ = 0;
  size_t busy_bands_ = 0;
  size_t last_band_ = 0;  // that work began in
  int64_t now_ns_ = INT64_MIN;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_DEVICE_METER_H_
