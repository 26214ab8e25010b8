// SPDX-License-Identifier: Apache-2.0
//
// Runs that were compacted: their totals are those of the whole run, and what is gone is said to
// be.
#include "analysis/compact/compact.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"
#include "analysis/reader/process_presence.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/run_sums.h"
#include "proto/cpu_time_limits.h"
#include "tests/analysis/trace_writer.h"
#include "tests/ledger_of.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kIterationMs = 100;
constexpr uint64_t kSlowMs = 500;
constexpr int kIterations = 40;
constexpr int kSlow = 13;
constexpr int kPerSegment = 8;
constexpr LabelId kWaits{4};

// A trainer that iterates and waits for a worker, whose work begins in one iteration and ends in
// the next; the worker has no operation of its own.
class CompactTest : public testing::Test {
 protected:
  using Run = gpubound::Run;  // not testing::Test::Run

  void SetUp() override {
    uint64_t begin_ms = 5;
    for (int i = 0; i < kIterations; ++i) {
      begins_ms_.push_back(begin_ms);
      begin_ms += i == kSlow ? kSlowMs : kIterationMs;
    }
    end_ms_ = begin_ms;
    for (int segment = 0; segment < kSegments; ++segment) WriteSegment(run_, segment);
  }

  static constexpr int kSegments = kIterations / kPerSegment;
  void WriteSegment(const TemporaryRun& run, int segment) {
    SegmentWriter trainer(run, {host_, trainer_pid_, start_ns_}, static_cast<uint32_t>(segment));
    SegmentWriter worker(run, {host_, worker_pid_, start_ns_ + 1}, static_cast<uint32_t>(segment));
    const int end = (segment + 1) * kPerSegment;
    const bool ends = end == kIterations;
    const uint64_t written_ms = !ends     ? begins_ms_[static_cast<size_t>(end)]
                                : killed_ ? end_ms_ - 10
                                          : end_ms_ + 20;
    // Of a run that goes on, records of CPU time are written so much later.
    const uint64_t sampled_ns =
        written_ms * kMs + (growing_ && !ends ? static_cast<uint64_t>(kLatestCpuTimeNs) : 0);
    for (SegmentWriter* writer : {&trainer, &worker}) {
      writer->PutUsualRows();
      writer->Sql("UPDATE meta SET value=" + std::to_string((end_ms_ + 20) * kMs) +
                  " WHERE key='end_monotonic_ns'");
      if (sealed_ && !(killed_ && ends)) writer->Meta("sealed", 1);
      writer->Sql("INSERT INTO label VALUES(4, 3, 2, 'process', '" + std::to_string(worker_pid_) +
                  "')");
      writer->Sql("INSERT INTO clock VALUES(1, 0, " + std::to_string(sampled_ns) + ", 1, 0, 0)");
      // Memory is largest in the beginning.
      writer->Sql("INSERT INTO process_tree VALUES(" + std::to_string(written_ms * kMs) + ", 2, " +
                  std::to_string(written_ms) + ", " + std::to_string(kSegments - segment) + ", 7)");
      if (killed_ || (growing_ && !ends)) writer->Sql("DELETE FROM meta WHERE key LIKE 'end_%'");
    }
    trainer.PutFrames();
    worker.Sql("UPDATE meta SET value=" + std::to_string(trainer_pid_) + " WHERE key='parent_pid'");
    worker.Sql("UPDATE meta SET value=200 WHERE key='main_tid'");
    worker.Sql("UPDATE thread SET tid=200");
    for (int i = segment * kPerSegment; i < end; ++i) WriteIteration(i, &trainer, &worker);
  }

