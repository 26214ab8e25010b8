// SPDX-License-Identifier: Apache-2.0
//
// kill -9 at any moment: every event completed before it is in the database or in the live mapping,
// and none is in both once sequence numbers are compared. GPUBOUND_TEST_KILLS says how often (50).
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <map>
#include <random>

#include "tests/libprofiler/core_process.h"
#include "tests/libprofiler/core_scenarios.h"
#include "tests/libprofiler/temp_directory.h"
#include "tests/libprofiler/trace_file.h"

namespace gpubound {
namespace {

class KillTest : public testing::Test {
 protected:
  KillTest() {
    shared_fd_ = memfd_create("hammer", 0);
    if (ftruncate(shared_fd_, sizeof(HammerProgress)) != 0) std::abort();
    progress_ = static_cast<HammerProgress*>(
        mmap(nullptr, sizeof(HammerProgress), PROT_READ | PROT_WRITE, MAP_SHARED, shared_fd_, 0));
  }
  ~KillTest() override {
    munmap(progress_, sizeof(HammerProgress));
    close(shared_fd_);
  }

  // |from_first_scope|: the time counts from then on, else from the start of the process, so that
  // both the start and the steady state are met whatever the speed of the machine.
  void RunAndKillAfter(const std::string& run, long microseconds, bool from_first_scope) {
    for (HammerProgress::Counter& counter : progress_->threads) counter.completed = 0;
    CoreProcess process("hammer", std::to_string(shared_fd_), run, run + ".stderr",
                        {"GPUBOUND_FLUSH_MS=10", "GPUBOUND_SEGMENT_BYTES=1048576"});
    while (from_first_scope && progress_->threads[1].completed.load() == 0) usleep(1000);
    const timespec pause = {microseconds / 1'000'000, microseconds % 1'000'000 * 1000};
    nanosleep(&pause, nullptr);
    process.Kill();
    ASSERT_EQ(process.Wait(), 128 + SIGKILL);
  }

  // By thread id: what is in the databases, by slot, then what only the mapping has.
  struct Recovered {
    uint64_t steps = 0;  // kStep payloads seen: must be 0, 1, 2, ...
    uint64_t next_sequence = 0;
    uint64_t from_mapping = 0;
  };

  void TakeStep(Recovered* thread, uint64_t payload) {
    ASSERT_EQ(payload, thread->steps) << "lost or doubled";
    ++thread->steps;
  }

  std::map<uint32_t, Recovered> Recover(const std::string& run) {
    std::map<uint32_t, Recovered> threads;
    for (const std::string& path : FilesEndingIn(run, ".db")) {
      const TraceFile trace(path);
      if (trace.Number("SELECT count(*) FROM sqlite_schema") == 0) continue;  // killed that early
      for (const auto& chunk : trace.Chunks(EventFamily::kThread)) {
        Recovered* thread = &threads[chunk.row.thread];
        EXPECT_EQ(chunk.row.first_sequence, thread->next_sequence);
        thread->next_sequence += chunk.row.sequence_count;
        EXPECT_TRUE(decoder_.Decode(chunk.row, &events_).ok());
        for (const ThreadEvent& event : events_.events) {
          if (event.kind == SlotKind::kStep) TakeStep(thread, event.payload);
        }
        EXPECT_EQ(events_.dropped_before, 0u);
      }
    }
    for (const std::string& path : FilesEndingIn(run, ".live")) {
      for (const auto& [ordinal, pages] : ReadLiveSlots(path)) {
        for (const SalvagedSlots& page : pages) SalvagePage(&threads[ordinal], page);
      }
    }
    return threads;
  }

  void SalvagePage(Recovered* thread, const SalvagedSlots& page) {
    for (size_t i = 0; i < page.slots.size();) {
      const bool payload = HasPayload(KindOf(page.slots[i]));
      const uint64_t sequence = page.first_sequence + i;
      if (sequence >= thread->next_sequence) {
        EXPECT_EQ(sequence, thread->next_sequence) << "a gap between database and mapping";
        if (payload) TakeStep(thread, page.slots[i + 1]);
        thread->next_sequence = sequence + (payload ? 2 : 1);
        ++thread->from_mapping;
      }
      i += payload ? 2 : 1;
    }
  }

  int shared_fd_ = -1;
  HammerProgress* progress_ = nullptr;
  ChunkDecoder decoder_;
  ThreadEvents events_;
};

TEST_F(KillTest, EveryCompletedScopeIsRecoveredExactlyOnce) {
  const char* wanted = std::getenv("GPUBOUND_TEST_KILLS");
  const int kills = wanted == nullptr ? 50 : std::atoi(wanted);
  std::mt19937 random(static_cast<unsigned>(kills));
  std::uniform_int_distribution<long> microseconds(0, 120'000);
  uint64_t recovered = 0;
  uint64_t from_mapping = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const TempDirectory directory;
    const std::string run = directory.Below("run");
    RunAndKillAfter(run, microseconds(random), /*from_first_scope=*/kill % 4 != 0);
    uint64_t completed = 0;
    for (const HammerProgress::Counter& counter : progress_->threads) {
      completed += counter.completed.load();
    }
    uint64_t steps = 0;
    for (const auto& [ordinal, thread] : Recover(run)) {
      steps += thread.steps;
      from_mapping += thread.from_mapping;
    }
    // A thread may have stored the event that it had not yet counted.
    ASSERT_GE(steps, completed) << "kill " << kill;
    ASSERT_LE(steps, completed + HammerProgress::kThreads) << "kill " << kill;
    ASSERT_FALSE(HasFailure()) << "kill " << kill;
    recovered += steps;
  }
  EXPECT_GT(recovered, 0u);
  EXPECT_GT(from_mapping, 0u) << "no kill met a process with events in its mapping";
}

}  // namespace
}  // namespace gpubound
