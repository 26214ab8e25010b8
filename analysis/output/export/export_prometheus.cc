// SPDX-License-Identifier: Apache-2.0
//
// Formats metrics. Times are seconds and shares ratios, as the format's habits want it. No state.
#include "analysis/output/export/export_prometheus.h"

#include <initializer_list>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/base/utf8.h"
#include "analysis/output/check/figure.h"
#include "analysis/output/export/cell_text.h"
#include "analysis/output/text/headline.h"

namespace gpubound {
namespace {

using Labels = std::vector<std::pair<const char*, std::string>>;

std::string LabelValue(std::string_view text) {
  std::string scratch;
  std::string escaped;
  for (const char c : ValidUtf8(text, &scratch)) {
    if (c == '\n') {
      escaped += "\\n";
    } else {
      if (c == '\\' || c == '"') escaped += '\\';
      escaped += c;
    }
  }
  return escaped;
}

double Seconds(int64_t ns) { return static_cast<double>(ns) / 1e9; }

class MetricsText {
 public:
  // What follows are samples of |name|.
  void Begin(const char* name, const char* help) {
    name_ = std::string("gpubound_") + name;
    text_ += "# HELP " + name_ + " " + help + "\n# TYPE " + name_ + " gauge\n";
  }
  void Add(const Labels& labels, double value) {
    text_ += name_;
    for (const auto& [label, text] : labels) {
      text_ += (&label == &labels.front().first ? "{" : ",") + std::string(label) + "=\"" +
               LabelValue(text) + "\"";
    }
    text_ += (labels.empty() ? " " : "} ") + RealText(value) + "\n";
  }
  std::string Take() { return std::move(text_); }

