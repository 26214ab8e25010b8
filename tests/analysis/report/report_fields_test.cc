// SPDX-License-Identifier: Apache-2.0
//
// The report JSON against docs/report.md: a key that is not named there is one that nobody can rely
// on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "analysis/report/report_json.h"
#include "analysis/report/report_training.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;
using Names = std::set<std::string>;

ReportProcess ProcessWithEverything() {
  ReportProcess process;
  process.cells.emplace_back();
  process.operations.emplace_back();
  process.lanes.emplace_back();
  process.device_shares.emplace_back();
  process.gaps.emplace_back();
  process.waits.emplace_back();
  process.awaited.emplace_back().meanwhile.emplace_back();
  process.operation_kernels.emplace_back().kernel.nodes.emplace_back();
  process.categories.emplace_back();
  process.ops.emplace_back();
  process.counters.emplace_back();
  process.process_tree.emplace();
  process.throughput.emplace_back();
  process.cpu.emplace();
  process.threads_cpu.emplace();
  process.operations.back().cpu.emplace();
  ReportIterations& iterations = process.iterations.emplace();
  iterations.operations.emplace_back();
  iterations.slowest.emplace_back();
  ProcessTraining training;
  training.flops.emplace();
  training.weight_sync.emplace();
  process.training = std::make_shared<const ProcessTraining>(std::move(training));
  return process;
}

// A row of every kind that there is.
Report ReportWithEverything() {
  Report report;
  report.run.parts.emplace_back();
  report.run.savings.emplace_back();
  report.run.what_if.emplace_back();
  RunTraining training;
  training.targets.emplace_back().parts.emplace_back();
  training.work.emplace_back();
  training.samples.emplace().versions_behind.emplace_back();
  training.samples->reasons.emplace_back();
  ReportRoles& roles = training.roles.emplace();
  roles.roles.emplace_back().bubbles.emplace_back();
  roles.roles.back().processes.emplace_back();
  roles.overlap.emplace_back();
  roles.tail.emplace();
  roles.savings.emplace_back();
  report.run.training = std::make_shared<const RunTraining>(std::move(training));
  report.diagnosis.emplace_back().saving.emplace();
  ReportCriticalPath& path = report.run.critical_path.emplace();
  path.parts.emplace_back();
  CorrectedProcess corrected;
  corrected.process = ProcessWithEverything();
  corrected.rows.emplace_back();
  corrected.in_run.unchecked.emplace_back();
  ReportProcess& process = report.processes.emplace_back(ProcessWithEverything());
  process.corrected = std::make_shared<const CorrectedProcess>(std::move(corrected));
  ReportDevice& device = report.devices.emplace_back();
  device.processes.emplace_back();
  device.not_profiled.emplace_back();
  report.operation_devices.emplace_back();
  report.ranks.emplace_back().while_late.emplace_back();
  report.ledger.emplace_back();
  return report;
}

void AddKeys(const Json& json, Names* keys) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) keys->insert(key);
    if (value.is_structured()) AddKeys(value, keys);
  }
}

// The words within `backquotes`.
Names WordsOfCode(const std::string& text) {
  Names words;
  for (size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
    const size_t end = std::min(text.find('`', at + 1), text.size());
    std::string word;
    for (++at; at <= end; ++at) {
      const char c = at < end ? text[at] : ' ';
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
        word += c;
      } else if (!word.empty()) {
        words.insert(std::move(word));
        word.clear();
      }
    }
    at = end;
  }
  return words;
}

// Of a corrected total, which the page names once for all of them: "span_ns" of "span_ns_low".
std::string TotalOf(const std::string& key) {
  for (const std::string bound : {"_ns_low", "_ns_high"}) {
    if (key.ends_with(bound)) return key.substr(0, key.rfind('_'));
  }
  return key;
}

TEST(ReportFields, EachIsNamedInTheDocumentation) {
  std::ifstream page(GPUBOUND_REPORT_PAGE, std::ios::binary);
  const Names documented =
      WordsOfCode({std::istreambuf_iterator<char>(page), std::istreambuf_iterator<char>()});
  Names keys;
  AddKeys(Json::parse(RenderJson(ReportWithEverything())), &keys);
  EXPECT_GT(keys.size(), 100u);
  Names missing;
  for (const std::string& key : keys) {
    if (!documented.contains(TotalOf(key))) missing.insert(key);
  }
  EXPECT_THAT(missing, testing::IsEmpty());
}

}  // namespace
}  // namespace gpubound
