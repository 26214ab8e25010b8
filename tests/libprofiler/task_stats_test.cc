// SPDX-License-Identifier: Apache-2.0
//
// What is read of /proc is what a thread knows of itself; files stay out of the program's way.
#include "libprofiler/task_stats.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <latch>
#include <set>
#include <string>
#include <thread>

#include "libprofiler/clock.h"
#include "libprofiler/high_descriptor.h"

namespace gpubound {
namespace {

uint32_t OwnTid() { return static_cast<uint32_t>(syscall(SYS_gettid)); }

void SpinForNs(uint64_t ns) {
  const uint64_t end_ns = ReadMonotonicNs() + ns;
  while (ReadMonotonicNs() < end_ns) continue;
}

uint64_t OwnCpuNs() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}

std::set<int> SchedstatFiles() {
  std::set<int> files;
  for (int descriptor = 0; descriptor < 256; ++descriptor) {
    char target[256];
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    const ssize_t length = readlink(link.c_str(), target, sizeof(target));
    if (length > 0 && std::string(target, static_cast<size_t>(length)).ends_with("schedstat")) {
      files.insert(descriptor);
    }
  }
  return files;
}

// Begun once it is made, and blocked until it is to end.
class WaitingThread {
 public:
  WaitingThread() { began_.wait(); }
  ~WaitingThread() { End(); }
  WaitingThread(const WaitingThread&) = delete;
  WaitingThread& operator=(const WaitingThread&) = delete;

  uint32_t tid() const { return tid_; }
  void End() {
    if (!thread_.joinable()) return;
    done_.count_down();
    thread_.join();
  }

 private:
  uint32_t tid_ = 0;
  std::latch began_{1};
  std::latch done_{1};
  std::thread thread_{[this] {
    tid_ = OwnTid();
    began_.count_down();
    done_.wait();
  }};
};

class TaskStatsTest : public testing::Test {
 protected:
  ProcTaskStats stats_;
};

TEST_F(TaskStatsTest, TimeOnACpuIsThatOfTheThreadsOwnClock) {
  SpinForNs(50'000'000);
  const auto counters = stats_.Read(OwnTid(), nullptr);
  ASSERT_TRUE(counters);
  EXPECT_NEAR(static_cast<double>(counters->on_cpu_ns), static_cast<double>(OwnCpuNs()), 1e6);
}

// The kernel has counted no time of it yet.
TEST_F(TaskStatsTest, AThreadThatHasJustBegunFindsOutThatReadinessIsKnown) {
  for (int i = 0; i < 200; ++i) {
    bool known = false;
    std::thread([&known] {
      ProcTaskStats stats;
      known = stats.Read(OwnTid(), nullptr)->ready_ns.has_value();
    }).join();
    ASSERT_TRUE(known) << "in thread " << i;
  }
}

TEST_F(TaskStatsTest, OfAThreadThatWasOnNoCpuSinceNothingIsReadAgain) {
  const WaitingThread other;
  auto before = stats_.Read(other.tid(), nullptr);
  before->ready_ns = 12345;
  auto now = stats_.Read(other.tid(), &*before);
  while (now->on_cpu_ns != before->on_cpu_ns) {  // until it waits
    before = now;
    before->ready_ns = 12345;
    now = stats_.Read(other.tid(), &*before);
  }
  EXPECT_EQ(now->ready_ns, 12345u);
}

TEST_F(TaskStatsTest, ThreadsAreListedAgainWhereTheirNumberChanges) {
  std::vector<uint32_t> tids;
  ASSERT_TRUE(stats_.List(true, &tids));
  EXPECT_FALSE(stats_.List(false, &tids));
  const WaitingThread other;
  EXPECT_TRUE(stats_.List(false, &tids));
  EXPECT_NE(std::find(tids.begin(), tids.end(), other.tid()), tids.end());
}

TEST_F(TaskStatsTest, AThreadThatHasEndedIsNotRead) {
  WaitingThread other;
  EXPECT_TRUE(stats_.Read(other.tid(), nullptr));
  other.End();
  while (syscall(SYS_tgkill, getpid(), other.tid(), 0) == 0) continue;  // joined before it is gone
  EXPECT_FALSE(stats_.Read(other.tid(), nullptr));
}

TEST_F(TaskStatsTest, FilesStayOpenOutOfTheProgramsWayUntilTheThreadIsForgotten) {
  stats_.Read(OwnTid(), nullptr);
  const std::set<int> files = SchedstatFiles();
  ASSERT_EQ(files.size(), 1u);
  EXPECT_GE(*files.begin(), kLeastHighDescriptor);
  stats_.Read(OwnTid(), nullptr);
  EXPECT_EQ(SchedstatFiles(), files);
  stats_.Forget(OwnTid());
  EXPECT_TRUE(SchedstatFiles().empty());
}

TEST_F(TaskStatsTest, AFileThatTheProgramClosedAndReplacedIsLeftAlone) {
  stats_.Read(OwnTid(), nullptr);
  const int taken = *SchedstatFiles().begin();
  const int own = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(own, taken);
  close(own);
  EXPECT_TRUE(stats_.Read(OwnTid(), nullptr));
  stats_.Forget(OwnTid());
  EXPECT_NE(fcntl(taken, F_GETFD), -1);
  close(taken);
}

TEST_F(TaskStatsTest, AForkedChildClosesWhatItInherited) {
  stats_.Read(OwnTid(), nullptr);
  const pid_t child = fork();
  if (child == 0) {
    stats_.CloseInForkChild();
    _exit(SchedstatFiles().empty() ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(SchedstatFiles().size(), 1u);
}

}  // namespace
}  // namespace gpubound