 private:
  std::string name_;
  std::string text_;
};

// A process may have its pid from another one, by exec: |index| tells them apart.
Labels LabelsOf(const ReportProcess& process, size_t index) {
  return {{"host", process.host},
          {"pid", std::to_string(process.pid)},
          {"process", std::to_string(index + 1)},
          {"name", process.name}};
}

Labels With(Labels labels, std::initializer_list<std::pair<const char*, std::string>> more) {
  labels.insert(labels.end(), more.begin(), more.end());
  return labels;
}

// What a busy share of the run is at least and at most.
void AddBounds(const Report& report, MetricsText* metrics) {
  constexpr std::pair<const char*, const char*> kShares[] = {
      {"any", "gpu_busy"}, {"compute", "gpu_compute"}, {"comm", "gpu_comm"}, {"copy", "gpu_copy"}};
  for (const bool low : {true, false}) {
    metrics->Begin(
        low ? "run_gpu_busy_low_ratio" : "run_gpu_busy_high_ratio",
        low ? "What run_gpu_busy_ratio is at least: graphs that were recorded as a whole "
              "may have gaps."
            : "What run_gpu_busy_ratio is at most: in unknown time, or by processes that "
              "are not part of the run, more may have run.");
    for (const auto& [name, figure] : kShares) {
      FigureName wanted;
      wanted.field = figure;
      const Figure share = FindFigures(report, wanted).figures.front();
      metrics->Add({{"class", name}}, low ? share.low : share.high);
    }
  }
}

void AddRun(const Report& report, MetricsText* metrics) {
  metrics->Begin("run_wall_seconds", "Length of the run.");
  metrics->Add({{"device_kind", report.device_kind}}, Seconds(report.run.wall_ns));
  const ReportRun& run = report.run;
  metrics->Begin("run_headline_seconds",
                 "What run_gpu_busy_ratio is about: the iterations after warm-up, or the whole run "
                 "where the program has no steps.");
  metrics->Add({}, Seconds(run.headline_ns));
  metrics->Begin("run_whole_gpu_busy_ratio",
                 "Share of the used devices' time in which work ran, over the whole run.");
  metrics->Add({}, run.whole_gpu_busy_share);
  const double whole_unknown = run.whole_unknown.share;
  metrics->Begin("run_whole_gpu_busy_low_ratio", "What run_whole_gpu_busy_ratio is at least.");
  metrics->Add({}, run.whole_gpu_busy_is_upper_bound ? 0 : run.whole_gpu_busy_share);
  metrics->Begin("run_whole_gpu_busy_high_ratio", "What run_whole_gpu_busy_ratio is at most.");
  metrics->Add({}, run.gpu_busy_is_lower_bound ? 1 : run.whole_gpu_busy_share + whole_unknown);
  metrics->Begin("run_gpu_busy_ratio",
                 "Share of the used devices' time in which work ran, over the iterations after "
                 "warm-up, or over the whole run where the program has no steps.");
  metrics->Add({{"class", "any"}}, run.gpu_busy_share);
  metrics->Add({{"class", "compute"}}, run.compute_share);
  metrics->Add({{"class", "comm"}}, run.comm_share);
  metrics->Add({{"class", "copy"}}, run.copy_share);
  AddBounds(report, metrics);
  metrics->Begin("run_gpu_unknown_ratio",
                 "Share of what run_gpu_busy_ratio is about in which work could have run "
                 "unrecorded, at most.");
  metrics->Add({}, run.unknown.share);
  metrics->Begin("run_whole_gpu_unknown_ratio", "Likewise, of the whole run.");
  metrics->Add({}, whole_unknown);
}

// What the operations of |process| are called, each differently: names that differ in nothing but
// bytes that are not UTF-8 have these spelled out.
std::vector<std::string> OperationLabels(const ReportProcess& process) {
  std::map<std::string, int> uses;
  std::string scratch;
  for (const ReportOperation& row : process.operations) {
    ++uses[std::string(ValidUtf8(row.operation, &scratch))];
  }
  std::set<std::string> taken;
  std::vector<std::string> labels;
  for (const ReportOperation& row : process.operations) {
    std::string label(ValidUtf8(row.operation, &scratch));
    if (uses[label] > 1) label = EscapeName(row.operation);
    while (!taken.insert(label).second) label += " (another)";
    labels.push_back(std::move(label));
  }
  return labels;
}

// One metric of every operation of every process.
template <typename AddRow>
void AddOperations(const Report& report, MetricsText* metrics, const char* name, const char* help,
                   const AddRow& add_row) {
  metrics->Begin(name, help);
  for (size_t p = 0; p < report.processes.size(); ++p) {
    const Labels labels = LabelsOf(report.processes[p], p);
    const std::vector<std::string> names = OperationLabels(report.processes[p]);
    for (size_t row = 0; row < names.size(); ++row) {
      add_row(With(labels, {{"operation", names[row]}}), report.processes[p].operations[row]);
    }
  }
}

void AddProcesses(const Report& report, MetricsText* metrics) {
  metrics->Begin("process_span_seconds", "Length of a process's recording.");
  for (size_t p = 0; p < report.processes.size(); ++p) {
    metrics->Add(LabelsOf(report.processes[p], p), Seconds(report.processes[p].span_ns));
  }
  AddOperations(
      report, metrics, "operation_seconds",
      "Wall time of an operation by what CPU and GPU did; the states sum to it.",
      [metrics](const Labels& labels, const ReportOperation& row) {
        if (row.other_threads_only) return;
        for (const auto& [state, ns] :
             {std::pair("cpu_only", row.cpu_only_ns), std::pair("cpu_gpu", row.cpu_gpu_ns),
              std::pair("gpu_only", row.gpu_only_ns), std::pair("waiting", row.waiting_ns),
              std::pair("idle", row.idle_ns), std::pair("unknown", row.unknown_ns)}) {
          metrics->Add(With(labels, {{"state", state}}), Seconds(ns));
        }
      });
  AddOperations(
      report, metrics, "operation_gpu_seconds",
      "GPU time of an operation: kind busy is the union of its work, sum counts "
      "concurrent work each, caused is that of what it launched.",
      [metrics](const Labels& labels, const ReportOperation& row) {
        for (const auto& [kind, ns] :
             {std::pair("busy", row.gpu_busy_ns), std::pair("compute", row.gpu_compute_ns),
              std::pair("comm", row.gpu_comm_ns), std::pair("copy", row.gpu_copy_ns),
              std::pair("wait", row.gpu_wait_ns), std::pair("caused", row.gpu_caused_ns),
              std::pair("sum", row.gpu_sum_ns)}) {
          if (row.other_threads_only && ns == 0) continue;
          metrics->Add(With(labels, {{"kind", kind}}), Seconds(ns));
        }
      });
  AddOperations(report, metrics, "operation_count", "Times an operation was seen to open.",
                [metrics](const Labels& labels, const ReportOperation& row) {
                  if (!row.other_threads_only) metrics->Add(labels, static_cast<double>(row.count));
                });
}

void AddDevices(const Report& report, MetricsText* metrics) {
  metrics->Begin("device_busy_seconds", "Time in which a device ran work of any process.");
  for (size_t d = 0; d < report.devices.size(); ++d) {
    const ReportDevice& device = report.devices[d];
    metrics->Add({{"device", std::to_string(d)}, {"uuid", device.uuid}, {"name", device.name}},
                 Seconds(device.busy_ns));
  }
}

void AddLedger(const Report& report, MetricsText* metrics) {
  metrics->Begin("ledger", "What could make a number wrong, by counter.");
  for (const ReportLedgerEntry& entry : report.ledger) {
    metrics->Add({{"counter", entry.counter}, {"severity", SeverityName(entry.severity)}},
                 static_cast<double>(entry.value));
  }
}

}  // namespace

std::string RenderPrometheus(const Report& report) {
  MetricsText metrics;
  AddRun(report, &metrics);
  AddProcesses(report, &metrics);
  AddDevices(report, &metrics);
  AddLedger(report, &metrics);
  return metrics.Take();
}

}  // namespace gpubound
