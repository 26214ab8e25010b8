// SPDX-License-Identifier: Apache-2.0
//
// Metrics of names that the format cannot hold. What parsers make of whole exports is in
// tests/exports.
#include "analysis/output/export/export_prometheus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "analysis/report/report.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;

std::string Metrics(const std::vector<std::string>& operations) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  for (const std::string& name : operations) process.operations.push_back(Row(name, 9, 5));
  return RenderPrometheus(report);
}

TEST(ExportPrometheus, NoSeriesIsThereTwice) {
  const std::string text =
      Metrics({"a\xff", "a\xfe", "a\xef\xbf\xbd", "a\\xfe", "a\\xfe (another)", "b"});
  std::set<std::string> series;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second || line[0] == '#') << line;
  }
  EXPECT_THAT(text, HasSubstr("operation=\"a\\\\xff\"}"));
  EXPECT_THAT(text, HasSubstr("operation=\"a\\\\xfe\"}"));
}

TEST(ExportPrometheus, ANameThatNoOtherIsLikeHasReplacementCharacters) {
  EXPECT_THAT(Metrics({"a\xff", "b"}), HasSubstr("operation=\"a\xef\xbf\xbd\"}"));
}

}  // namespace
}  // namespace gpubound
