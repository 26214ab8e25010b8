// SPDX-License-Identifier: Apache-2.0
//
// Roles are told from all events that are there and from what the sums remember of those that are
// not. One object, one thread.
#include "analysis/attribution/sweep_setup.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "analysis/attribution/breakdown_options.h"
#include "analysis/segments/process_sums.h"

namespace gpubound {
namespace {

class Fingerprint {
 public:
  void Add(uint64_t value) {
    // FNV-1a over eight bytes at once, then mixed: only equality is ever asked.
    hash_ = (hash_ ^ value) * 0x100000001b3;
    hash_ ^= hash_ >> 29;
  }
  uint64_t value() const { return hash_; }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

}  // namespace

SweepSetup::SweepSetup(const ProcessTrace& process, const EventSource& source,
                       const BreakdownOptions& options, const ProcessContext& context)
    : process_(process), context_(context) {
  input_.source = &source;
  if (context.before != nullptr) {
    resumed_.emplace(source, context.before->until_ns);
    input_.source = &*resumed_;
    input_.before = context.before->sweep;
  }
  input_.everything = options.detail == ReportDetail::kAll;
  input_.span = {process.span_begin_ns, std::max(process.span_begin_ns, process.span_end_ns)};
  input_.process = &process;
  ChooseRoles(options);
  ScanRoles();
  Inherit();
  ClipUnknown();
  input_.roles = &*roles_;
  input_.scan = &scan_;
  input_.unknown = &unknown_;
  input_.peers = &context.peers;
  input_.inherited = &inherited_;
}

void SweepSetup::ChooseRoles(const BreakdownOptions& options) {
  const ProcessSums* before = context_.before;
  opens_operations_ =
      (before != nullptr && before->opens_operations) || OpensOperations(process_, *input_.source);
  LabelRoles::Input input;
  input.promoted = &options.operations;
  input.annotations_serve = !opens_operations_;
  input.peers = &context_.peers;
  if (before != nullptr) {
    input.operations = before->operations;
    input.phases = before->phases;
  }
  const std::vector<std::string>& left = context_.left.operations;
  const std::set<std::string> names(left.begin(), left.end());
  input.operations.insert(input.operations.end(), names.begin(), names.end());
  roles_.emplace(process_, input);
  contradicts_sums_ = before != nullptr && RolesUntil(before->labels) != before->roles;
}

void SweepSetup::ScanRoles() {
  scan_ = ScanThreads(process_, *input_.source, *roles_);
  if (context_.before == nullptr) return;
  const ThreadScan& before = context_.before->scan;
  const ThreadScan now = scan_;
  for (size_t t = 0; t < std::min(before.lane.size(), now.lane.size()); ++t) {
    scan_.annotates[t] = before.annotates[t] || now.annotates[t];
    scan_.own[t] = before.own[t] || now.own[t];
    scan_.lane[t] = before.lane[t] || (now.lane[t] && t != before.reporting);
    contradicts_sums_ |= scan_.annotates[t] != before.annotates[t];
    contradicts_sums_ |= scan_.lane[t] != before.lane[t] && t != now.reporting;
  }
  scan_.any_operation |= before.any_operation;
  if (before.any_operation || !now.any_operation) {
    scan_.reporting = before.reporting;
    scan_.started_ns = before.started_ns != INT64_MIN ? before.started_ns : now.started_ns;
  }
  if (scan_.reporting < scan_.lane.size()) scan_.lane[scan_.reporting] = false;
  contradicts_sums_ |= scan_.reporting != before.reporting || scan_.started_ns != before.started_ns;
}

void SweepSetup::Inherit() {
  if (context_.before != nullptr) inherits_ = context_.before->inherits;
  if (scan_.any_operation) return;
  std::vector<OperationIndex> index;  // of what is left, by its own
  for (const std::string& name : context_.left.operations) {
    const std::vector<std::string>& known = roles_->operations();
    const auto found = std::find(known.begin(), known.end(), name);
    index.push_back(static_cast<OperationIndex>(found - known.begin()));
  }
  const int64_t from_ns = context_.before == nullptr ? INT64_MIN : context_.before->until_ns;
  for (const TimeUnder& left : context_.left.times) {
    if (left.time.end_ns < from_ns) continue;
    inherited_.push_back(
        {std::max(left.time.begin_ns, from_ns), left.time.end_ns, index[left.operation]});
  }
  inherits_ |= !inherited_.empty();
}

void SweepSetup::ClipUnknown() {
  for (const UnknownInterval& interval : process_.unknown) {
    unknown_.push_back({interval.start_ns, interval.end_ns});
  }
  unknown_ = Union(std::move(unknown_));
  if (context_.before == nullptr) return;
  const int64_t from_ns = context_.before->until_ns;
  std::erase_if(unknown_, [from_ns](const Interval& time) { return time.end_ns < from_ns; });
  for (Interval& time : unknown_) time.begin_ns = std::max(time.begin_ns, from_ns);
}

uint64_t SweepSetup::RolesUntil(uint64_t count) const {
  Fingerprint fingerprint;
  count = std::min<uint64_t>(count, process_.labels.size());
  for (uint64_t id = 0; id < count; ++id) {
    const LabelRole& role = roles_->Of(static_cast<LabelId>(id));
    fingerprint.Add(role.operation);
    fingerprint.Add(role.phase);
    fingerprint.Add(static_cast<uint64_t>(role.cause));
    if (role.peer == kNotOne) continue;
    const Peer& peer = context_.peers[role.peer];
    for (const int64_t pid : peer.pids) fingerprint.Add(static_cast<uint64_t>(pid));
    fingerprint.Add(peer.simulates ? 1 : 0);
  }
  return fingerprint.value();
}

}  // namespace gpubound
