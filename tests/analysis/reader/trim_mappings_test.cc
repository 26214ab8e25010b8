// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a live mapping go, and that it reads as before.
#include "analysis/reader/trim_mappings.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "analysis/reader/process_presence.h"
#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

class TrimMappingsTest : public testing::Test {
 protected:
  std::string Write(const std::string& name, const std::string& content) const {
    return folder_.Write(name, content);
  }
  void Trim(bool ended = true) const {
    TrimMappings(folder_.path(), [ended](const ProcessIdentity&) { return ended; });
  }
  static struct stat StatusOf(const std::string& path) {
    struct stat status = {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status;
  }
  static size_t BytesOnDisk(const std::string& path) {
    return static_cast<size_t>(StatusOf(path).st_blocks) * 512;
  }

  const TemporaryFolder folder_;
};

TEST_F(TrimMappingsTest, AMappingOfAProcessThatHasEndedKeepsItsDataAlone) {
  std::string content(4 * kMebibyte, '\0');
  content[0] = 'h';
  content[kMebibyte + 5000] = 'd';
  content[content.size() - 1] = 'e';
  const std::string path = Write("host.1.1.live", content);
  Trim();
  EXPECT_EQ(ReadText(path), content);
  EXPECT_LE(BytesOnDisk(path), 64 * 1024u);
}

TEST_F(TrimMappingsTest, BlocksThatWereAllocatedAndNeverWrittenGo) {
  const std::string path = Write("host.1.1.live", "head");
  const int fd = open(path.c_str(), O_RDWR);
  ASSERT_EQ(posix_fallocate(fd, 0, 4 * kMebibyte), 0);
  close(fd);
  ASSERT_GE(BytesOnDisk(path), 4 * kMebibyte);
  Trim();
  EXPECT_EQ(ReadText(path).size(), 4 * kMebibyte);
  EXPECT_LE(BytesOnDisk(path), 64 * 1024u);
}

TEST_F(TrimMappingsTest, AFileThatHoldsNoMoreThanItsDataIsNotWrittenTo) {
  const std::string path = Write("host.1.1.live", std::string(kMebibyte, '\0') + "data");
  Trim();
  const timespec before = StatusOf(path).st_mtim;
  usleep(20'000);
  Trim();
  const timespec after = StatusOf(path).st_mtim;
  EXPECT_EQ(before.tv_sec, after.tv_sec);
  EXPECT_EQ(before.tv_nsec, after.tv_nsec);
}

TEST_F(TrimMappingsTest, OtherFilesAndMappingsOfProcessesThatMayStillRunStayAsTheyAre) {
  const std::string content(kMebibyte, '\0');
  const std::string running = Write("host.1.1.live", content);
  const std::string plain = Write("notes.live", content);
  Trim(/*ended=*/false);
  EXPECT_GE(BytesOnDisk(running), kMebibyte);
  Trim();
  EXPECT_GE(BytesOnDisk(plain), kMebibyte);
}

// A run with one process, which is gone from this machine.
class TrimMappingsOfTest : public TrimMappingsTest {
 protected:
  TrimMappingsOfTest() {
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    run_.path = folder_.path();
    ProcessTrace& process = run_.processes.emplace_back();
    process.identity = {host, INT32_MAX, 1};
    process.span_end = SpanEnd::kLastEvent;
    path_ = Write(std::string(host) + "." + std::to_string(INT32_MAX) + ".1.live",
                  std::string(kMebibyte, '\0'));
  }
  size_t BytesAfter(int64_t silent_ns) {
    ClockSample sample = {};
    sample.realtime_ns = RealtimeNow() - silent_ns;
    run_.processes[0].clock_samples.assign(1, sample);
    TrimMappingsOf(run_);
    return BytesOnDisk(path_);
  }

  gpubound::Run run_;
  std::string path_;
};

TEST_F(TrimMappingsOfTest, AProcessThatHasBeenSilentIsTrimmed) {
  EXPECT_LE(BytesAfter(2 * kQuietNs), 64 * 1024u);
}

TEST_F(TrimMappingsOfTest, OneThatHasJustRecordedMayBeInAContainerAndIsLeftAlone) {
  EXPECT_GE(BytesAfter(kQuietNs / 3), kMebibyte);
}

TEST_F(TrimMappingsOfTest, OneOfAnotherMachineIsLeftAlone) {
  run_.processes[0].identity.host = "another-host";
  std::filesystem::rename(path_, folder_.File("another-host.2147483647.1.live"));
  path_ = folder_.File("another-host.2147483647.1.live");
  EXPECT_GE(BytesAfter(2 * kQuietNs), kMebibyte);
}

}  // namespace
}  // namespace gpubound
