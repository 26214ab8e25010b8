// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/ledger_text.h"

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

TEST_F(LedgerTextTest, WhatWasNotCountedIsNoZero) {
  report_.ledger.push_back({"backpressure_waits", 9, Severity::kInfo, "Threads waited."});
  report_.not_counted = {{"api_calls_suppressed", "Nobody counted."}};
  const std::string text = RenderLedger(report_, options_);
  EXPECT_THAT(text, HasSubstr("backpressure_waits = 9\n"));
  EXPECT_THAT(text, HasSubstr("unknown    api_calls_suppressed\n           Nobody counted.\n"));
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
