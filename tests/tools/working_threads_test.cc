// SPDX-License-Identifier: Apache-2.0
//
// Which threads of a program are placed, and that none of them notices. The program is this one.
#include "tools/verify/working_threads.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace gpubound {
namespace {

constexpr int64_t kMs = 1'000'000;

// A thread that has used some processor time and waits.
class Worker {
 public:
  explicit Worker(int64_t work_ns)
      : thread_([this, work_ns] {
          Work(work_ns);
          id_ = static_cast<pid_t>(syscall(SYS_gettid));
          id_.notify_all();
          ends_.wait(false);
        }) {
    id_.wait(0);
  }
  ~Worker() {
    ends_ = true;
    ends_.notify_all();
    thread_.join();
  }
  pid_t id() const { return id_; }

 private:
  static void Work(int64_t work_ns) {
    timespec used = {};
    do {
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    } while (used.tv_sec * 1000 * kMs + used.tv_nsec < work_ns);
  }

  std::atomic<pid_t> id_{0};
  std::atomic<bool> ends_{false};
  std::thread thread_;
};

class WorkingThreadsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(one_, other_) << "the machine has one processor";
    threads_.Choose(getpid(), 0);
  }
  // Each uses |work_ns| within a turn of |turn_ns|.
  std::vector<std::unique_ptr<Worker>> Turn(size_t count, int64_t work_ns, int64_t turn_ns) {
    std::vector<std::unique_ptr<Worker>> workers;
    for (size_t i = 0; i < count; ++i) workers.push_back(std::make_unique<Worker>(work_ns));
    threads_.Choose(getpid(), turn_ns);
    return workers;
  }
  static Processors Other(const Processors& all, const Processors& than) {
    Processors drawn = than;
    for (std::mt19937_64 random(1); drawn == than && all != than;) drawn = all.Draw(&random);
    return drawn;
  }

  const Processors all_ = Processors::Allowed();
  const Processors one_ = Processors::Current();
  const Processors other_ = Other(all_, one_);
  WorkingThreads threads_;
};

TEST_F(WorkingThreadsTest, TheOneThatWorkedIsPlacedAndThenAsFreeAsBefore) {
  const auto workers = Turn(1, 50 * kMs, 60 * kMs);
  for (const Processors& place : {one_, other_}) {
    threads_.Place(place);
    EXPECT_EQ(Processors::Allowed(workers[0]->id()), place);
    EXPECT_EQ(Processors::Allowed(), all_) << "it has only waited";
    threads_.Release();
    EXPECT_EQ(Processors::Allowed(workers[0]->id()), all_);
  }
}

TEST_F(WorkingThreadsTest, OfSeveralThatWorkInTurnsAllArePlaced) {
  const auto workers = Turn(3, 20 * kMs, 60 * kMs);
  threads_.Place(other_);
  for (const auto& worker : workers) EXPECT_EQ(Processors::Allowed(worker->id()), other_);
  threads_.Release();
  for (const auto& worker : workers) EXPECT_EQ(Processors::Allowed(worker->id()), all_);
}

TEST_F(WorkingThreadsTest, ThoseThatWorkInParallelAreLeftAlone) {
  const auto workers = Turn(3, 20 * kMs, 30 * kMs);
  threads_.Place(other_);
  for (const auto& worker : workers) EXPECT_EQ(Processors::Allowed(worker->id()), all_);
  threads_.Release();
}

TEST_F(WorkingThreadsTest, BeforeAnythingHasWorkedItIsTheMainThread) {
  threads_.Place(other_);
  EXPECT_EQ(Processors::Allowed(), other_);
  threads_.Release();
  EXPECT_EQ(Processors::Allowed(), all_);
}

TEST_F(WorkingThreadsTest, OneThatIsKeptElsewhereStaysThere) {
  const auto workers = Turn(1, 50 * kMs, 60 * kMs);
  one_.Hold(workers[0]->id());
  threads_.Place(other_);
  EXPECT_EQ(Processors::Allowed(workers[0]->id()), one_);
  threads_.Release();
  EXPECT_EQ(Processors::Allowed(workers[0]->id()), one_);
}

TEST_F(WorkingThreadsTest, OneThatStartsMeanwhileIsAsFreeAsTheOthers) {
  threads_.Place(other_);
  const Worker worker(0);
  EXPECT_EQ(Processors::Allowed(worker.id()), other_) << "as it inherits";
  threads_.Release();
  EXPECT_EQ(Processors::Allowed(worker.id()), all_);
}

TEST_F(WorkingThreadsTest, AProcessThatIsGoneHasNone) {
  threads_.Choose(1 << 30, 50 * kMs);
  threads_.Place(other_);
  threads_.Release();
  EXPECT_EQ(Processors::Allowed(), all_);
}

TEST(ProcessorsTest, OneIsDrawnOfThoseThatThereAre) {
  std::mt19937_64 random(1);
  const Processors all = Processors::Allowed();
  for (int i = 0; i < 100; ++i) {
    const Processors one = all.Draw(&random);
    EXPECT_TRUE(all.Contain(one));
    EXPECT_EQ(one.Draw(&random), one);
  }
  EXPECT_FALSE(all.Contain(Processors()));
  EXPECT_FALSE(Processors().Contain(Processors()));
  EXPECT_EQ(all.Draw(&random) == Processors(), false) << "what is not known equals nothing";
}

}  // namespace
}  // namespace gpubound