  void WriteIteration(int i, SegmentWriter* trainer, SegmentWriter* worker) {
    const uint64_t begin = begins_ms_[static_cast<size_t>(i)] * kMs;
    const uint64_t end = begin + (i == kSlow ? kSlowMs : kIterationMs) * kMs;
    const auto n = static_cast<uint64_t>(i);
    const auto correlation = static_cast<uint32_t>(i + 1);
    trainer->Sql("INSERT INTO utilization(time_ns, uuid, gpu_percent, memory_used_bytes) VALUES(" +
                 std::to_string(begin) + ", 'GPU-1', " + std::to_string(40 + i) + ", " +
                 std::to_string(1000 + i * 7 % 13) + ")");
    trainer->Scopes(
        {.thread = 1, .first_sequence = 8 * n},
        {Begin(kTrain, begin), Begin(kInner, begin + 3 * kMs), End(kInner, begin + 21 * kMs),
         Begin(kWaits, begin + 30 * kMs), End(kWaits, begin + (60 + n % 7) * kMs),
         End(kTrain, end - 2 * kMs), MakeSlot(SlotKind::kStep, kTrain, end - kMs), n});
    trainer->Calls({.thread = 9, .first_sequence = n},
                   {Launch(begin + 10 * kMs, begin + 11 * kMs, correlation)});
    trainer->Work({.thread = 9, .first_sequence = n},
                  {Kernel(begin + 12 * kMs, begin + (90 + n % 23) * kMs, correlation)});
    trainer->Stacks({.first_sequence = n},
                    {Looks(begin + 12 * kMs, begin + (90 + n % 23) * kMs, 2, 7)});
    worker->Calls({.thread = 9, .first_sequence = n},
                  {Launch(begin + 35 * kMs, begin + 36 * kMs, correlation, 200)});
    worker->Work({.thread = 9, .first_sequence = n},
                 {Kernel(begin + 37 * kMs, begin + 52 * kMs, correlation)});
  }

  static std::string ThisHost() {
    char host[256] = {};
    EXPECT_EQ(gethostname(host, sizeof(host) - 1), 0);
    return host;
  }
  // Its processes are this one and its parent.
  void BeThere() {
    host_ = ThisHost();
    trainer_pid_ = getpid();
    worker_pid_ = getppid();
    start_ns_ = RealtimeNow();
  }

  static Retention Keep(uint64_t window_ms) {
    Retention retention;
    retention.window_ns = static_cast<int64_t>(window_ms * kMs);
    return retention;
  }
  Compaction Compact(const Retention& retention) const {
    const Result<Compaction> compaction = CompactRun(run_.path(), {}, retention);
    EXPECT_TRUE(compaction.ok()) << (compaction.ok() ? "" : compaction.error().ToString());
    return compaction.ok() ? *compaction : Compaction{};
  }

  // All that sums can tell.
  std::string Totals() const { return TotalsOf(run_); }
  static std::string TotalsOf(const TemporaryRun& run) {
    Result<Report> report = ReportOfRun(run.path());
    EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
    if (!report.ok()) return "";
    report->ledger.clear();
    report->notes.clear();
    for (ReportProcess& process : report->processes) process.awaited.clear();
    report->run.work_ns = 0;  // sums do not say when work ran
    report->run.work_gpu_busy_share = 0;
    return RenderJson(*report);
  }
  uint64_t Ledger(LedgerCounter counter) const {
    const Result<Report> report = ReportOfRun(run_.path());
    EXPECT_TRUE(report.ok()) << report.error().ToString();
    return report.ok() ? LedgerOf(*report, counter) : 0;
  }
  // Kernels of the trainer that are there still, by the ms at which they begin.
  std::vector<int64_t> KernelsLeft() const {
    const Result<Run> run = LoadRun(run_.path());
    std::vector<int64_t> begins_ms;
    for (const DeviceWork& work : run->processes.front().device_work) {
      begins_ms.push_back(work.start_ns / static_cast<int64_t>(kMs));
    }
    return begins_ms;
  }
  int64_t KernelOf(int iteration) const {
    return static_cast<int64_t>(begins_ms_[static_cast<size_t>(iteration)]) + 12;
  }

