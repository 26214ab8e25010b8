// SPDX-License-Identifier: Apache-2.0
//
// The root and the span of a run. No state.
#include "analysis/run_span.h"

#include <algorithm>

namespace gpubound {

bool IsParent(const ProcessTrace& parent, const ProcessTrace& child) {
  return child.parent_pid != 0 && &parent != &child &&
         parent.identity.host == child.identity.host && parent.identity.pid == child.parent_pid;
}

namespace {

// Nothing of it could be read but its name.
bool HasNoSpan(const ProcessTrace& process) {
  return !process.begin_is_known && process.span_end_ns <= process.span_begin_ns;
}

// Nothing of a run comes before its root, unless that was another program then, which did not
// record: a shell that ran others before it executed this one in its place.
int64_t BeginOf(const Run& run, const ProcessTrace& root) {
  int64_t begin_ns = root.span_begin_ns;
  if (!run.info || !run.steps.empty()) return begin_ns;
  for (const ProcessTrace& process : run.processes) {
    if (HasNoSpan(process) || process.identity.host != root.identity.host) continue;
    begin_ns = std::min(begin_ns, process.span_begin_ns);
  }
  const int64_t started_ns = run.info->start_monotonic_ns;
  const bool was_another = begin_ns < root.span_begin_ns;
  return was_another && started_ns > 0 ? std::min(begin_ns, started_ns) : begin_ns;
}

}  // namespace

const ProcessTrace* FindRoot(const Run& run) {
  const ProcessTrace* root = nullptr;
  for (const ProcessTrace& process : run.processes) {
    if (HasNoSpan(process)) continue;
    if (run.info && process.identity.pid == run.info->root_pid &&
        process.identity.host == run.info->host) {
      // Exec in place gives the root's pid to a second process; the first one began the run.
      if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
    }
  }
  if (root != nullptr || run.info) return root;
  for (const ProcessTrace& process : run.processes) {
    if (HasNoSpan(process)) continue;
    const bool has_parent =
        std::any_of(run.processes.begin(), run.processes.end(),
                    [&](const ProcessTrace& other) { return IsParent(other, process); });
    if (has_parent) continue;
    // A foreign trace does not say which process started which: the first to begin is any of them.
    if (root != nullptr && process.device_kind == "imported") return nullptr;
    if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
  }
  return root;
}

const ProcessTrace* LastOfRun(const Run& run, const ProcessTrace* root) {
  const ProcessTrace* last = nullptr;
  for (const ProcessTrace& process : run.processes) {
    if (root != nullptr && (process.identity.pid != root->identity.pid ||
                            process.identity.host != root->identity.host)) {
      continue;
    }
    if (last == nullptr || process.span_end_ns > last->span_end_ns) last = &process;
  }
  return last;
}

Interval RunSpan(const Run& run, const ProcessTrace* root) {
  const ProcessTrace* const last = LastOfRun(run, root);
  Interval span{kOpenEnded, last == nullptr ? 0 : last->span_end_ns};
  if (root != nullptr) {
    span.begin_ns = BeginOf(run, *root);
    return span;
  }
  for (const ProcessTrace& process : run.processes) {
    span.begin_ns = std::min(span.begin_ns, process.span_begin_ns);
  }
  if (run.info && run.steps.empty()) {
    span.begin_ns = std::min(span.begin_ns, run.info->start_monotonic_ns);
    if (run.info->end_monotonic_ns)
      span.end_ns = std::max(span.end_ns, *run.info->end_monotonic_ns);
  }
  return span.empty() ? Interval{0, 0} : span;
}

}  // namespace gpubound
