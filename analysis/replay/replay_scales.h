// SPDX-License-Identifier: Apache-2.0
//
// By how much a what-if changes the time of each operation, layer and kernel of one process: looked
// up by number. Plain values, no thread rule.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_SCALES_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_SCALES_H_

#include <array>
#include <vector>

#include "analysis/replay/what_if.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/run.h"

namespace gpubound {

class ReplayScales {
 public:
  // |operations| as LabelRoles numbers them.
  ReplayScales(const ProcessTrace& process, const std::vector<std::string>& operations,
               const WhatIf& changes);

  // Of CPU time outside and inside calls. A wait lasts as long as what it waits for, whichever
  // operation it lies in; that of a call is no part of this.
  double Of(OperationIndex operation, Layer layer) const {
    const bool waits = layer == Layer::kWait || layer == Layer::kCudaSync;
    return by_layer_[static_cast<size_t>(layer)] * (waits ? 1 : by_operation_[operation]);
  }
  // Of the duration of device work.
  double Of(WorkId work) const {
    return Raw(work) < by_work_.size() ? by_work_[Raw(work)] : device_;
  }
  // Of the duration of device work that an operation launched, beside what its name says.
  double OfLaunchedIn(OperationIndex operation) const { return of_launched_[operation]; }
  // The least, and the most, that work is multiplied by of which nothing is known.
  double LeastOfWork() const { return least_of_work_; }
  double MostOfWork() const { return most_of_work_; }
  // Whether occurrences become one graph, or one kernel.
  bool captures(OperationIndex operation) const { return captures_[operation]; }
  bool fuses(OperationIndex operation) const { return fuses_[operation]; }
  bool merges_any() const { return merges_any_; }
  bool scales_cpu() const { return scales_cpu_; }

 private:
  static constexpr size_t kLayers = 8;
  std::array<double, kLayers> by_layer_;
  std::vector<double> by_operation_;
  std::vector<double> of_launched_;
  std::vector<double> by_work_;
  std::vector<bool> captures_;
  std::vector<bool> fuses_;
  double device_ = 1;
  double least_of_work_ = 1;
  double most_of_work_ = 1;
  bool scales_cpu_ = false;
  bool merges_any_ = false;
};

// Whether a call of this name launches device work that a graph could hold, and does not wait.
bool IsCapturable(std::string_view api);

// Whether a call of this name launches a kernel.
bool LaunchesKernel(std::string_view api);

// Whether CUDA refuses a call of this name in a stream that is being captured: one that waits for
// the device or asks whether it is done, or allocates (CUDA C++ Programming Guide, "Prohibited and
// Unhandled Operations").
bool EndsCapture(std::string_view api);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_SCALES_H_