  std::string host_ = "host";
  int64_t trainer_pid_ = 100;
  int64_t worker_pid_ = 200;
  int64_t start_ns_ = 5;
  bool growing_ = false;  // every segment but the last says that its process goes on
  bool sealed_ = true;
  bool killed_ = false;  // while it recorded: what its last second did no sample tells
  TemporaryRun run_;
  std::vector<uint64_t> begins_ms_;
  uint64_t end_ms_ = 0;
};

TEST_F(CompactTest, TotalsAreThoseOfTheWholeRun) {
  const std::string whole = Totals();
  EXPECT_GT(Compact(Keep(1000)).events_removed, 0u);
  EXPECT_EQ(Totals(), whole);
}

TEST_F(CompactTest, SummingAgainAndAgainChangesNothing) {
  const std::string whole = Totals();
  for (uint64_t window_ms = 4300; window_ms > 170; window_ms -= 190) {
    Compact(Keep(window_ms));
    ASSERT_EQ(Totals(), whole) << "with a window of " << window_ms << " ms";
  }
}

TEST_F(CompactTest, NothingNeedsToBeLeftOfTheEvents) {
  const std::string whole = Totals();
  Compact(Keep(0));
  Retention nothing = Keep(0);
  nothing.max_bytes = 0;
  Compact(nothing);
  EXPECT_EQ(KernelsLeft(), std::vector<int64_t>());
  EXPECT_EQ(Totals(), whole);
}

TEST_F(CompactTest, LooksAtStacksGoWithTheirTimeAndTheirFramesStay) {
  Compact(Keep(1000));
  const Result<Run> run = LoadRun(run_.path());
  ASSERT_TRUE(run.ok());
  const ProcessTrace& trainer = run->processes.front();
  std::vector<int64_t> begins_ms;
  for (const StackLooks& looks : trainer.stack_looks) {
    begins_ms.push_back(looks.start_ns / static_cast<int64_t>(kMs));
    EXPECT_EQ(looks.frame, FrameId{2});
  }
  EXPECT_EQ(begins_ms, KernelsLeft());
  EXPECT_LT(begins_ms.size(), size_t{kIterations});
  EXPECT_FALSE(begins_ms.empty());
  EXPECT_EQ(trainer.frames.size(), 4u);
  EXPECT_EQ(trainer.Counted(LedgerCounter::chunk_events_lost), 0u);
  Compact(Keep(0));
  const Result<Run> thinned = LoadRun(run_.path());
  ASSERT_TRUE(thinned.ok());
  EXPECT_TRUE(thinned->processes.front().stack_looks.empty());
  EXPECT_EQ(thinned->processes.front().frames.size(), 4u);
}

