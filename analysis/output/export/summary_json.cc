// SPDX-License-Identifier: Apache-2.0
//
// Takes the first rows of each table, and fewer of them until all fits. No state.
#include "analysis/output/export/summary_json.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "analysis/base/estimate.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/diagnosis/diagnosis_kinds.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/report/json_rows.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

constexpr int kLongestName = 60;
constexpr size_t kLongestSentence = 320;  // bytes
constexpr size_t kMostRows = 6;

std::string NameOf(const std::string& name) {
  return ShortName(name, kLongestName, /*unicode=*/false);
}

std::string SentenceOf(const std::string& text) {
  if (text.size() <= kLongestSentence) return text;
  return text.substr(0, text.rfind(' ', kLongestSentence)) + " ...";
}

double Rounded(double share) { return std::round(share * 1e4) / 1e4; }

Json SavingJson(const ReportSaving& saving) {
  return Json{{"part", saving.part},
              {"name", NameOf(saving.name)},
              {"factor", saving.factor},
              {"saves", Rounded(saving.saves)},
              {"low", Rounded(saving.saves_low)},
              {"high", Rounded(saving.saves_high)},
              {"of", saving.of_iteration ? "iteration" : "run"}};
}

Json DiagnosisJson(const ReportDiagnosis& diagnosis) {
  Json evidence = Json::object();
  for (const auto& [figure, value] : diagnosis.evidence) evidence[figure] = Rounded(value);
  return Json{{"kind", diagnosis.kind},
              {"severity", diagnosis.severity},
              {"share", Rounded(diagnosis.share)},
              {"finding", SentenceOf(diagnosis.finding)},
              {"action", SentenceOf(diagnosis.action)},
              {"operation", NameOf(diagnosis.operation)},
              {"evidence", std::move(evidence)},
              {"saving", diagnosis.saving ? SavingJson(*diagnosis.saving) : Json()},
              {"gain", SentenceOf(diagnosis.gain)}};
}

Json RunJson(const Report& report) {
  const ReportRun& run = report.run;
  return Json{{"wall_ns", run.wall_ns},
              {"about", run.headline},
              {"gpus", run.devices_used},
              {"gpu_busy_share", Rounded(run.gpu_busy_share)},
              {"gpu_busy_is_lower_bound", run.gpu_busy_is_lower_bound},
              {"gpu_busy_is_upper_bound", run.gpu_busy_is_upper_bound},
              {"gpu_unknown_share", Rounded(run.unknown.share)},
              {"exit_code", OrNull(run.exit_code)},
              {"signal", OrNull(run.signal)},
              {"processes", report.processes.size()},
              {"data_quality", SentenceOf(run.verdict)},
              {"simulated_device", report.device_kind == "simulated"}};
}

Json IterationsJson(const ReportProcess* process) {
  if (process == nullptr || !process->iterations) return nullptr;
  const ReportIterations& all = *process->iterations;
  return Json{{"count", all.count}, {"median_ns", all.median_ns}, {"p95_ns", all.p95_ns}};
}

// Of iterations after warm-up where the run is told by them, else of the whole process.
Json OperationsJson(const Report& report, const ReportProcess* process, size_t most) {
  Json rows = Json::array();
  if (process == nullptr) return rows;
  const auto add = [&](const auto& operations, int64_t whole_ns) {
    std::vector<std::pair<int64_t, Json>> all;
    for (const auto& row : operations) {
      all.emplace_back(row.wall_ns,
                       Json{{"operation", NameOf(row.operation)},
                            {"wall_share", Rounded(ShareOf(row.wall_ns, whole_ns))},
                            {"gpu_busy_share", Rounded(ShareOf(row.gpu_busy_ns, row.wall_ns))}});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    for (size_t i = 0; i < std::min(most, all.size()); ++i) rows.push_back(all[i].second);
  };
  if (report.run.headline == "iterations" && process->iterations) {
    add(process->iterations->operations, process->iterations->total_ns);
  } else {
    add(process->operations, process->span_ns);
  }
  return rows;
}

Json IdleJson(const Report& report, size_t most) {
  Json rows = Json::array();
  const IdleExplained idle = HeadlineIdle(report);
  for (size_t i = 0; i < std::min(most, idle.causes.size()); ++i) {
    rows.push_back({{"cause", idle.causes[i].cause},
                    {"share_of_idle", Rounded(ShareOf(idle.causes[i].ns, idle.idle_ns))}});
  }
  return rows;
}

// Commands that open further what was found; RUN stands for the run's directory.
Json NextJson(const ReportDiagnosis& verdict) {
  const auto is = [&verdict](auto... kinds) { return ((verdict.kind == kinds) || ...); };
  const bool is_word = !verdict.operation.empty() &&
                       std::all_of(verdict.operation.begin(), verdict.operation.end(), [](char c) {
                         return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
                       });
  if (is(kNothingRecorded, kInconclusive)) return {"gpubound doctor RUN"};
  if (is(kGpuBound, kGpuBoundSmallKernels)) {
    return {"gpubound report RUN --kernels", "gpubound whatif RUN --scale device:0.5"};
  }
  if (is(kLaunchBound, kQueueGaps)) {
    Json next = {"gpubound report RUN --by operation,layer"};
    if (is_word) next.push_back("gpubound whatif RUN --graph-capture " + verdict.operation);
    return next;
  }
  if (is(kWaiting, kEnvironmentWorkers, kCommunicationBound, kSharedGpu)) {
    return {"gpubound report RUN --by process,gap", "gpubound report RUN --full"};
  }
  return {"gpubound report RUN --by operation,layer", "gpubound report RUN --by gap"};
}

Json Summary(const Report& report, size_t rows) {
  const ReportProcess* const process = HeadlineProcess(report);
  Json json{{"format", "gpubound.summary.v1"}, {"run", RunJson(report)}};
  json["iterations"] = IterationsJson(process);
  Json throughput = Json::array();
  if (process != nullptr) {
    for (const ReportThroughput& of : process->throughput) {
      if (throughput.size() < rows) {
        throughput.push_back({{"counter", NameOf(of.counter)}, {"per_second", of.per_second}});
      }
    }
  }
  json["throughput"] = std::move(throughput);
  Json findings = Json::array();
  for (const ReportDiagnosis& diagnosis : report.diagnosis) {
    if (findings.size() < rows) findings.push_back(DiagnosisJson(diagnosis));
  }
  json["diagnosis"] = std::move(findings);
  json["operations"] = OperationsJson(report, process, rows);
  json["idle_causes"] = IdleJson(report, rows);
  Json savings = Json::array();
  for (const ReportSaving& saving : report.run.savings) {
    if (savings.size() < rows) savings.push_back(SavingJson(saving));
  }
  json["savings"] = std::move(savings);
  json["next"] = report.diagnosis.empty() ? Json::array() : NextJson(report.diagnosis.front());
  return json;
}

}  // namespace

std::string RenderSummaryJson(const Report& report) {
  std::string text;
  for (size_t rows = kMostRows; rows > 0; --rows) {
    text = Summary(report, rows).dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
    if (text.size() <= kMostSummaryBytes) break;
  }
  return text;
}

}  // namespace gpubound
