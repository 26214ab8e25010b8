// SPDX-License-Identifier: Apache-2.0
//
// What a sweep over a process needs, from its begin or from where its sums end: roles of its labels
// and threads, unknown time, inherited operations. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_ATTRIBUTION_SWEEP_SETUP_H_
#define GPUBOUND_ANALYSIS_ATTRIBUTION_SWEEP_SETUP_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/attribution/process_report.h"
#include "analysis/sweep/overlap_sweep.h"
#include "analysis/timeline/resumed_source.h"
#include "analysis/trace/label_roles.h"
#include "analysis/trace/thread_scan.h"

namespace gpubound {

class SweepSetup {
 public:
  // Everything outlives the object.
  SweepSetup(const ProcessTrace& process, const EventSource& source,
             const BreakdownOptions& options, const ProcessContext& context);
  SweepSetup(const SweepSetup&) = delete;
  SweepSetup& operator=(const SweepSetup&) = delete;

  const SweepInput& input() const { return input_; }
  // The events that the sums do not hold.
  const EventSource& source() const { return *input_.source; }
  const LabelRoles& roles() const { return *roles_; }
  const ThreadScan& scan() const { return scan_; }
  bool opens_operations() const { return opens_operations_; }
  bool inherits() const { return inherits_; }
  // What the labels mean, those before |count|, as a number that differs where they differ.
  uint64_t RolesUntil(uint64_t count) const;
  // Whether labels or threads turn out to have been something else than what the sums took them
  // for.
  bool contradicts_sums() const { return contradicts_sums_; }

 private:
  void ChooseRoles(const BreakdownOptions& options);
  void ScanRoles();
  void Inherit();
  void ClipUnknown();

  const ProcessTrace& process_;
  const ProcessContext& context_;
  std::optional<ResumedSource> resumed_;
  std::optional<LabelRoles> roles_;
  ThreadScan scan_;
  std::vector<InheritedOperation> inherited_;
  std::vector<Interval> unknown_;
  bool opens_operations_ = false;
  bool inherits_ = false;
  bool contradicts_sums_ = false;
  SweepInput input_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_ATTRIBUTION_SWEEP_SETUP_H_
