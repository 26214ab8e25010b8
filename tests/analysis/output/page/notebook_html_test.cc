// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/page/notebook_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "analysis/report/report_training.h"
#include "tests/analysis/report_rows.h"

namespace gpubound {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(NotebookHtml, ARunWithRolesSaysInOneLineWhichOfThemBoundsIt) {
  Report report;
  ReportProcess& process = report.processes.emplace_back();
  process.span_ns = 1000;
  process.operations = {Row("update", 1000, 0)};
  EXPECT_THAT(RenderNotebookHtml(report, "run"), Not(HasSubstr("roles")));
  ReportRoles roles;
  roles.ns = 100;
  roles.perfect_overlap_ns = 60;
  roles.roles.resize(2);
  roles.savings = {{"train", 0.4, 0.38, 0.42}, {"rollout", 0.3, 0.2, 0.4}};
  RunTraining training;
  training.roles = roles;
  report.run.training = std::make_shared<const RunTraining>(training);
  EXPECT_THAT(
      RenderNotebookHtml(report, "run"),
      HasSubstr("<p class=\"a\">The run is bound by train: infinitely fast, train would save "
                "40 % (38 % to 42 %), rollout 30 % (20 % to 40 %); perfect overlap of the "
                "roles would save at most 40 %.</p>"));
}

}  // namespace
}  // namespace gpubound
