// SPDX-License-Identifier: Apache-2.0
//
// The text of a trace, whatever it is packed in, wherever it comes from and however it ends.
#include "analysis/import/import_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>

#include "tests/analysis/gzip_text.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using testing_support::GzipText;
using testing_support::TemporaryRun;

class ImportSource : public testing::Test {
 protected:
  // Reads the file in blocks of |block| bytes: its text, and what was wrong behind it.
  void Read(const std::string& bytes, size_t block = 1000) {
    text_.clear();
    error_.clear();
    const TemporaryRun input;
    const std::string path = input.Write("trace.json", bytes);
    auto file = FileSource::Open(path);
    ASSERT_TRUE(file.ok());
    const auto source = TextOf(std::move(*file), path);
    std::string part(block, '\0');
    while (true) {
      const auto count = source->Read(part.data(), part.size());
      if (!count.ok()) error_ = count.error().found;
      if (!count.ok() || *count == 0) break;
      text_.append(part, 0, *count);
    }
    const auto again = source->Read(part.data(), part.size());
    EXPECT_EQ(again.ok() ? "" : again.error().found, error_);
  }

  std::string text_;
  std::string error_;
};

TEST_F(ImportSource, GivesAFileWholeInBlocksOfAnySize) {
  for (const std::string text : {"", "a", "sixteen bytes, l", "more than sixteen bytes"}) {
    for (size_t block = 1; block < 20; ++block) {
      Read(text, block);
      EXPECT_EQ(text_, text);
      Read(GzipText(text), block);
      EXPECT_EQ(text_, text);
      EXPECT_EQ(error_, "");
    }
  }
}

TEST_F(ImportSource, StreamsBehindEachOtherAreOneText) {
  Read(GzipText("one,") + GzipText("two") + std::string(512, '\0'));
  EXPECT_EQ(text_, "one,two");
  EXPECT_EQ(error_, "");
}

TEST_F(ImportSource, AWrongChecksumOrLengthLosesNoText) {
  const std::string whole = GzipText("text");
  for (size_t from_end = 1; from_end <= 8; ++from_end) {
    std::string damaged = whole;
    damaged[damaged.size() - from_end] ^= 1;
    Read(damaged);
    EXPECT_EQ(text_, "text");
    EXPECT_THAT(error_,
                HasSubstr(from_end > 4 ? "(incorrect data check)" : "(incorrect length check)"));
  }
}

TEST_F(ImportSource, AStreamThatIsCutShortGivesWhatIsThere) {
  const std::string whole = GzipText("text");
  for (size_t size = 2; size < whole.size(); ++size) {
    Read(whole.substr(0, size));
    EXPECT_EQ(text_, std::string("text").substr(0, size < 15 ? 0 : size - 15));
    EXPECT_THAT(error_, HasSubstr("(unexpected end of file)"));
  }
}

TEST_F(ImportSource, WhatElseFollowsAStreamIsSaid) {
  Read(GzipText("text") + "more");
  EXPECT_EQ(text_, "text");
  EXPECT_THAT(error_, HasSubstr("(incorrect header check)"));
}

}  // namespace
}  // namespace gpubound
