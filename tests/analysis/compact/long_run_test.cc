// SPDX-License-Identifier: Apache-2.0
//
// A training run of 100,000 events a second, at the speed at which it can be written, summed and
// thinned as `gpubound run --long` does it: its directory stays small, and its totals are those of
// the whole run. GPUBOUND_LONG_RUN_SECONDS says how long it is; the test of label long simulates a
// day.
//
// Every second is the same, so totals grow by the same each second: what a run of any length has is
// told from two short ones that were kept whole.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/compact/compact.h"
#include "analysis/correction/run_report.h"
#include "analysis/reader/process_presence.h"
#include "tests/analysis/trace_writer.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;
using namespace testing_support;

constexpr uint64_t kUs = 1'000;
constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kIterationNs = 10'000 * kUs;
constexpr uint64_t kIterations = kSecond / kIterationNs;  // in a second
constexpr uint64_t kScopes = 300;                         // in an iteration
constexpr uint64_t kScopeNs = 33 * kUs;
constexpr uint64_t kSlots = 2 * kScopes + 4;  // a step takes two
constexpr uint64_t kLaunches = 199;
// With those of the iteration itself: 1001 events, 100,100 a second.
constexpr uint64_t kEvents = 2 * kScopes + 2 * kLaunches + 3;
constexpr uint64_t kEventsPerSecond = kEvents * kIterations;
constexpr uint64_t kGigabyte = uint64_t{1} << 30;

uint64_t SecondsToSimulate() {
  const char* text = std::getenv("GPUBOUND_LONG_RUN_SECONDS");
  return text == nullptr ? 30 : std::strtoull(text, nullptr, 10);
}

// As the recorder seals them for a long run of this rate (60 MB); small ones, so that a short
// simulation has several.
uint64_t SegmentSeconds(uint64_t seconds) {
  constexpr uint64_t kHour = 3600;
  return seconds < kHour ? 10 : 90;
}

uint64_t SizeOf(const std::string& folder) {
  uint64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(folder)) bytes += entry.file_size();
  return bytes;
}

// Writes a run second by second, as a process that is there: this one.
class Recorder {
 public:
  Recorder(const TemporaryRun& run, uint64_t seconds) : run_(run), seconds_(seconds) {
    char host[256] = {};
    gethostname(host, sizeof(host) - 1);
    identity_ = {host, getpid(), RealtimeNow()};
  }

  bool done() const { return now_s_ == seconds_; }

  // The next segment.
  void Write() {
    SegmentWriter writer(run_, identity_, segment_++);
    writer.Sql("PRAGMA synchronous=OFF; BEGIN");
    writer.PutUsualRows();
    const uint64_t end_s = std::min(seconds_, now_s_ + SegmentSeconds(seconds_));
    for (; now_s_ < end_s; ++now_s_) {
      for (uint64_t i = 0; i < kIterations; ++i) WriteIteration(now_s_ * kIterations + i, &writer);
    }
    const std::string now = std::to_string(now_s_ * kSecond);
    writer.Sql("INSERT INTO clock VALUES(1, 0, " + now + ", 0, 0, 0)");
    writer.Meta("sealed", 1);
    writer.Sql(done() ? "UPDATE meta SET value=" + now + " WHERE key='end_monotonic_ns'"
                      : "DELETE FROM meta WHERE key LIKE 'end_%'");
    writer.Sql("COMMIT");
  }

 private:
  void WriteIteration(uint64_t iteration, SegmentWriter* writer) {
    const uint64_t begin = iteration * kIterationNs;
    slots_.clear();
    calls_.clear();
    kernels_.clear();
    slots_.push_back(Begin(kTrain, 0));  // since the iteration's begin
    for (uint64_t i = 0; i < kScopes; ++i) {
      const uint64_t at = begin + kUs + i * kScopeNs;
      slots_.push_back(Begin(kInner, at - begin));
      slots_.push_back(End(kInner, at - begin + 30 * kUs));
      if (i >= kLaunches) continue;
      const auto correlation = static_cast<uint32_t>(1 + iteration * kLaunches + i);
      calls_.push_back(Launch(at + kUs, at + 6 * kUs, correlation));
      kernels_.push_back(Kernel(at + 11 * kUs, at + (20 + i % 13) * kUs, correlation));
    }
    slots_.push_back(End(kTrain, kIterationNs - 2 * kUs));
    slots_.push_back(MakeSlot(SlotKind::kStep, kTrain, kIterationNs - kUs));
    slots_.push_back(iteration);
    writer->Scopes({.thread = 1, .first_sequence = iteration * kSlots}, slots_, {}, begin);
    writer->Calls({.thread = 9, .first_sequence = iteration * kLaunches}, calls_);
    writer->Work({.thread = 9, .first_sequence = iteration * kLaunches}, kernels_);
  }

