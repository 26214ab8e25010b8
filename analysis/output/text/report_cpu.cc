// SPDX-License-Identifier: Apache-2.0
//
// Makes the table. No state.
#include "analysis/output/text/report_cpu.h"

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

// A row with less than a hundredth of the span is one of many.
constexpr int64_t kSmallestPart = 100;

class CpuRows {
 public:
  CpuRows(const ReportProcess& process, const TextOptions& options)
      : process_(process), options_(options) {}

  std::string Render() {
    Add("", process_.operations);
    for (const ReportLane& lane : process_.lanes) Add(ThreadOf(lane), lane.operations);
    if (!any_) return {};
    std::string text = "\n" + table_.Render(options_.width, 0, options_.unicode);
    text += Wrap(
        "Estimated from looks at each thread: a time can be off by as much as the last "
        "column says. Ready: the thread could run, and no core was free for it.",
        options_.width, 2);
    return text + StarvedSentence();
  }

 private:
  std::string ThreadOf(const ReportLane& lane) const {
    return ShownName(lane.thread) + " (" + std::to_string(lane.tid) + ")";
  }
  std::string Time(int64_t ns) const { return FormatTime(ns, options_.raw); }

  void Add(const std::string& thread, const std::vector<ReportOperation>& rows) {
    for (const ReportOperation& row : rows) {
      if (!row.cpu || row.wall_ns * kSmallestPart < process_.span_ns) continue;
      const ReportCpu& cpu = *row.cpu;
      any_ = true;
      table_.AddRow({ShownName(row.operation), thread.empty() ? "primary" : thread,
                     Time(cpu.on_cpu_ns), Time(cpu.ready_ns) + (cpu.NoCoreForLong() ? " !" : ""),
                     Time(cpu.blocked_ns), Time(cpu.unknown_ns), Time(cpu.error_ns)});
      if (!cpu.NoCoreForLong()) continue;
      ++starved_rows_;
      if (starved_ == nullptr || cpu.ready_ns > starved_->cpu->ready_ns) starved_ = &row;
    }
  }

  // About the row with most of it.
  std::string StarvedSentence() const {
    if (starved_ == nullptr) return {};
    const std::string operation =
        ShortName(ShownName(starved_->operation), kNameInSentence, options_.unicode);
    return Wrap("> Threads that could run had no core in " + std::to_string(starved_rows_) +
                    (starved_rows_ == 1 ? " row" : " rows") + " (!), in " + operation + " for " +
                    FormatShare(starved_->cpu->ReadyShare()) +
                    " of the time in which it could have run. Give the run more cores, or start "
                    "fewer processes and threads (OMP_NUM_THREADS).",
                options_.width, 2);
  }

  const ReportProcess& process_;
  const TextOptions& options_;
  TextTable table_{{"Where the CPU was", "thread", "on CPU", "ready", "blocked", "unknown", "+-"}};
  bool any_ = false;
  size_t starved_rows_ = 0;
  const ReportOperation* starved_ = nullptr;
};

}  // namespace

std::string CpuTable(const ReportProcess& process, const TextOptions& options) {
  return CpuRows(process, options).Render();
}

}  // namespace gpubound
