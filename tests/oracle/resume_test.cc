// SPDX-License-Identifier: Apache-2.0
//
// A sweep that stops anywhere, is written down, and goes on over what is left of the events ends
// where one that never stopped does. On the random traces of the oracle, as they are and stretched
// beyond every constant of the engine.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "analysis/attribution/process_report.h"
#include "analysis/report/report_json.h"
#include "analysis/trace/memory_source.h"
#include "tests/oracle/random_trace.h"
#include "tests/oracle/seeds.h"
#include "tests/oracle/thinned_trace.h"

namespace gpubound::oracle {
namespace {

constexpr uint64_t kTraces = 1'500;
constexpr uint64_t kTracesPerCrowd = 10;
// Makes a trace of some dozens of ns one of some hundreds of ms.
constexpr uint64_t kWithOperations = 5;  // the seed of a trace in which some are open at half time
constexpr int64_t kStretch = 7'654'321;

ProcessTrace Stretched(ProcessTrace trace, int64_t factor) {
  Stretch(&trace, factor);
  return trace;
}

class ResumeTest : public testing::Test {
 protected:
  static void OnRandomTraces(int64_t stretch,
                             const std::function<void(const ProcessTrace&, uint64_t)>& check) {
    const Seeds seeds(kTraces);
    for (const uint64_t seed : seeds) {
      SCOPED_TRACE(ToReproduce(seed));
      check(Stretched(MakeRandomTrace(seed), stretch), seed);
      if (HasFailure()) return;
    }
  }

  static std::string Json(const ProcessTrace& trace, const ProcessSums* before) {
    ProcessContext context;
    context.before = before;
    Result<ProcessAnalysis> analysis = AnalyzeProcess(trace, MemorySource(trace), {}, context);
    EXPECT_TRUE(analysis.ok()) << (analysis.ok() ? "" : analysis.error().ToString());
    if (!analysis.ok()) return "";
    Report report;
    for (int i = 0; i < kLedgerCounterCount; ++i) {
      const uint64_t value = analysis->found[static_cast<size_t>(i)];
      if (value != 0) report.ledger.push_back({kLedgerCounters[i].name, value, {}, ""});
    }
    report.processes.push_back(std::move(analysis->report));
    // What is not printed.
    const double most_smi_model = report.processes.back().most_smi_model;
    return RenderJson(report) + std::to_string(most_smi_model);
  }

  // As the next reader finds them.
  static ProcessSums FromDisk(ProcessSums* written) {
    StateArchive out;
    written->Visit(out);
    const std::string bytes = out.Take();
    StateArchive in(bytes);
    ProcessSums read;
    read.Visit(in);
    EXPECT_TRUE(in.done());
    return read;
  }

  static std::optional<ProcessSums> Sum(const ProcessTrace& trace, const ProcessSums* before,
                                        int64_t until_ns) {
    ProcessContext context;
    context.before = before;
    Result<SummedProcess> summed = SumProcess(trace, MemorySource(trace), {}, context, until_ns);
    EXPECT_TRUE(summed.ok()) << (summed.ok() ? "" : summed.error().ToString());
    if (!summed.ok()) return std::nullopt;
    return FromDisk(&summed->sums);
  }

  // |trace| is summed at each of |stops|, ascending, and thinned each time.
  static std::string JsonWithStops(ProcessTrace trace, const std::vector<int64_t>& stops) {
    std::optional<ProcessSums> sums;
    for (const int64_t stop_ns : stops) {
      sums = Sum(trace, sums ? &*sums : nullptr, stop_ns);
      if (!sums) return "";
      trace = WithoutDetail(std::move(trace), stop_ns);
    }
    return Json(trace, sums ? &*sums : nullptr);
  }