  const TemporaryRun& run_;
  const uint64_t seconds_;
  WriterIdentity identity_;
  uint64_t now_s_ = 0;
  uint32_t segment_ = 0;
  std::vector<Slot> slots_;
  std::vector<ApiRecord> calls_;
  std::vector<DeviceRecord> kernels_;
};

// Every total that grows with time.
std::map<std::string, int64_t> TotalsOf(const std::string& folder) {
  std::map<std::string, int64_t> totals;
  const Result<Report> report = ReportOfRun(folder);
  EXPECT_TRUE(report.ok()) << (report.ok() ? "" : report.error().ToString());
  if (!report.ok()) return totals;
  const ReportProcess& process = report->processes.front();
  totals["span"] = process.span_ns;
  for (const ReportCell& cell : process.cells) {
    totals["cell " + cell.operation + " " + cell.layer + " " + cell.gpu] = cell.ns;
  }
  for (const ReportOperation& row : process.operations) {
    totals["caused " + row.operation] = row.gpu_caused_ns;
    totals["sum " + row.operation] = row.gpu_sum_ns;
    totals["count " + row.operation] = static_cast<int64_t>(row.count);
    totals["inclusive " + row.operation] = row.inclusive_wall_ns;
    for (const auto& [name, count] : row.transitions) {
      totals[row.operation + " " + name] = static_cast<int64_t>(count);
    }
  }
  for (const ReportKernel& kernel : process.kernels) {
    totals["kernels"] += static_cast<int64_t>(kernel.count);
  }
  totals["device"] = report->devices.front().busy_ns;
  totals["iterations"] = static_cast<int64_t>(process.iterations->count);
  totals["in iterations"] = process.iterations->total_ns;
  totals["iterations busy"] = process.iterations->gpu_busy_ns;
  return totals;
}

std::map<std::string, int64_t> TotalsOfWholeRun(uint64_t seconds) {
  const TemporaryRun run;
  Recorder recorder(run, seconds);
  while (!recorder.done()) recorder.Write();
  return TotalsOf(run.path());
}

TEST(LongRunTest, StaysSmallWithTheTotalsOfTheWholeRun) {
  const uint64_t seconds = SecondsToSimulate();
  const TemporaryRun run;
  Recorder recorder(run, seconds);
  Retention retention;  // as by default
  retention.max_bytes = kGigabyte;
  retention.slow_factor = 3;
  // So that a short simulation thins too.
  retention.window_ns = std::min(retention.window_ns, static_cast<int64_t>(seconds * kSecond / 5));
  uint64_t most_bytes = 0;
  uint64_t removed = 0;
  while (!recorder.done()) {
    recorder.Write();
    const Result<Compaction> compaction = CompactRun(run.path(), {}, retention);
    ASSERT_TRUE(compaction.ok()) << compaction.error().ToString();
    removed += compaction->events_removed;
    most_bytes = std::max(most_bytes, compaction->bytes_before);
  }
  std::printf("%llu events, %llu removed, at most %.1f MB, %.1f MB in the end\n",
              static_cast<unsigned long long>(seconds * kEventsPerSecond),
              static_cast<unsigned long long>(removed), static_cast<double>(most_bytes) / 1e6,
              static_cast<double>(SizeOf(run.path())) / 1e6);
  EXPECT_GT(removed, seconds * kEventsPerSecond / 4);
  EXPECT_LT(most_bytes, kGigabyte);

  std::map<std::string, int64_t> expected = TotalsOfWholeRun(2);
  for (const auto& [name, of_three] : TotalsOfWholeRun(3)) {
    int64_t& total = expected[name];
    total += (of_three - total) * static_cast<int64_t>(seconds - 2);
  }
  EXPECT_EQ(TotalsOf(run.path()), expected);
}

}  // namespace
}  // namespace gpubound
