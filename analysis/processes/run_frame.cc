// SPDX-License-Identifier: Apache-2.0
//
// The root, the span and the clock of a run. No state.
#include "analysis/processes/run_frame.h"

#include <algorithm>
#include <map>
#include <string>

#include "analysis/processes/clock_align.h"

namespace gpubound {

ParentTable::ParentTable(const Run& run) {
  for (const ProcessTrace& process : run.processes) {
    ++count_[{process.identity.host, process.identity.pid}];
  }
}

bool ParentTable::HasParentOf(const ProcessTrace& child) const {
  if (child.parent_pid == 0) return false;
  const auto found = count_.find({child.identity.host, child.parent_pid});
  const uint32_t itself = child.parent_pid == child.identity.pid ? 1 : 0;
  return found != count_.end() && found->second > itself;
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

// Times of all processes of a run in that of one of its hosts.
class CommonTime {
 public:
  explicit CommonTime(const Run& run) : run_(run) {
    if (run.info) {
      reference_ = run.info->host;
    } else if (!run.processes.empty()) {
      reference_ = run.processes.front().identity.host;
    }
  }

  int64_t BeginOf(const ProcessTrace& process) {
    return process.span_begin_ns + ShiftOf(process.identity.host);
  }
  int64_t EndOf(const ProcessTrace& process) {
    return process.span_end_ns + ShiftOf(process.identity.host);
  }

 private:
  int64_t ShiftOf(const std::string& host) {
    const auto [known, is_new] = shifts_.try_emplace(host, 0);
    if (is_new) known->second = RealtimeShift(run_, host, reference_);
    return known->second;
  }

  const Run& run_;
  std::string reference_;
  std::map<std::string, int64_t> shifts_;  // by host
};

// Of a run without a recorded root.
Interval SpanOfAll(const Run& run) {
  const RunInfo* const launcher = run.info && run.steps.empty() ? &*run.info : nullptr;
  // Behind the end of a recording the program went on, and what it did is not part of the run.
  const bool ended_as_asked =
      std::any_of(run.processes.begin(), run.processes.end(),
                  [](const ProcessTrace& process) { return process.span_end == SpanEnd::kAsked; });
  const bool saw_end =
      launcher != nullptr && launcher->end_monotonic_ns.has_value() && !ended_as_asked;
  Interval span{kOpenEnded, 0};
  if (launcher != nullptr) span.begin_ns = launcher->start_monotonic_ns;
  if (saw_end) span.end_ns = *launcher->end_monotonic_ns;
  CommonTime time(run);
  for (const ProcessTrace& process : run.processes) {
    // How long they took there the launcher has measured by its own clock.
    const bool measured = saw_end && process.identity.host != launcher->host;
    if (measured || HasNoSpan(process)) continue;
    span.begin_ns = std::min(span.begin_ns, time.BeginOf(process));
    span.end_ns = std::max(span.end_ns, time.EndOf(process));
  }
  return span.empty() ? Interval{0, 0} : span;
}

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
  CommonTime time(run);
  const ParentTable parents(run);
  for (const ProcessTrace& process : run.processes) {
    if (HasNoSpan(process) || parents.HasParentOf(process)) continue;
    // A foreign trace does not say which process started which: the first to begin is any of them.
    if (root != nullptr && process.device_kind == "imported") return nullptr;
    if (root == nullptr || time.BeginOf(process) < time.BeginOf(*root)) root = &process;
  }
  return root;
}

const ProcessTrace* LastOfRun(const Run& run, const ProcessTrace* root) {
  const ProcessTrace* last = nullptr;
  CommonTime time(run);
  for (const ProcessTrace& process : run.processes) {
    if (root != nullptr && (process.identity.pid != root->identity.pid ||
                            process.identity.host != root->identity.host)) {
      continue;
    }
    if (last == nullptr || time.EndOf(process) > time.EndOf(*last)) last = &process;
  }
  return last;
}

Interval SpanOf(const Run& run, const ProcessTrace* root, const ProcessTrace* last) {
  if (root == nullptr) return SpanOfAll(run);
  return {BeginOf(run, *root), last == nullptr ? 0 : last->span_end_ns};
}

size_t NumberOf(const Run& run, const ProcessTrace* process) {
  return process == nullptr ? run.processes.size()
                            : static_cast<size_t>(process - run.processes.data());
}

const ProcessTrace* ProcessAt(const Run& run, size_t number) {
  return number < run.processes.size() ? &run.processes[number] : nullptr;
}

}  // namespace

RunFrame FrameOf(const Run& run) {
  const ProcessTrace* const root = FindRoot(run);
  const ProcessTrace* const last = LastOfRun(run, root);
  RunFrame frame;
  frame.root = NumberOf(run, root);
  frame.last = NumberOf(run, last);
  frame.span = SpanOf(run, root, last);
  if (root != nullptr) {
    frame.host = root->identity.host;
  } else if (run.info) {
    frame.host = run.info->host;
  } else if (!run.processes.empty()) {
    frame.host = run.processes.front().identity.host;
  }
  return frame;
}

const ProcessTrace* RootOf(const Run& run, const RunFrame& frame) {
  return ProcessAt(run, frame.root);
}

const ProcessTrace* LastOf(const Run& run, const RunFrame& frame) {
  return ProcessAt(run, frame.last);
}

}  // namespace gpubound
