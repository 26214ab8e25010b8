// SPDX-License-Identifier: Apache-2.0
//
// The root and the span of a run. No state.
#include "analysis/run_span.h"

#include <algorithm>

namespace gpubound {

const ProcessTrace* FindRoot(const Run& run) {
  const ProcessTrace* root = nullptr;
  for (const ProcessTrace& process : run.processes) {
    if (run.info && process.identity.pid == run.info->root_pid &&
        process.identity.host == run.info->host) {
      // Exec in place gives the root's pid to a second process; the first one began the run.
      if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
    }
  }
  if (root != nullptr || run.info) return root;
  for (const ProcessTrace& process : run.processes) {
    const bool has_parent =
        std::any_of(run.processes.begin(), run.processes.end(), [&](const ProcessTrace& other) {
          return &other != &process && other.identity.host == process.identity.host &&
                 other.identity.pid == process.parent_pid;
        });
    if (has_parent) continue;
    if (root == nullptr || process.span_begin_ns < root->span_begin_ns) root = &process;
  }
  return root;
}

Interval RunSpan(const Run& run, const ProcessTrace* root) {
  if (root != nullptr) {
    Interval span{root->span_begin_ns, root->span_end_ns};
    for (const ProcessTrace& process : run.processes) {
      if (process.identity.pid != root->identity.pid ||
          process.identity.host != root->identity.host) {
        continue;
      }
      span.end_ns = std::max(span.end_ns, process.span_end_ns);
    }
    return span;
  }
  Interval span{kOpenEnded, 0};
  for (const ProcessTrace& process : run.processes) {
    span.begin_ns = std::min(span.begin_ns, process.span_begin_ns);
    span.end_ns = std::max(span.end_ns, process.span_end_ns);
  }
  if (run.info) {
    span.begin_ns = std::min(span.begin_ns, run.info->start_monotonic_ns);
    if (run.info->end_monotonic_ns)
      span.end_ns = std::max(span.end_ns, *run.info->end_monotonic_ns);
  }
  return span.empty() ? Interval{0, 0} : span;
}

}  // namespace gpubound
