// SPDX-License-Identifier: Apache-2.0
//
// What kernels of imported profiles do and who launched them, against what other tools say of the
// same profiles, or what their numbers say on paper.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>

#include "analysis/attribution/build_report.h"
#include "analysis/import/import.h"
#include "analysis/reader/reader.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using testing_support::TemporaryRun;

class ImportedWork : public testing::Test {
 protected:
  void Import(const std::string& path) {
    const TemporaryRun output;
    const auto summary = ImportTrace(path, output.path());
    ASSERT_TRUE(summary.ok()) << summary.error().ToString();
    Result<gpubound::Run> run = LoadRun(output.path());
    ASSERT_TRUE(run.ok()) << run.error().ToString();
    Result<Report> report = BuildReport(*run, BreakdownOptions());
    ASSERT_TRUE(report.ok()) << report.error().ToString();
    report_ = std::move(*report);
  }
  void ImportReal(const std::string& name) {
    Import(GPUBOUND_TEST_DATA "/kineto/" + name + ".json.gz");
  }
  const ReportProcess& Process() const { return report_.processes.at(0); }

  // In per cent of all device work.
  std::map<std::string, double> CategoryShares() const {
    std::map<std::string, double> shares;
    for (const ReportCategory& row : Process().categories) {
      shares[row.category] =
          100 * static_cast<double>(row.sum_ns) / static_cast<double>(Process().gpu_sum_ns);
    }
    return shares;
  }

  Report report_;
};

// TraceLens 0.4 says of this profile: elementwise 54.4 %, GEMM 28.2 %, reduce 2.3 %, other 15 %, in
// which it has attention and kernels that move data. It leaves out the first kernels of the trace.
TEST_F(ImportedWork, ALanguageModelsCategoriesAreThoseThatTraceLensFinds) {
  ImportReal("h100_qwen_chat");
  std::map<std::string, double> shares = CategoryShares();
  EXPECT_NEAR(shares["elementwise"], 54.4, 0.5);
  EXPECT_NEAR(shares["gemm"], 28.2, 0.5);
  EXPECT_NEAR(shares["reduction"], 2.3, 0.2);
  EXPECT_NEAR(shares["attention"] + shares["copy"], 15, 0.5);
  EXPECT_EQ(shares.count("other"), 0u);
}

TEST_F(ImportedWork, CategoriesSumToAllDeviceWorkOfTheProcess) {
  for (const char* const trace :
       {"h100_bert_small", "h100_qwen_chat", "simple_add", "vllm_decode_graph"}) {
    ImportReal(trace);
    int64_t sum_ns = 0;
    for (const ReportCategory& row : Process().categories) sum_ns += row.sum_ns;
    EXPECT_EQ(sum_ns, Process().gpu_sum_ns) << trace;
    EXPECT_LT(CategoryShares()["other"], 5) << trace;
  }
}

}  // namespace
}  // namespace gpubound
