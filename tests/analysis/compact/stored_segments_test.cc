// SPDX-License-Identifier: Apache-2.0
#include "analysis/compact/stored_segments.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "proto/cpu_time_limits.h"
#include "proto/schema.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

using namespace testing_support;

class StoredSegmentsTest : public testing::Test {
 protected:
  // Of process |pid|; its newest clock sample is at |written_ns|.
  void WriteSegment(int64_t pid, uint32_t segment, int64_t written_ns, bool sealed,
                    std::optional<int64_t> delivered_ns = {}) {
    SegmentWriter writer(run_, {.pid = pid}, segment);
    writer.PutUsualRows();
    writer.Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    if (sealed) writer.Meta("sealed", 1);
    if (delivered_ns) {
      writer.Sql("INSERT INTO unknown VALUES(0, " + std::to_string(*delivered_ns) +
                 ", 9000000000, '" + kUndeliveredReason + "')");
    }
    writer.Sql("DELETE FROM clock");
    for (const int64_t ns : {written_ns, written_ns - 5}) {
      writer.Sql("INSERT INTO clock VALUES(" + std::to_string(ns) + ", 0, " + std::to_string(ns) +
                 ", 1, 0, 0)");
    }
  }
  int64_t ListedUntil(int64_t whole_pid = 0) const {
    const Result<StoredSegments> stored = StoredSegments::In(run_.path());
    EXPECT_TRUE(stored.ok());
    return stored->ListedUntil(
        [whole_pid](const ProcessIdentity& process) { return process.pid == whole_pid; });
  }

  TemporaryRun run_;
};

// What they write later, whoever reads the events next may see or not.
TEST_F(StoredSegmentsTest, AllIsListedUntilTheNewestSampleOfEachProcessThatMayWriteOn) {
  WriteSegment(100, 3, kLatestCpuTimeNs + 900, true);
  WriteSegment(100, 4, kLatestCpuTimeNs + 700, false);  // a segment begins with a sample of its own
  WriteSegment(200, 0, kLatestCpuTimeNs + 800, false);
  EXPECT_EQ(ListedUntil(), 800);
  EXPECT_EQ(ListedUntil(/*whole_pid=*/200), 900);
}

TEST_F(StoredSegmentsTest, OfDeviceWorkAllIsListedThatWasDelivered) {
  WriteSegment(100, 0, kLatestCpuTimeNs + 900, false);
  EXPECT_EQ(ListedUntil(), 900);
  WriteSegment(200, 0, kLatestCpuTimeNs + 800, false, /*delivered_ns=*/600);
  EXPECT_EQ(ListedUntil(), 600);
}

// As on a network filesystem, where no log takes up what is written meanwhile.
TEST_F(StoredSegmentsTest, ASegmentThatIsWrittenToMeanwhileIsListedAgain) {
  SegmentWriter writer(run_, WriterIdentity{});
  writer.PutUsualRows();
  uint64_t listings = 0;
  const Result<StoredSegments> stored = StoredSegments::In(run_.path(), [&] {
    if (++listings < 3) writer.Work({.thread = 9, .first_sequence = listings}, {Kernel(1, 2, 1)});
  });
  ASSERT_TRUE(stored.ok());
  EXPECT_EQ(listings, 3u);
  EXPECT_EQ(stored->Chunks().size(), 2u);
}

TEST_F(StoredSegmentsTest, OfWhatIsSealedAllIsListed) {
  WriteSegment(100, 0, 900, true);
  EXPECT_EQ(ListedUntil(), INT64_MAX);
}

}  // namespace
}  // namespace gpubound
