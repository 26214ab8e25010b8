// SPDX-License-Identifier: Apache-2.0
//
// CPU, memory and run-queue delay of a tree of processes, over files written by the test and over
// the kernel's own.
#include "cupti_hooks/sampling/process_tree.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace gpubound {
namespace {

namespace fs = std::filesystem;

class ProcessTreeTest : public ::testing::Test {
 protected:
  ProcessTreeTest() : proc_(::testing::TempDir() + "proc_" + std::to_string(getpid())) {}
  ~ProcessTreeTest() override { fs::remove_all(proc_); }

  void Process(int pid, const std::string& name, int ticks, int pages, int64_t delay_ns,
               const std::string& children = "") {
    const std::string folder = proc_ + "/" + std::to_string(pid);
    const std::string task = folder + "/task/" + std::to_string(pid);
    fs::create_directories(task);
    std::ofstream(folder + "/stat") << pid << " (" << name << ") S 1 1 1 0 -1 4194560 9 9 9 9 "
                                    << ticks << " 1 2 3 20 0 1 0 100 4096 " << pages << " 18446\n";
    std::ofstream(task + "/schedstat") << "123 " << delay_ns << " 7\n";
    std::ofstream(task + "/children") << children;
  }
  ProcessTreeSample Measure(uint32_t pid) { return ProcessTree(proc_, pid).Measure(0); }
  static int64_t TickNs() { return 1'000'000'000 / sysconf(_SC_CLK_TCK); }

  const std::string proc_;
};

TEST_F(ProcessTreeTest, AProcessIsItsOwnTimeAndThatOfChildrenItWaitedFor) {
  Process(10, "train", 100, 5, 77);
  const ProcessTreeSample sample = Measure(10);
  EXPECT_EQ(sample.processes, 1u);
  EXPECT_EQ(sample.cpu_ns, (100 + 1 + 2 + 3) * TickNs());
  EXPECT_EQ(sample.resident_bytes, 5 * sysconf(_SC_PAGESIZE));
  EXPECT_EQ(sample.run_delay_ns, 77);
}

TEST_F(ProcessTreeTest, AllDescendantsCount) {
  Process(10, "train", 100, 5, 1, "11 12 ");
  Process(11, "worker", 10, 1, 2, "13");
  Process(12, "worker", 10, 1, 4);
  Process(13, "simulator", 10, 1, 8);
  Process(14, "stranger", 10, 1, 16);
  const ProcessTreeSample sample = Measure(10);
  EXPECT_EQ(sample.processes, 4u);
  EXPECT_EQ(sample.run_delay_ns, 15);
  EXPECT_EQ(sample.resident_bytes, 8 * sysconf(_SC_PAGESIZE));
}

TEST_F(ProcessTreeTest, ANameMayHoldAnything) {
  Process(10, "a) R 1 (b 9", 100, 5, 0);
  EXPECT_EQ(Measure(10).cpu_ns, 106 * TickNs());
}

TEST_F(ProcessTreeTest, AChildThatIsGoneIsLeftOut) {
  Process(10, "train", 100, 5, 1, "11");
  EXPECT_EQ(Measure(10).processes, 1u);
}

TEST_F(ProcessTreeTest, WithoutTheProcessThereIsNothing) {
  EXPECT_EQ(Measure(10).processes, 0u);
  EXPECT_EQ(Measure(10).cpu_ns, 0);
}

// Ten milliseconds of a processor at each call.
int64_t UseTenMs() {
  static int64_t used_ns = 0;
  return used_ns += 10'000'000;
}

TEST_F(ProcessTreeTest, ThreadsAreLookedAtForOnePercentOfAProcessor) {
  Process(10, "train", 100, 5, 77, "11");
  Process(11, "worker", 10, 1, 2);
  ProcessTree tree(proc_, 10, &UseTenMs);
  EXPECT_EQ(tree.Measure(0).run_delay_ns, 79);
  Process(10, "train", 200, 5, 177, "11");
  const ProcessTreeSample between = tree.Measure(999'999'999);
  EXPECT_EQ(between.run_delay_ns, 79);
  EXPECT_EQ(between.processes, 2u);
  EXPECT_EQ(between.cpu_ns, (206 + 16) * TickNs());
  EXPECT_EQ(tree.Measure(1'000'000'000).run_delay_ns, 179);
}

TEST_F(ProcessTreeTest, TheKernelsOwnFilesAreUnderstood) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(pipe_ends[1]);
    char byte = 0;
    _exit(read(pipe_ends[0], &byte, 1) == 0 ? 0 : 1);  // until the parent has measured
  }
  close(pipe_ends[0]);
  const ProcessTreeSample sample = ProcessTree("/proc", static_cast<uint32_t>(getpid())).Measure(0);
  close(pipe_ends[1]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(sample.processes, 2u);
  EXPECT_GT(sample.resident_bytes, 1 << 20);
}

}  // namespace
}  // namespace gpubound
