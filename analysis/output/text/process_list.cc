// SPDX-License-Identifier: Apache-2.0
//
// Folds processes by name. No state.
#include "analysis/output/text/process_list.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/report/main_process.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

// Processes of one line: times are sums, the span is the longest.
struct Line {
  const ReportProcess* first = nullptr;
  size_t count = 0;
  int64_t span_ns = 0;
  int64_t busy_ns = 0;
  int64_t wait_ns = 0;
  int64_t unknown_ns = 0;
  bool is_upper_bound = false;  // busy time
  std::map<SpanEnd, size_t> not_closed;
};

// Whose span ends where its trace does, not where the process did.
bool IsOpenEnded(SpanEnd end) {
  return end == SpanEnd::kLastEvent || end == SpanEnd::kLauncherWait || end == SpanEnd::kGoesOn;
}

// "last event"; of several processes with the number of those.
std::string EndsOf(const Line& line) {
  std::string text;
  for (const auto& [end, count] : line.not_closed) {
    if (!text.empty()) text += ", ";
    if (line.count > 1) text += std::to_string(count) + " x ";
    text += SpanEndName(end);
  }
  return text;
}

std::vector<Line> LinesOf(const Report& report, bool fold) {
  const ReportProcess* const main = MainProcess(report);
  std::vector<Line> lines;
  for (const ReportProcess& process : report.processes) {
    const auto same = [&](const Line& line) {
      return fold && &process != main && line.first != main && line.first->name == process.name;
    };
    auto line = std::find_if(lines.begin(), lines.end(), same);
    if (line == lines.end()) {
      lines.emplace_back().first = &process;
      line = std::prev(lines.end());
    }
    ++line->count;
    line->span_ns = std::max(line->span_ns, process.span_ns);
    line->busy_ns += process.gpu_busy_ns;
    line->wait_ns += process.gpu_wait_ns;
    line->unknown_ns += process.unknown_ns;
    line->is_upper_bound |= process.gpu_busy_is_upper_bound;
    if (IsOpenEnded(process.span_end)) ++line->not_closed[process.span_end];
  }
  return lines;
}

}  // namespace

std::string ProcessList(const Report& report, const TextOptions& options, bool unfold) {
  if (report.processes.size() < 2) return {};
  const bool fold = !unfold && report.processes.size() > kUnfoldedProcesses;
  const auto ends = [&report](auto is_so) {
    return std::any_of(report.processes.begin(), report.processes.end(),
                       [&](const ReportProcess& process) { return is_so(process.span_end); });
  };
  const bool any_open = ends(IsOpenEnded);
  const bool any_last_event = ends([](SpanEnd end) { return end == SpanEnd::kLastEvent; });
  const bool has_gpu = options.raw || !UsesNoGpu(report);
  std::vector<std::string> head = {"Process", "pid", "span"};
  if (has_gpu) head.insert(head.end(), {"GPU busy", "GPU wait", "unknown"});
  if (any_open) head.emplace_back("span end");
  TextTable table(head);
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const PidText pids(report.processes, options.unicode);
  for (const Line& line : LinesOf(report, fold)) {
    const std::string name = ShownName(line.first->name);
    const bool one = line.count == 1;
    std::vector<std::string> row = {
        one ? name : std::to_string(line.count) + " x " + name,
        one ? pids.Of(line.first->pid, line.first->host) : std::to_string(line.first->pid) + " ...",
        time(line.span_ns)};
    if (has_gpu) {
      const bool more = line.unknown_ns > 0;
      row.push_back(Bounded(line.is_upper_bound, more, time(line.busy_ns)));
      row.push_back(Bounded(line.is_upper_bound && line.wait_ns > 0, more, time(line.wait_ns)));
      row.push_back(time(line.unknown_ns));
    }
    if (any_open) row.push_back(EndsOf(line));
    table.AddRow(std::move(row));
  }
  return "\n" + table.Render(options.width, 0, options.unicode) +
         (fold ? Wrap(std::string("Spans are the longest of a line") +
                          (has_gpu ? ", GPU times sums" : "") + "; --by process lists each.",
                      options.width, 2)
               : "") +
         (any_last_event ? Wrap("last event: not closed (killed, or crashed), so what the process "
                                "did after it is not known.",
                                options.width, 2)
                         : "");
}

std::string ProcessTrees(const Report& report, const TextOptions& options) {
  TextTable table({"Process tree", "pid", "processes", "CPU", "peak memory", "run delay"});
  const PidText pids(report.processes, options.unicode);
  bool any = false;
  for (const ReportProcess& process : report.processes) {
    if (!process.process_tree) continue;
    const TreePeaks& tree = *process.process_tree;
    any = true;
    table.AddRow({ShownName(process.name), pids.Of(process.pid, process.host),
                  std::to_string(tree.processes), FormatTime(tree.cpu_ns, options.raw),
                  std::to_string(tree.resident_bytes >> 20) + " MiB",
                  FormatShare(tree.RunDelayShare())});
  }
  if (!any) return {};
  return "\n" + table.Render(options.width, 0, options.unicode) +
         Wrap(
             "Of a process and all that it started. Run delay: of the time in which threads could "
             "have run, the part without a CPU.",
             options.width, 0);
}

}  // namespace gpubound