TEST_F(CompactTest, ARunWithinItsWindowStaysAsItIs) {
  const std::vector<std::string> before = run_.Names();
  EXPECT_EQ(Compact(Keep(60'000)).events_removed, 0u);
  EXPECT_EQ(run_.Names(), before);
}

// Sums would cost it its corrected values and what-ifs.
TEST_F(CompactTest, ARunOfWhichNothingCanBeRemovedStaysAsItIs) {
  growing_ = true;
  sealed_ = false;
  for (const bool is_here : {false, true}) {
    if (is_here) BeThere();
    TemporaryRun run;
    WriteSegment(run, 0);
    const std::vector<std::string> before = run.Names();
    const Result<Compaction> compaction = CompactRun(run.path(), {}, Keep(0));
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    EXPECT_TRUE(compaction->events_removed == 0 && compaction->summed_ns == 0);
    EXPECT_EQ(run.Names(), before);
    EXPECT_NE(compaction->why_none, "");
    const std::string why = compaction->growing.at(0) + compaction->growing.at(1);
    EXPECT_NE(why.find(is_here ? std::to_string(getpid()) + " still runs"
                               : "pid 100 of host host did not close"),
              std::string::npos);
  }
}

TEST_F(CompactTest, WhatAKilledProcessWroteLastGoesToo) {
  host_ = ThisHost();
  trainer_pid_ = INT32_MAX - 1;
  worker_pid_ = INT32_MAX;
  killed_ = true;
  TemporaryRun killed;
  for (int segment = 0; segment < kSegments; ++segment) WriteSegment(killed, segment);
  const std::string whole = TotalsOf(killed);
  for (const uint64_t window_ms : {2000, 300, 0}) {
    Retention retention = Keep(window_ms);
    if (window_ms == 0) retention.max_bytes = 0;
    const Result<Compaction> compaction = CompactRun(killed.path(), {}, retention);
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    EXPECT_TRUE(compaction->events_removed > 0 && compaction->growing.empty());
    EXPECT_EQ(TotalsOf(killed), whole) << "with a window of " << window_ms << " ms";
  }
  EXPECT_EQ(std::ranges::count_if(killed.Names(), [](const auto& n) { return n.ends_with("db"); }),
            2);
}

TEST_F(CompactTest, SegmentsOfWhichNothingStaysAreRemovedButForTheLast) {
  Compact(Keep(0));
  std::vector<std::string> names = run_.Names();
  std::erase_if(names, [](const std::string& name) { return !name.ends_with(".db"); });
  EXPECT_EQ(names, (std::vector<std::string>{"host.100.5.4.db", "host.200.6.4.db"}));
}

TEST_F(CompactTest, DetailOfSlowIterationsStays) {
  Retention retention = Keep(0);
  retention.slow_factor = 3;
  Compact(retention);
  const std::vector<int64_t> left = KernelsLeft();
  EXPECT_EQ(std::count(left.begin(), left.end(), KernelOf(kSlow)), 1);
  EXPECT_EQ(std::count(left.begin(), left.end(), KernelOf(kSlow - 3)), 0);
  Compact(Keep(0));  // what was kept once is kept
  EXPECT_EQ(KernelsLeft(), left);
}

TEST_F(CompactTest, AKeptSlowIterationIsNotCountedTwice) {
  const std::string whole = Totals();
  Retention retention = Keep(300);
  retention.slow_factor = 3;
  Compact(retention);
  EXPECT_EQ(Totals(), whole);
}

TEST_F(CompactTest, ARunThatGrowsIsSummedWhileItDoes) {
  BeThere();
  growing_ = true;
  TemporaryRun whole;
  TemporaryRun growing;
  size_t most_files = 0;
  for (int segment = 0; segment < kSegments; ++segment) {
    WriteSegment(whole, segment);
    WriteSegment(growing, segment);
    const Result<Compaction> compaction = CompactRun(growing.path(), {}, Keep(300));
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    most_files = std::max(most_files, growing.Names().size());
  }
  EXPECT_EQ(TotalsOf(growing), TotalsOf(whole));
  EXPECT_LE(most_files, 2u * 2 + 1);  // two segments of two processes, and the sums
}

TEST_F(CompactTest, ASizeLimitKeepsTheNewest) {
  Retention retention = Keep(60'000);
  retention.max_bytes = 2000;
  Compact(retention);
  const std::vector<int64_t> left = KernelsLeft();
  ASSERT_FALSE(left.empty());
  EXPECT_EQ(left.back(), KernelOf(kIterations - 1));
  EXPECT_LT(left.size(), static_cast<size_t>(kIterations) / 2);
}

TEST_F(CompactTest, DetailThatWasNotRemovedYetIsNotCountedTwice) {
  const std::string whole = Totals();
  TemporaryRun copy;
  fs::copy(run_.path(), copy.path(), fs::copy_options::recursive);
  Compact(Keep(300));
  fs::copy(copy.path(), run_.path(), fs::copy_options::overwrite_existing);  // but for the sums
  EXPECT_EQ(Totals(), whole);
  EXPECT_EQ(Ledger(LedgerCounter::events_behind_sums), 0u);
  Compact(Keep(300));
  EXPECT_LT(KernelsLeft().size(), 10u);
  EXPECT_EQ(Totals(), whole);
}

TEST_F(CompactTest, ARecordThatArrivesLateIsCounted) {
  Compact(Keep(300));
  SegmentWriter late(run_, {.pid = 100, .start_ns = 5}, 5);
  late.PutUsualRows();
  late.Sql("UPDATE meta SET value=" + std::to_string((end_ms_ + 20) * kMs) +
           " WHERE key='end_monotonic_ns'");
  late.Work({.thread = 9, .first_sequence = 1000}, {Kernel(50 * kMs, 60 * kMs, 9999)});
  late.Close();
  EXPECT_EQ(Ledger(LedgerCounter::events_behind_sums), 1u);
}

TEST_F(CompactTest, TheReportSaysWhatIsSummedAndMissing) {
  Compact(Keep(300));
  EXPECT_GT(Ledger(LedgerCounter::detail_summed_ns), 0u);
  ReportOptions options;
  options.replays = true;
  const Result<Report> report = ReportOfRun(run_.path(), options);
  ASSERT_TRUE(report.ok());
  EXPECT_EQ(report->processes.front().corrected_why_not, "older detail was thinned");
  EXPECT_FALSE(report->run.gpu_limited_share);
  EXPECT_TRUE(std::any_of(report->notes.begin(), report->notes.end(), [](const std::string& note) {
    return note.find("kept as sums") != std::string::npos;
  }));
}

TEST_F(CompactTest, OtherOperationsThanTheSumsHaveAreRefused) {
  Compact(Keep(300));
  ReportOptions options;
  options.operations = {"all"};
  const Result<Report> report = ReportOfRun(run_.path(), options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().doing, "choosing operations");
}

TEST_F(CompactTest, DamagedSumsAreRefused) {
  Compact(Keep(300));
  const std::string path = run_.File(kSumsFile);
  fs::resize_file(path, fs::file_size(path) - 3);
  const Result<Report> report = ReportOfRun(run_.path());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().found, "damaged bytes");
}

TEST_F(CompactTest, SumsOfAnotherVersionAreRefusedWithBothNamed) {
  Compact(Keep(300));
  std::fstream file(run_.File(kSumsFile), std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(8);
  file.put(99);
  file.close();
  const Result<Report> report = ReportOfRun(run_.path());
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().found, "format version 99");
  EXPECT_EQ(report.error().expected, "format version " + std::to_string(kSumsVersion));
}

TEST_F(CompactTest, ADamagedChunkLeavesTheRunAsItIs) {
  {
    SegmentWriter bad(run_, {.pid = 100, .start_ns = 5}, 5);
    bad.PutUsualRows();
    bad.Work({.thread = 9, .first_sequence = 1000}, {Kernel(50 * kMs, 60 * kMs, 9999)});
    bad.Sql("UPDATE chunk SET crc=crc+1");
  }
  const std::vector<std::string> before = run_.Names();
  const Result<Compaction> compaction = CompactRun(run_.path(), {}, Keep(0));
  ASSERT_FALSE(compaction.ok());
  EXPECT_EQ(compaction.error().expected, "chunks that can all be read");
  EXPECT_EQ(run_.Names(), before);
}

TEST_F(CompactTest, RunsOfSeveralHostsAreRefused) {
  SegmentWriter other(run_, {.host = "elsewhere", .pid = 300, .start_ns = 7});
  other.PutUsualRows();
  other.Close();
  const Result<Compaction> compaction = CompactRun(run_.path(), {}, Keep(0));
  ASSERT_FALSE(compaction.ok());
  EXPECT_EQ(compaction.error().expected, "processes of one host");
}

TEST_F(CompactTest, OneCompactionAtATime) {
  const int folder = open(run_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  ASSERT_EQ(flock(folder, LOCK_EX | LOCK_NB), 0);
  const Result<Compaction> compaction = CompactRun(run_.path(), {}, Keep(0));
  close(folder);
  ASSERT_FALSE(compaction.ok());
  EXPECT_EQ(compaction.error().expected, "nobody else compacting it");
}

}  // namespace
}  // namespace gpubound
