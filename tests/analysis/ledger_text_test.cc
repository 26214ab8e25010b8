// SPDX-License-Identifier: Apache-2.0
#include "analysis/ledger_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace gpubound {
namespace {

using ::testing::HasSubstr;

class LedgerTextTest : public testing::Test {
 protected:
  Report report_;
  TextOptions options_;
};

TEST_F(LedgerTextTest, SaysWhatIsAnEstimateAndHowGoodItIs) {
  report_.ledger.push_back({"api_calls_suppressed", 5000, Severity::kInfo, "Queries."});
  report_.ledger.push_back({"backpressure_waits", 9, Severity::kInfo, "Threads waited."});
  report_.estimated = {{"api_calls_suppressed", 0.01, 70}};
  options_.width = 120;
  EXPECT_THAT(
      RenderLedger(report_, options_),
      HasSubstr("api_calls_suppressed = about 5000\n           Queries. Estimated from 1.0 % of "
                "the time, with a standard error of 70.\n"));
  EXPECT_THAT(RenderLedger(report_, options_), HasSubstr("backpressure_waits = 9\n"));
  report_.estimated[0].standard_error.reset();
  EXPECT_THAT(RenderLedger(report_, options_), HasSubstr("with an error that is not known."));
}

TEST_F(LedgerTextTest, NotesArePrintedBesideAnEmptyLedger) {
  report_.ledger.clear();
  report_.notes.emplace_back("something to know");
  EXPECT_THAT(RenderLedger(report_),
              HasSubstr("The ledger is empty.\nnote       something to know"));
}

TEST_F(LedgerTextTest, OnlyErrorsFailTheDoctor) {
  EXPECT_FALSE(LedgerHasError(report_));
  report_.ledger.push_back({"cupti_records_dropped", 1, Severity::kDataLoss, "Lost."});
  EXPECT_FALSE(LedgerHasError(report_));
  report_.ledger.push_back({"chunks_corrupt", 1, Severity::kError, "Missing."});
  EXPECT_TRUE(LedgerHasError(report_));
}

}  // namespace
}  // namespace gpubound
