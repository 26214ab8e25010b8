// SPDX-License-Identifier: Apache-2.0
//
// The data of the page against a run made by hand, and what it weighs.
#include "analysis/output/page/page_json.h"
#include "analysis/attribution/build_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "analysis/base/byte_column.h"
#include "analysis/output/page/thin_processes.h"
#include "analysis/output/text/headline.h"
#include "analysis/trace/run_metadata.h"

namespace gpubound {
namespace {

using Json = nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr LabelId kOuter{1};
constexpr LabelId kInner{2};
constexpr LabelId kCall{3};

class PageJsonTest : public testing::Test {
 protected:
  PageJsonTest() {
    ProcessTrace& process = run_.processes.emplace_back();
    run_.path = "/tmp/some.gpubound/";
    process.identity = {"host", 100, 5};
    process.span_begin_ns = 1'000;
    process.span_end_ns = 2'000;
    process.labels.resize(4);
    process.labels[1] = {LabelKind::kOperation, Layer::kUnset, "", "outer"};
    process.labels[2] = {LabelKind::kOperation, Layer::kUnset, "", "inner"};
    process.labels[3] = {LabelKind::kApi, Layer::kUnset, "", "cudaLaunchKernel"};
    ThreadTrace& thread = process.threads.emplace_back();
    thread.name = "main";
    thread.tid = process.main_tid = 7;
    process.devices.resize(2);
    process.streams.resize(2);
    process.streams[1].device = DeviceId{1};
    process.works.resize(2);
    process.works[1].info.kind = WorkKind::kKernel;
    process.works[1].name = "gemm";
  }

