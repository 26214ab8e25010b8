// SPDX-License-Identifier: Apache-2.0
//
// The live mapping as a file: layout, allocation, modes, and what happens where no file can be.
#include "libprofiler/live_mapping.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>

#include "libprofiler/ledger.h"
#include "tests/libprofiler/temp_directory.h"

namespace gpubound {
namespace {

class LiveMappingTest : public testing::Test {
 protected:
  std::unique_ptr<LiveMapping> Create(const std::string& path) {
    return LiveMapping::Create(
        path, 2,
        {.pid = 11, .start_realtime_ns = 22, .start_monotonic_ns = 33, .ticks_are_tsc = true});
  }
  struct stat StatOf(const std::string& path) {
    struct stat info = {};
    stat(path.c_str(), &info);
    return info;
  }

  TempDirectory directory_;
  const std::string path_ = directory_.Below("x.live");
};

TEST_F(LiveMappingTest, HeaderSaysWhoseItIsAndWhereThingsAre) {
  const auto mapping = Create(path_);
  const LiveHeader& header = *mapping->header();
  EXPECT_EQ(header.version, kLiveVersion);
  EXPECT_EQ(header.pid, 11u);
  EXPECT_EQ(header.start_realtime_ns, 22);
  EXPECT_EQ(header.start_monotonic_ns, 33);
  EXPECT_EQ(header.page_count, 2u);
  EXPECT_EQ(header.file_size, header.pages_offset + 2 * kLivePageSize);
  EXPECT_EQ(header.pages_offset % 4096, 0u);
  EXPECT_GE(header.labels_offset, header.threads_offset + kLiveMaxThreads * sizeof(LiveThread));
}

TEST_F(LiveMappingTest, AReaderIgnoresItUntilItIsAnnounced) {
  const auto mapping = Create(path_);
  EXPECT_EQ(mapping->header()->magic, 0u);
  mapping->Announce();
  EXPECT_EQ(mapping->header()->magic, kLiveMagic);
}

TEST_F(LiveMappingTest, PagesCanBeAddedWhereAddressesWereKept) {
  const auto mapping = LiveMapping::Create(path_, 2, {11, 22, 33, true}, 8);
  EXPECT_TRUE(mapping->AddPages(6));
  EXPECT_EQ(mapping->page_count(), 8u);
  EXPECT_EQ(mapping->header()->page_count, 8u);
  EXPECT_EQ(mapping->header()->file_size, mapping->header()->pages_offset + 8 * kLivePageSize);
  mapping->slots(7)[kSlotsPerPage - 1] = 5;  // lies in the file
  const struct stat info = StatOf(path_);
  EXPECT_EQ(static_cast<uint64_t>(info.st_size), mapping->header()->file_size);
  EXPECT_GE(info.st_blocks * 512, info.st_size);
  EXPECT_FALSE(mapping->AddPages(3));
  EXPECT_EQ(mapping->page_count(), 8u);
  EXPECT_FALSE(Create(directory_.Below("y.live"))->AddPages(1));
}

TEST_F(LiveMappingTest, BeginsSmallAndHasTheOtherPagesOnceTheyAreAskedFor) {
  const auto mapping = LiveMapping::Create(path_, 100, {11, 22, 33, true}, 8);
  EXPECT_EQ(mapping->page_count(), LiveMapping::kPagesAtStart);
  EXPECT_EQ(mapping->AddFirstPages(), 100 - LiveMapping::kPagesAtStart);
  EXPECT_EQ(mapping->page_count(), 100u);
  EXPECT_EQ(static_cast<uint64_t>(StatOf(path_).st_size), mapping->header()->file_size);
  EXPECT_EQ(mapping->AddFirstPages(), 0u);
}

TEST_F(LiveMappingTest, NoPagesAreAddedToAFileThatIsGoneOrAnotherOne) {
  const auto mapping = LiveMapping::Create(path_, 2, {11, 22, 33, true}, 8);
  ASSERT_EQ(unlink(path_.c_str()), 0);
  EXPECT_FALSE(mapping->AddPages(1));
  std::ofstream(path_) << "something else";
  EXPECT_FALSE(mapping->AddPages(1));
  EXPECT_EQ(mapping->page_count(), 2u);
}

TEST_F(LiveMappingTest, NoPagesAreAddedBehindTheEndOfTheRecording) {
  const auto mapping = LiveMapping::Create(path_, 2, {11, 22, 33, true}, 8);
  mapping->RemoveFile();
  EXPECT_FALSE(mapping->AddPages(1));
  EXPECT_EQ(mapping->page_count(), 2u);
}

TEST_F(LiveMappingTest, PagesCanBeAddedWhereThereNeverWasAFile) {
  EXPECT_TRUE(LiveMapping::Create("", 2, {11, 22, 33, true}, 8)->AddPages(1));
}

TEST_F(LiveMappingTest, EveryBlockOfTheFileIsAllocatedAndPrivate) {
  const auto mapping = Create(path_);
  const struct stat info = StatOf(path_);
  EXPECT_EQ(static_cast<uint64_t>(info.st_size), mapping->header()->file_size);
  EXPECT_GE(info.st_blocks * 512, info.st_size);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
}

TEST_F(LiveMappingTest, RemovingTheFileLeavesTheMemory) {
  const auto mapping = Create(path_);
  mapping->RemoveFile();
  EXPECT_TRUE(FilesEndingIn(directory_.path(), ".live").empty());
  mapping->slots(1)[0] = 1;
  EXPECT_EQ(mapping->slots(1)[0], 1u);
}

TEST_F(LiveMappingTest, WithoutAFileItIsAnonymousMemoryAndTheLedgerSaysSo) {
  const auto mapping = Create(directory_.Below("no/such/directory/x.live"));
  ASSERT_NE(mapping, nullptr);
  EXPECT_FALSE(mapping->is_file());
  EXPECT_EQ(Ledger(mapping->header()->ledger).Get(LedgerCounter::live_mapping_unavailable), 1u);
  mapping->Prefault(1);
  EXPECT_EQ(mapping->slots(1)[0], 0u);
}

TEST_F(LiveMappingTest, AnExistingFileIsNeverTakenOver) {
  std::ofstream(path_) << "somebody else's";
  EXPECT_FALSE(Create(path_)->is_file());
  EXPECT_EQ(StatOf(path_).st_size, 15);
}

TEST_F(LiveMappingTest, ClockSamplesGoRound) {
  const auto mapping = Create("");
  for (uint64_t i = 0; i < kLiveClockSamples + 3; ++i) {
    mapping->AddClockSample({i, 0, 0, 0, 0});
  }
  EXPECT_EQ(mapping->header()->clock_sample_count, kLiveClockSamples + 3);
  EXPECT_EQ(mapping->header()->clock_samples[2].ticks, kLiveClockSamples + 2);
  EXPECT_EQ(mapping->header()->clock_samples[3].ticks, 3u);
}

}  // namespace
}  // namespace gpubound