  static std::vector<int64_t> RandomStops(const ProcessTrace& trace, uint64_t seed) {
    std::mt19937_64 random(seed);
    const int64_t begin_ns = trace.span_begin_ns - 5;
    const auto length = static_cast<uint64_t>(trace.span_end_ns - begin_ns + 20);
    std::vector<int64_t> stops;
    for (uint64_t left = 1 + random() % 3; left > 0; --left) {
      stops.push_back(begin_ns + static_cast<int64_t>(random() % length));
    }
    std::sort(stops.begin(), stops.end());
    return stops;
  }
};

TEST_F(ResumeTest, StoppingAnywhereChangesNothing) {
  OnRandomTraces(1, [](const ProcessTrace& trace, uint64_t seed) {
    EXPECT_EQ(JsonWithStops(trace, RandomStops(trace, seed)), Json(trace, nullptr));
  });
}

TEST_F(ResumeTest, StoppingALongTraceAnywhereChangesNothing) {
  OnRandomTraces(kStretch, [](const ProcessTrace& trace, uint64_t seed) {
    EXPECT_EQ(JsonWithStops(trace, RandomStops(trace, seed)), Json(trace, nullptr));
  });
}

TEST_F(ResumeTest, StoppingWhileThreadsComeAndGoChangesNothing) {
  OnRandomTraces(kStretch, [](const ProcessTrace&, uint64_t seed) {
    if (seed % kTracesPerCrowd != 0) return;
    const ProcessTrace crowd = Stretched(MakeRandomCrowd(seed), kStretch);
    EXPECT_EQ(JsonWithStops(crowd, RandomStops(crowd, seed)), Json(crowd, nullptr));
  });
}

TEST_F(ResumeTest, StoppingWhileOperationsAreHandedOverChangesNothing) {
  OnRandomTraces(kStretch, [](const ProcessTrace&, uint64_t seed) {
    TraceKind kind;
    kind.hands_over = true;
    const ProcessTrace trace = Stretched(MakeRandomTrace(seed, kind), kStretch);
    EXPECT_EQ(JsonWithStops(trace, RandomStops(trace, seed)), Json(trace, nullptr));
  });
}

TEST_F(ResumeTest, StoppingAtTheInstantOfAnEventChangesNothing) {
  OnRandomTraces(kStretch, [](const ProcessTrace& trace, uint64_t seed) {
    std::vector<int64_t> stops;
    for (const DeviceWork& work : trace.device_work) stops.push_back(work.start_ns);
    for (const ThreadEvent& event : trace.threads.front().events) stops.push_back(event.time_ns);
    if (stops.empty()) return;
    EXPECT_EQ(JsonWithStops(trace, {stops[seed % stops.size()]}), Json(trace, nullptr));
  });
}

TEST_F(ResumeTest, TheSpansEndNeedNotBeKnownWhereNothingReachesBeyondIt) {
  OnRandomTraces(kStretch, [](const ProcessTrace& trace, uint64_t seed) {
    ProcessTrace open = trace;
    for (const DeviceWork& work : trace.device_work) {
      if (work.end_ns > trace.span_end_ns) return;
    }
    open.span_end_ns = kOpenEnded;
    const int64_t stop_ns = std::min(RandomStops(trace, seed).front(), trace.span_end_ns);
    const std::optional<ProcessSums> sums = Sum(open, nullptr, stop_ns);
    ASSERT_TRUE(sums);
    EXPECT_EQ(Json(WithoutDetail(trace, stop_ns), &*sums), Json(trace, nullptr));
  });
}

TEST_F(ResumeTest, NamesThreadsAndWorkThatAppearLaterTakeTheirPlaces) {
  ProcessTrace trace = Stretched(MakeRandomTrace(kWithOperations), kStretch);
  const ProcessTrace whole = trace;
  const int64_t stop_ns = trace.span_begin_ns + (trace.span_end_ns - trace.span_begin_ns) / 2;
  const auto later = static_cast<LabelId>(trace.labels.size());
  const auto work = static_cast<WorkId>(trace.works.size());
  std::optional<ProcessSums> sums = Sum(trace, nullptr, stop_ns);
  ASSERT_TRUE(sums);
  const auto grow = [&](ProcessTrace* grown) {
    grown->labels.push_back({LabelKind::kOperation, Layer::kUnset, "", "a later name"});
    grown->works.emplace_back().name = "a later kernel";
    DeviceWork kernel;
    kernel.start_ns = stop_ns + 1000;
    kernel.end_ns = stop_ns + 2000;
    kernel.work = work;
    kernel.stream = StreamId{1};
    grown->device_work.insert(
        std::upper_bound(grown->device_work.begin(), grown->device_work.end(), kernel.start_ns,
                         [](int64_t at, const DeviceWork& other) { return at < other.start_ns; }),
        kernel);
    std::vector<ThreadEvent>& events = grown->threads.front().events;
    events.push_back({grown->span_end_ns, 0, later, SlotKind::kBegin});
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  };
  ProcessTrace grown = whole;
  grow(&grown);
  ProcessTrace left = WithoutDetail(whole, stop_ns);
  grow(&left);
  EXPECT_EQ(Json(left, &*sums), Json(grown, nullptr));
}

TEST_F(ResumeTest, BytesThatAreNoStateAreRefused) {
  const ProcessTrace trace = MakeRandomTrace(5);
  std::optional<ProcessSums> sums = Sum(trace, nullptr, trace.span_begin_ns + 10);
  ASSERT_TRUE(sums);
  const std::string whole = sums->sweep;
  for (size_t length = 1; length < whole.size(); ++length) {
    sums->sweep = whole.substr(0, length);
    ProcessContext context;
    context.before = &*sums;
    const Result<ProcessAnalysis> analysis =
        AnalyzeProcess(trace, MemorySource(trace), {}, context);
    ASSERT_FALSE(analysis.ok()) << "of " << length << " bytes";
    EXPECT_EQ(analysis.error().doing, "resuming the sums");
  }
}

}  // namespace
}  // namespace gpubound::oracle