  ProcessTrace& process() { return run_.processes.front(); }
  void Scope(LabelId label, int64_t begin_ns, int64_t end_ns) {
    std::vector<ThreadEvent>& events = process().threads[0].events;
    events.push_back({begin_ns, 0, label, SlotKind::kBegin});
    events.push_back({end_ns, 0, label, SlotKind::kEnd});
    std::stable_sort(events.begin(), events.end(),
                     [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
  }
  void Kernel(int64_t begin_ns, int64_t end_ns) {
    DeviceWork work;
    work.start_ns = begin_ns;
    work.end_ns = end_ns;
    work.stream = StreamId{1};
    work.work = WorkId{1};
    process().device_work.push_back(work);
  }
  void Build(const PageLimits& limits = {}) {
    Result<Report> report = BuildReport(run_);
    ASSERT_TRUE(report.ok());
    timeline_ = BuildTimeline(run_, *report, limits);
    text_ = RenderPageJson(run_, *report, timeline_);
  }
  Json Parsed() const { return Json::parse(text_); }
  const TimelineTrack& TrackOf(TrackKind kind) const {
    static const TimelineTrack kNone;
    const auto track = std::find_if(timeline_.tracks.begin(), timeline_.tracks.end(),
                                    [&](const TimelineTrack& t) { return t.kind == kind; });
    return track != timeline_.tracks.end() ? *track : kNone;
  }
  std::string NameOfEvent(const KeptEvent& event) const { return timeline_.names[event.name]; }

  gpubound::Run run_;
  PageTimeline timeline_;
  std::string text_;
};

TEST_F(PageJsonTest, TracksAreDevicesStreamsThreadsAndTheirCalls) {
  Scope(kOuter, 1'100, 1'900);
  process().threads[0].calls.push_back({1'200, 1'210, 1, kCall, 0});
  Kernel(1'220, 1'300);
  Build();
  std::vector<std::string> kinds;
  for (const TimelineTrack& track : timeline_.tracks) kinds.push_back(TrackKindName(track.kind));
  EXPECT_THAT(kinds, ElementsAre("device", "stream", "thread", "calls"));
}

TEST_F(PageJsonTest, AThreadThatIsNamedAfterItsIdIsNotNumberedTwice) {
  const auto title = [this](const std::string& name, uint32_t tid) {
    ThreadTrace& thread = process().threads[0];
    thread.name = name;
    thread.tid = process().main_tid = tid;
    Build();
    return TrackOf(TrackKind::kThread).title;
  };
  Scope(kOuter, 1'100, 1'900);
  EXPECT_EQ(title("main", 7), "main 7");
  EXPECT_EQ(title("", 7), "thread 7");
  EXPECT_EQ(title("thread 7 (python3)", 7), "thread 7 (python3)");
  EXPECT_EQ(title("worker 17", 7), "worker 17 7");
  EXPECT_EQ(title("thread 0 (python3)", UINT32_MAX), "thread 0 (python3)") << "it has no id";
}

TEST_F(PageJsonTest, EventsHaveTheRunsTimeAndTheirDepth) {
  Scope(kOuter, 1'100, 1'900);
  Scope(kInner, 1'200, 1'300);
  Build();
  const std::vector<KeptEvent>& events = TrackOf(TrackKind::kThread).events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(NameOfEvent(events[0]), "outer");
  EXPECT_EQ(events[0].begin_ns, 100);
  EXPECT_EQ(events[0].end_ns, 900);
  EXPECT_EQ(NameOfEvent(events[1]), "inner");
  EXPECT_EQ(events[1].depth, 1u);
}

TEST_F(PageJsonTest, AScopeThatIsOpenAtTheEndEndsWithTheProcess) {
  process().threads[0].events.push_back({1'500, 0, kOuter, SlotKind::kBegin});
  Build();
  ASSERT_EQ(TrackOf(TrackKind::kThread).events.size(), 1u);
  EXPECT_EQ(TrackOf(TrackKind::kThread).events[0].end_ns, 1'000);
}

TEST_F(PageJsonTest, ARangeThatAnotherThreadEndsEndsThere) {
  process().threads.push_back(process().threads[0]);
  process().threads[1].tid = 8;
  process().threads[0].events = {{1'100, 40, kOuter, SlotKind::kRangeStart},
                                 {1'200, 41, kInner, SlotKind::kRangeStart},
                                 {1'900, 41, kInner, SlotKind::kRangeEnd}};
  // Of what no thread started there is nothing to end.
  process().threads[1].events = {{1'150, 99, kOuter, SlotKind::kRangeEnd},
                                 {1'600, 40, kOuter, SlotKind::kRangeEnd}};
  Build();
  const std::vector<KeptEvent>& events = TrackOf(TrackKind::kThread).events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(NameOfEvent(events[0]), "outer");
  EXPECT_EQ(events[0].end_ns, 600);
  EXPECT_FALSE(events[0].end_cut);
  EXPECT_EQ(NameOfEvent(events[1]), "inner");
  EXPECT_EQ(events[1].end_ns, 900);
}

TEST_F(PageJsonTest, LostEventsReplaceWhatIsOpen) {
  process().threads[0].events = {{1'100, 0, kOuter, SlotKind::kBegin},
                                 {1'600, 0, kOuter, SlotKind::kBegin},
                                 {1'700, 0, kOuter, SlotKind::kEnd}};
  process().threads[0].resets.push_back({1, {kInner}});
  Build();
  const std::vector<KeptEvent>& events = TrackOf(TrackKind::kThread).events;
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].end_ns, 100);  // nothing is known of it after its begin
  EXPECT_EQ(NameOfEvent(events[1]), "inner");
  EXPECT_EQ(events[1].begin_ns, 600);
  EXPECT_EQ(events[1].end_ns, 1'000);
}

TEST_F(PageJsonTest, DeviceTimeOfIterationsIsTheReports) {
  Scope(kOuter, 1'000, 1'990);
  std::vector<ThreadEvent>& events = process().threads[0].events;
  events.insert(events.begin() + 1, {1'400, 1, LabelId{}, SlotKind::kStep});
  events.insert(events.begin() + 2, {1'800, 2, LabelId{}, SlotKind::kStep});
  Kernel(1'300, 1'500);
  Kernel(1'450, 1'550);
  Build();
  const Json points = Parsed()["processes"][0]["iterations"];
  EXPECT_EQ(points,
            Json::parse("[[1,1,0,400,400,400,100,1,[]],[2,1,400,800,400,400,150,2,[400]]]"));
  EXPECT_EQ(Parsed()["report"]["processes"][0]["iterations"]["slowest"][0]["gpu_busy_ns"], 150);
}

TEST_F(PageJsonTest, NamesCannotLeaveTheScriptElement) {
  process().name = "</script><!--&";
  Build();
  EXPECT_THAT(text_, Not(HasSubstr("<")));
  EXPECT_THAT(text_, Not(HasSubstr("&")));
  EXPECT_EQ(Parsed()["report"]["processes"][0]["name"], "</script><!--&");
}

TEST_F(PageJsonTest, BytesThatAreNoTextAreReplaced) {
  process().works[1].name = "k\xff";
  Kernel(1'100, 1'200);
  Build();
  EXPECT_EQ(Parsed()["processes"][0]["operation_kernels"][0]["kernels"][0]["name"], "k\ufffd");
}

TEST_F(PageJsonTest, KernelsAreDemangledAndCut) {
  process().works[1].name = "_ZN3fooIiE3barEv";
  Kernel(1'100, 1'200);
  Build();
  EXPECT_EQ(Parsed()["processes"][0]["operation_kernels"][0]["kernels"][0]["name"],
            "foo<int>::bar()");
  process().works[1].name = std::string(500, 'x') + std::string(500, 'y');
  Build();
  EXPECT_EQ(Parsed()["processes"][0]["operation_kernels"][0]["kernels"][0]["name"],
            std::string(300, 'x') + "\u2026" + std::string(300, 'y'))
      << "such names differ at their ends";
}

TEST_F(PageJsonTest, KernelsOfGapsAndSavingsAreDemangledToo) {
  process().works[1].name = "_ZN3fooIiE3barEv";
  Scope(kOuter, 1'000, 1'900);
  Kernel(1'100, 1'200);
  Kernel(1'700, 1'800);
  Result<Report> report = BuildReport(run_);
  ASSERT_TRUE(report.ok());
  report->run.savings = {{"kernel", "_ZN3fooIiE3barEv", 0.5, 1, 0.5, 0.4, 0.6},
                         {"operation_cpu", "outer", 0.5, 1, 0.5, 0.4, 0.6}};
  timeline_ = BuildTimeline(run_, *report);
  text_ = RenderPageJson(run_, *report, timeline_);
  const Json page = Parsed()["report"];
  const Json& gaps = page["processes"][0]["gaps"];
  EXPECT_TRUE(std::any_of(gaps.begin(), gaps.end(), [](const Json& gap) {
    return gap["work_before"] == "foo<int>::bar()" && gap["work_after"] == "foo<int>::bar()";
  })) << gaps;
  EXPECT_EQ(page["run"]["savings"][0]["shown"], "foo<int>::bar()");
  EXPECT_EQ(page["run"]["savings"][0]["name"], "_ZN3fooIiE3barEv") << "as --scale takes it";
  EXPECT_FALSE(page["run"]["savings"][1].contains("shown"));
}

TEST_F(PageJsonTest, NamesBeyondTheLimitShareOne) {
  Scope(kOuter, 1'100, 1'900);
  PageLimits limits;
  limits.names = 1;
  Build(limits);
  EXPECT_EQ(timeline_.names.size(), 2u);
  EXPECT_EQ(timeline_.names[0], "(other names)");
}

TEST_F(PageJsonTest, ARunThatIsTooLongKeepsItsWindowsOnly) {
  for (int64_t at = 1'000; at < 2'000; at += 4) Kernel(at, at + 2);
  PageLimits limits;
  limits.events = 100;
  limits.window_events = 20;
  Build(limits);
  EXPECT_FALSE(timeline_.whole);
  const TimelineTrack& stream = TrackOf(TrackKind::kStream);
  EXPECT_EQ(stream.seen, 250u);
  EXPECT_LT(stream.events.size(), 250u);
  EXPECT_FALSE(timeline_.windows.empty());
  EXPECT_FALSE(stream.band.bytes().empty());
}

TEST_F(PageJsonTest, UnknownTimeIsClippedAndJoined) {
  process().unknown = {{900, 1'100, "a"}, {1'100, 1'200, "b"}, {1'500, 1'600, "c"}};
  Build();
  EXPECT_EQ(Parsed()["processes"][0]["unknown"], Json::parse("[[0,200],[500,600]]"));
}

TEST_F(PageJsonTest, TheRunIsSummedUpInTheWordsOfTheTextReport) {
  Scope(kOuter, 1'000, 2'000);
  Kernel(1'100, 1'300);
  process().unknown = {{1'900, 2'000, "a"}};
  Build();
  const Result<Report> report = BuildReport(run_);
  const Json summary = Parsed()["summary"];
  EXPECT_EQ(summary["headline"], HeadlineText(*report));
  EXPECT_EQ(summary["scope"],
            "GPU: compute >= 20 %; from the first to the last GPU work, 200 ns, busy 100 %.");
  EXPECT_EQ(summary["main_process"], 0);
  EXPECT_EQ(summary["told_process"], 0);
  EXPECT_EQ(summary["own_share"], nullptr);
  EXPECT_DOUBLE_EQ(summary["unknown_share"], 0.1);
}

TEST_F(PageJsonTest, CausesOfIdleTimeComeWithTheirRemedy) {
  Scope(kOuter, 1'000, 2'000);
  Kernel(1'100, 1'300);
  Build();
  const Json cause = Parsed()["processes"][0]["causes"]["launch"];
  EXPECT_EQ(cause["text"], "CPU preparing launches");
  EXPECT_THAT(cause["action"].get<std::string>(), HasSubstr("Launch less often in outer"));
}

TEST_F(PageJsonTest, TheOnlyStreamOfADeviceHasItsCoarseLevelWithoutHoldingIt) {
  process().streams.resize(3);
  process().streams[2].device = DeviceId{1};
  process().streams[2].stream = 9;
  Kernel(1'100, 1'300);
  const auto bands = [this] {
    Build();
    std::vector<bool> empty;
    const Json data = Parsed();
    for (const Json& track : data["timeline"]["tracks"]) empty.push_back(track["band"] == "");
    return empty;
  };
  EXPECT_THAT(bands(), ElementsAre(false, true));
  Kernel(1'400, 1'500);
  process().device_work.back().stream = StreamId{2};
  EXPECT_THAT(bands(), ElementsAre(false, false, false));
}

TEST_F(PageJsonTest, OfTooManyTracksDevicesKeepTheirBucketsAndOthersHaveFewer) {
  for (int64_t at = 1'000; at < 2'000; at += 8) {
    Scope(kOuter, at, at + 3);
    Kernel(at, at + 3);
  }
  PageLimits limits;
  limits.most_buckets = 256;
  const auto bytes = [&](uint64_t band_bytes) {
    limits.band_bytes = band_bytes;
    Build(limits);
    return std::pair(TrackOf(TrackKind::kDevice).band.bytes().size(),
                     TrackOf(TrackKind::kThread).band.bytes().size());
  };
  const auto [device, thread] = bytes(1'000'000);
  const auto [many_device, many_thread] = bytes(2'000);
  EXPECT_EQ(many_device, device);
  EXPECT_LT(many_thread, thread / 3);
  EXPECT_GT(many_thread, 0u);
}

TEST_F(PageJsonTest, TheLongestGapsOfADeviceHaveTheirCauses) {
  Scope(kOuter, 1'000, 2'000);
  Kernel(1'100, 1'300);
  Kernel(1'350, 1'990);
  Build();
  EXPECT_EQ(Parsed()["timeline"]["idle"], Json::parse(R"([{"process": 0, "ordinal": 0, "gaps":
    [[0, 100, "launch"], [300, 350, "launch"], [990, 1000, "launch"]]}])"));
}

TEST_F(PageJsonTest, OfTooManyGapsTheLongestAreKept) {
  Scope(kOuter, 1'000, 2'000);
  for (int64_t at = 1'000; at < 2'000; at += 40) Kernel(at, at + 20 + (at - 1'000) / 100);
  PageLimits limits;
  limits.idle_marks = 8;
  Build(limits);
  ASSERT_EQ(timeline_.idle.size(), 1u);
  ASSERT_EQ(timeline_.idle[0].gaps.size(), 8u);
  EXPECT_EQ(timeline_.idle[0].gaps.front().time, (Interval{20, 40}));
}

TEST_F(PageJsonTest, ACallAndTheWorkThatItLaunchedHaveOneLink) {
  process().threads[0].calls.push_back({1'200, 1'210, 77, kCall, 0});
  Kernel(1'220, 1'300);
  process().device_work.back().correlation = 77;
  Build();
  EXPECT_EQ(TrackOf(TrackKind::kCalls).events.at(0).link, 77u);
  EXPECT_EQ(TrackOf(TrackKind::kStream).events.at(0).link, 77u);
  ByteColumn link;
  link.Signed(77);
  const Json data = Parsed();
  for (const Json& track : data["timeline"]["tracks"]) {
    const bool has_links = track["kind"] == "calls" || track["kind"] == "stream";
    EXPECT_EQ(track["links"], has_links ? link.Base64() : "") << track["kind"];
  }
}

TEST_F(PageJsonTest, CountersAreThoseOfTheProgramAndWhatWasSampled) {
  ProcessTrace& process = this->process();
  process.labels.push_back({LabelKind::kCounter, Layer::kUnset, "", "mean_return"});
  const LabelId counter{4};
  process.threads[0].events = {
      {1'100, std::bit_cast<uint64_t>(1.5), counter, SlotKind::kCounter},
      {1'200, std::bit_cast<uint64_t>(std::nan("")), counter, SlotKind::kCounter},
      {1'300, std::bit_cast<uint64_t>(-2.0), counter, SlotKind::kCounter}};
  process.process_tree = {{1'400, 1, 0, 4096, 0}, {2'500, 1, 0, 8192, 0}};
  process.devices[1].uuid = "GPU-1";
  UtilizationSample sample;
  sample.time_ns = 1'500;
  sample.gpu_percent = 97;
  sample.memory_used_bytes = 1 << 20;
  sample.power_mw = 250'500;
  sample.sm_mhz = 1'980;
  process.utilization = {{"GPU-1", sample}, {"GPU-of-others", sample}};
  Build();
  EXPECT_EQ(Parsed()["timeline"]["counters"], Json::parse(R"([
    {"process": 0, "title": "mean_return", "unit": "", "points": [[100, 1.5], [300, -2.0]]},
    {"process": 0, "title": "resident memory", "unit": "bytes", "points": [[400, 4096.0]]},
    {"process": 0, "title": "GPU 0 nvidia-smi", "unit": "%", "points": [[500, 97.0]]},
    {"process": 0, "title": "GPU 0 memory", "unit": "bytes", "points": [[500, 1048576.0]]},
    {"process": 0, "title": "GPU 0 power", "unit": "W", "points": [[500, 250.5]]},
    {"process": 0, "title": "GPU 0 SM clock", "unit": "MHz", "points": [[500, 1980.0]]}])"));
}

TEST_F(PageJsonTest, WithoutADeviceNoCauseOfIdleTimeIsNamed) {
  std::vector<ThreadEvent>& events = process().threads[0].events;
  for (const uint64_t iteration : {1, 2}) {
    const auto end_ns = static_cast<int64_t>(1'000 + 400 * iteration);
    Scope(kOuter, end_ns - 300, end_ns - 100);
    events.push_back({end_ns, iteration, LabelId{0}, SlotKind::kStep});
  }
  Build();
  EXPECT_EQ(Parsed()["report"]["run"]["headline"], "iterations");
  EXPECT_EQ(Parsed()["processes"][0]["causes"], Json::object());
  EXPECT_EQ(Parsed()["timeline"]["idle"], Json::array());
}

TEST_F(PageJsonTest, AWaitForAnotherProcessIsNamedAsOne) {
  process().labels[2] = {LabelKind::kLayer, Layer::kWait, "", "101 102"};
  process().labels[1] = {LabelKind::kLayer, Layer::kWait, "", "time.sleep"};
  Scope(kOuter, 1'100, 1'900);
  Scope(kInner, 1'200, 1'300);
  Build();
  const std::vector<KeptEvent>& events = TrackOf(TrackKind::kThread).events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(NameOfEvent(events[0]), "time.sleep");
  EXPECT_EQ(NameOfEvent(events[1]), "wait for 101 102");
}

TEST_F(PageJsonTest, OfVeryManyProcessesSomeHaveTheTimesOfTheirOperationsAlone) {
  Scope(kOuter, 1'000, 1'400);
  const ProcessTrace one = process();
  constexpr int64_t kProcesses = 70;
  for (int64_t i = 1; i < kProcesses; ++i) {
    run_.processes.push_back(one);
    run_.processes.back().identity.pid += i;
  }
  Build();
  const Json data = Parsed();
  size_t detailed = 0;
  for (size_t p = 0; p < kProcesses; ++p) {
    const bool all = data["processes"][p]["detailed"];
    detailed += all ? 1 : 0;
    const Json& process = data["report"]["processes"][p];
    EXPECT_EQ(process.contains("cells"), all);
    const Json& rows = process["operations"];
    EXPECT_EQ(rows[0]["wall_ns"].get<int64_t>() + rows[1]["wall_ns"].get<int64_t>(), 1'000);
  }
  EXPECT_EQ(detailed, 64u);
  const Json& last = data["report"]["processes"][kProcesses - 1]["operations"];
  EXPECT_EQ(last[1], Json::parse(R"({"operation": "outer", "wall_ns": 400, "cpu_only_ns": 400,
                                     "count": 1})"));
}

TEST(ThinProcessesTest, ProcessesThatOthersWaitedForKeepAllFigures) {
  Report report;
  for (const int64_t pid : {1, 2, 3, 4}) report.processes.emplace_back().pid = pid;
  ReportRank& rank = report.ranks.emplace_back();
  rank.pid = 4;
  rank.waited_for_ns = 7;
  EXPECT_THAT(DetailedProcesses(report, 2), ElementsAre(true, false, false, true));
}

TEST(ThinProcessesTest, OperationsOnDevicesWithLessTimeAreSummedUp) {
  OrderedJson rows = OrderedJson::parse(R"([
    {"operation": "a", "device": "x", "wall_ns": 1, "busy_ns": 1, "idle_ns": 0, "unknown_ns": 0,
     "busy_is_upper_bound": true},
    {"operation": "b", "device": "x", "wall_ns": 9, "busy_ns": 2, "idle_ns": 7, "unknown_ns": 0,
     "busy_is_upper_bound": false},
    {"operation": "c", "device": "x", "wall_ns": 5, "busy_ns": 3, "idle_ns": 2, "unknown_ns": 0,
     "busy_is_upper_bound": false}])");
  ThinOperationDevices(2, &rows);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0]["operation"], "b");
  EXPECT_EQ(rows[1]["operation"], "(2 others)");
  EXPECT_EQ(rows[1]["wall_ns"], 6);
  EXPECT_EQ(rows[1]["busy_ns"], 4);
  EXPECT_EQ(rows[1]["busy_is_upper_bound"], true);
}

// The kernels that the page lists are a few of each operation: colours go by these.
TEST_F(PageJsonTest, CollectivesAndCopiesAreKnownByName) {
  process().works.resize(4);
  process().works[2] = process().works[1];
  process().works[2].name = "ncclDevKernel_AllReduce";
  process().works[3].info.kind = WorkKind::kMemcpy;
  process().works[3].name = "HtoD";
  for (const uint32_t work : {1u, 2u, 3u}) {
    Kernel(1'200 + 100 * work, 1'250 + 100 * work);
    process().device_work.back().work = WorkId{work};
  }
  Build();
  const Json timeline = Parsed()["timeline"];
  const auto named = [&](const char* of) {
    std::vector<std::string> names;
    for (const size_t name : timeline[of]) names.push_back(timeline["names"][name]);
    return names;
  };
  EXPECT_THAT(named("comm_names"), ElementsAre("ncclDevKernel_AllReduce"));
  EXPECT_THAT(named("copy_names"), ElementsAre("HtoD"));
}

TEST_F(PageJsonTest, WaitsThatThereWereAreKnownByName) {
  Label label;
  label.kind = LabelKind::kLayer;
  label.layer = Layer::kWait;
  const auto first = static_cast<uint32_t>(process().labels.size());
  for (const char* name : {"sem_wait", "pthread_join"}) {
    label.text = name;
    process().labels.push_back(label);
  }
  Scope(LabelId{first}, 1'100, 1'200);
  Build();
  const Json timeline = Parsed()["timeline"];
  ASSERT_EQ(timeline["wait_names"].size(), 1u);
  EXPECT_EQ(timeline["names"][size_t{timeline["wait_names"][0]}], "sem_wait");
}

TEST_F(PageJsonTest, ARunIsCalledAfterItsFolder) {
  Build();
  EXPECT_EQ(Parsed()["run"]["name"], "some.gpubound");
}

TEST_F(PageJsonTest, AnEmptyRunHasAPage) {
  run_.processes.clear();
  Build();
  EXPECT_EQ(Parsed()["timeline"]["span_ns"], 0);
  EXPECT_EQ(Parsed()["summary"]["main_process"], nullptr);
  EXPECT_EQ(Parsed()["summary"]["told_process"], nullptr);
}

TEST_F(PageJsonTest, MetadataIsPlainText) {
  process().notes = {{0, "metadata algorithm = \"PPO\""},
                     {0, "metadata seed = 7"},
                     {0, "metadata a = b = [1, 2]"},
                     {0, "something else"},
                     {0, "metadata algorithm = \"DQN\""}};
  const std::map<std::string, std::string> expected = {
      {"algorithm", "DQN"}, {"seed", "7"}, {"a", "b = [1, 2]"}};
  EXPECT_EQ(MetadataOf(run_), expected);
}

}  // namespace
}  // namespace gpubound
