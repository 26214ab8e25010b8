// SPDX-License-Identifier: Apache-2.0
//
// fixture_page FOLDER: writes what the tests of the page look at, out of one run made by hand:
// page.html, report.json, report.txt, figure.svg, and compare.html and compare.json
// out of two groups of such runs; many.html has many operations, killed.html a run that was killed,
// thinned.html the first run without most of its older events, imported.html a run of another tool
// whose text is imported.txt, unlaunched.html and unlaunched.json one with work of which no launch
// was seen, blank.html one of names without anything to see, blank.txt its text.
// figures.json has figures as the text report writes them. odd_pages.h says what else.
// Two processes that share a device, forty iterations, a device that is simulated and for a while
// unknown, and names that would harm a page which took them for markup.
#include <algorithm>
#include <bit>
#include <cstdio>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/base/text_table.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/page/plot.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report_json.h"
#include "analysis/segments/run_sums.h"
#include "analysis/trace/run_metadata.h"
#include "tests/golden/scenario.h"
#include "tests/page/hostile_names.h"
#include "tests/page/odd_pages.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"

namespace gpubound {
namespace {

constexpr int kIterations = 40;
constexpr int64_t kIterationNs = 100'000;

std::string At(int64_t ns, const std::string& what) {
  return "@" + std::to_string(ns) + " main " + what + "\n";
}

std::string Work(const std::string& kind, int64_t begin_ns, int64_t end_ns, int number) {
  const std::string time = std::to_string(begin_ns) + " " + std::to_string(end_ns);
  return kind + " " + time + (kind == "kernel" ? " evil" : " Memcpy HtoD") + " #" +
         std::to_string(number) + "\n";
}

// |longer_ns|: so much more its update takes, on the GPU as on the CPU.
std::string Iteration(int number, int64_t at, int64_t longer_ns) {
  // Every seventh one simulates longer, so that there are slow ones and gaps.
  const int64_t slow = number % 7 == 0 ? 10'000 : 0;
  std::string text;
  text += At(at + 1'000, "begin operation simulation") + At(at + 2'000, "begin wait 101");
  text +=
      At(at + 30'000 + slow, "end wait 101") + At(at + 31'000 + slow, "end operation simulation");
  if (number == 2) {
    text +=
        At(at + 32'000, "begin operation reversing") + At(at + 34'000, "end operation reversing");
    text += At(at + 35'000, "begin operation long") + At(at + 37'000, "end operation long");
  }
  text += At(at + 42'000, "begin operation evil");
  text += "call main " + std::to_string(at + 43'000) + " " + std::to_string(at + 45'000) +
          " cudaLaunchKernel #" + std::to_string(2 * number) + "\n";
  text += Work("kernel", at + 46'000, at + 70'000 + 10 * number + longer_ns, 2 * number);
  text += "call main " + std::to_string(at + 50'000) + " " + std::to_string(at + 72'000) +
          " cudaStreamSynchronize #" + std::to_string(2 * number + 1) + "\n";
  text += Work("copy", at + 75'000, at + 78'000, 2 * number + 1);
  text += At(at + 90'000 + longer_ns, "end operation evil");
  text += "look main " + std::to_string(at) + " " + std::to_string(at + kIterationNs) +
          " on=50000 ready=20000\n";
  const int64_t early_ns = 1'000 + number % 5 * 400;
  return text + At(at + kIterationNs - early_ns, "step " + std::to_string(number));
}

// The number of each iteration, at its end.
void AddCounter(LabelId counter, std::vector<ThreadEvent>* events) {
  for (int i = 1; i <= kIterations; ++i) {
    events->push_back(
        {i * kIterationNs - 1, std::bit_cast<uint64_t>(double(i)), counter, SlotKind::kCounter});
  }
  std::stable_sort(events->begin(), events->end(),
                   [](const auto& a, const auto& b) { return a.time_ns < b.time_ns; });
}

Run MakeRun(int64_t longer_ns = 0) {
  const int64_t span_ns = kIterations * kIterationNs;
  const std::string span = "span 0 " + std::to_string(span_ns) + "\n";
  std::string text = span + "thread main\nthread helper\n" + At(0, "phase training");
  text += "@20000 helper begin operation prefetch\n@90000 helper end operation prefetch\n";
  for (int i = 0; i < kIterations; ++i) text += Iteration(i + 1, i * kIterationNs, longer_ns);
  text += "unknown 3000000 3040000\nprocess 101 100\n" + span + "thread main\n";
  text += "kernel 2210000 2225000 peer #1\n";
  text += At(10'000, "begin layer simulator") + At(span_ns - 10'000, "end layer simulator");
  golden::Scenario scenario = golden::ParseScenario(text);
  for (const std::string& mistake : scenario.mistakes) {
    std::fprintf(stderr, "fixture_page: not understood: %s\n", mistake.c_str());
  }
  Run run = std::move(scenario.run);
  run.path = "/tmp/" + std::string(kHostileRun);
  ProcessTrace& process = run.processes.front();
  process.name = kHostileProcess;
  process.version = "0.0.0";
  for (Label& label : process.labels) {
    if (label.text == "evil") label.text = kHostileOperation;
    if (label.text == "reversing") label.text = kReversingOperation;
    if (label.text == "long") label.text = kLongOperation;
  }
  for (gpubound::Work& work : process.works) {
    if (work.name == "evil") work.name = kHostileKernel;
  }
  process.devices[1].info.simulated = true;
  process.devices[1].name = kHostileDevice;
  process.device_kind = "simulated";
  process.labels.push_back({LabelKind::kCounter, Layer::kUnset, "", "mean_return"});
  AddCounter(static_cast<LabelId>(process.labels.size() - 1), &process.threads[0].events);
  constexpr int64_t kResident = 3LL << 29;  // bytes
  process.process_tree = {{kIterationNs, 2, 0, kResident, 0}};
  process.Count(LedgerCounter::api_calls_suppressed) = 1'234'567;
  run.processes.back().queries_not_counted = "none was counted";
  process.notes.push_back(
      {0, std::string("metadata ") + kHostileKey + " = \"" + kHostileValue + "\""});
  process.notes.push_back(
      {0, std::string("metadata ") + kReversingOperation + " = \"" + kLongOperation + "\""});
  process.notes.push_back({0, "metadata algorithm = \"PPO\""});
  return run;
}

bool Write(const std::string& path, const std::string& content) {
  const Status written = WriteWholeFile(path, content, /*force=*/true);
  if (!written.ok()) std::fprintf(stderr, "%s\n", written.error().ToString().c_str());
  return written.ok();
}

// Three runs that differ by a little noise.
RunGroup MakeGroup(const char* name, int64_t longer_ns) {
  RunGroup group;
  group.name = name;
  for (const int64_t noise_ns : {0, 200, 400}) {
    group.runs.push_back(std::string(kHostileRun) + std::to_string(noise_ns));
    group.reports.push_back(*BuildReport(MakeRun(longer_ns + noise_ns)));
  }
  return group;
}

bool WriteComparison(const std::string& folder) {
  const std::vector<RunGroup> groups = {MakeGroup("before", 0),
                                        MakeGroup(kHostileOperation, 3'000)};
  const GroupComparison comparison = CompareGroups(groups, /*seed=*/1);
  const Result<std::string> page = ComparisonPageOf(comparison, groups);
  return page.ok() && Write(folder + "/compare.html", *page) &&
         Write(folder + "/compare.json", RenderComparisonJson(comparison, groups));
}

// The profiler costs what is easily told from what the program does.
ReportOptions WithCosts() {
  ReportOptions options;
  options.replays = true;
  options.what_if = true;
  options.costs.emplace();
  for (Cost& cost : options.costs->kinds) cost = {300, 200, 900, 4, 1000};
  return options;
}

// Stacks of an operation: train calls step, which calls a function of a library, and loss, which is
// as deep as its caller's other half.
ReportStacks StacksSeen() {
  ReportStacks stacks;
  stacks.operation = kHostileOperation;
  stacks.looks = 200;
  stacks.runnable_share = 0.75;
  stacks.frames = {{0, "main", "", "/src/train.py", 90, 200, 0},
                   {1, "train", "", "/src/train.py", 40, 200, 20},
                   {2, "step", "", "/src/agent.py", 12, 120, 30},
                   {3, "Linear.forward", "torch", "/lib/torch/nn/linear.py", 7, 90, 90},
                   {2, kHostileKernel, "", "/src/loss.py", 3, 60, 60}};
  return stacks;
}

// What scenarios do not record.
void AddWhatHardwareTells(Report* report) {
  ReportProcess& process = report->processes[0];
  process.counters = {{kHostileOperation, 2'000'000, 0.41, 0.17, std::nullopt}};
  process.progress = {30, 40, 3'000'000};
  process.stacks = {StacksSeen()};
  report->ranks = {{"host",
                    100,
                    "",
                    0,
                    40,
                    900'000,
                    500'000,
                    390'000,
                    10'000,
                    3,
                    20'000,
                    true,
                    false,
                    false,
                    {}},
                   {"host",
                    101,
                    "",
                    0,
                    40,
                    900'000,
                    100'000,
                    800'000,
                    0,
                    37,
                    480'000,
                    true,
                    true,
                    true,
                    {{kHostileOperation, "python", 300'000}, {"simulation", "wait", 100'000}}}};
}

// A program that names every one of its turns, and of which some scopes are missing.
bool WriteManyRows(const std::string& folder) {
  constexpr int kTurns = 100;
  std::string text = "span 0 1000000\nthread main\n";
  for (int i = 0; i < kTurns; ++i) {
    const std::string turn = "operation turn-" + std::to_string(i);
    text += At(10'000 * i, "begin " + turn) + At(10'000 * i + 5'000 + i, "end " + turn);
  }
  AnalyzedRun analyzed;
  analyzed.run = golden::ParseScenario(text).run;
  Result<Report> report = BuildReport(analyzed.run);
  if (!report.ok()) return false;
  analyzed.report = std::move(*report);
  for (ReportOperation& row : analyzed.report.processes[0].operations) row.scopes_missing = true;
  const Result<std::string> page = PageOf(analyzed);
  return page.ok() && Write(folder + "/many.html", *page);
}

// The page of |analyzed|->run, whose report is made.
bool WritePage(const std::string& path, AnalyzedRun* analyzed) {
  Result<Report> report = BuildReport(analyzed->run);
  if (!report.ok()) return false;
  analyzed->report = std::move(*report);
  const Result<std::string> page = PageOf(*analyzed);
  return page.ok() && Write(path, *page);
}

// A program that was killed in its second turn: nothing is known of its GPU.
bool WriteKilled(const std::string& folder) {
  AnalyzedRun analyzed;
  analyzed.run =
      golden::ParseScenario("span 0 100000\nthread main\n" + At(10'000, "begin operation train") +
                            At(50'000, "step 1") + "unknown 0 100000\n")
          .run;
  return WritePage(folder + "/killed.html", &analyzed);
}

// Work of which no launch was seen.
bool WriteUnlaunched(const std::string& folder) {
  AnalyzedRun analyzed;
  analyzed.run =
      golden::ParseScenario("span 0 100000\nthread main\n" + At(10'000, "begin operation train") +
                            At(50'000, "end operation train") + Work("kernel", 20'000, 30'000, 1))
          .run;
  return WritePage(folder + "/unlaunched.html", &analyzed) &&
         Write(folder + "/unlaunched.json", RenderJson(analyzed.report));
}

// Two processes of which nothing says that one started the other: the second is the longer one.
bool WriteImported(const std::string& folder) {
  AnalyzedRun analyzed;
  analyzed.run =
      golden::ParseScenario("span 0 40000\nthread main\n" + At(10'000, "begin operation act") +
                            "process 101 0\nspan 0 100000\nthread main\n" +
                            At(10'000, "begin operation learn"))
          .run;
  for (ProcessTrace& process : analyzed.run.processes) process.device_kind = "imported";
  analyzed.run.processes[0].name = "actor";
  analyzed.run.processes[1].name = "learner";
  Result<Report> report = BuildReport(analyzed.run);
  ReportOptions options;
  options.replays = true;
  if (!report.ok() || !AddReplays(analyzed.run, options, &*report).ok()) return false;
  analyzed.report = std::move(*report);
  const Result<std::string> page = PageOf(analyzed);
  return page.ok() && Write(folder + "/imported.html", *page) &&
         Write(folder + "/imported.txt", RenderText(analyzed.report, TextOptions{}));
}

// An operation and a phase without a name, and an operation of two blanks.
bool WriteBlank(const std::string& folder) {
  AnalyzedRun analyzed;
  analyzed.run =
      golden::ParseScenario("span 0 90000\nthread main\n" + At(0, "phase none") +
                            At(10'000, "begin operation none") + At(40'000, "end operation none") +
                            At(50'000, "begin operation blank"))
          .run;
  for (Label& label : analyzed.run.processes[0].labels) {
    if (label.text == "none") label.text = "";
    if (label.text == "blank") label.text = "  ";
  }
  TextOptions text;
  text.full = true;
  text.by = {"operation", "phase"};
  return WritePage(folder + "/blank.html", &analyzed) &&
         Write(folder + "/blank.txt", RenderText(analyzed.report, text));
}

// At the borders of units and of roundings, and in the middle between two figures.
bool WriteFigures(const std::string& folder) {
  nlohmann::json times = nlohmann::json::array();
  nlohmann::json counts = nlohmann::json::array();
  nlohmann::json shares = nlohmann::json::array();
  nlohmann::json bytes = nlohmann::json::array();
  const auto add = [&](int64_t value) {
    times.push_back({value, FormatTime(value)});
    if (value < 0) return;
    counts.push_back({value, FormatCount(static_cast<uint64_t>(value))});
    bytes.push_back({value, FormatBytes(value)});
  };
  for (const int64_t size :
       {1LL, 1'000LL, 1'000'000LL, 1'000'000'000LL, 3'600'000'000'000LL, 86'400'000'000'000LL}) {
    for (const int64_t thousandths :
         {-1'500, 0, 1'000, 1'125, 1'135, 1'875, 9'994, 9'995, 12'250, 12'750, 99'949, 99'950,
          100'500, 101'500, 999'499, 999'500, 999'700, 9'999'499, 9'999'500}) {
      add(size * thousandths / 1'000);
    }
  }
  for (int thousandths = -1; thousandths <= 1001; ++thousandths) {
    for (const double more : {0.0, 0.0003, 0.0005, 0.00097}) {
      const double share = thousandths / 1000.0 + more;
      shares.push_back({share, FormatShare(share)});
    }
  }
  return Write(
      folder + "/figures.json",
      nlohmann::json{{"times", times}, {"counts", counts}, {"shares", shares}, {"bytes", bytes}}
          .dump());
}

// Removes the events of a thread in a time.
void Thin(const Interval& time, ThreadTrace* thread) {
  StackReset reset;
  reset.lost = false;
  reset.thinned = true;
  std::vector<ThreadEvent> left;
  for (const ThreadEvent& event : thread->events) {
    if (event.time_ns >= time.end_ns) {
      left.push_back(event);
      continue;
    }
    if (event.kind == SlotKind::kBegin) reset.open.push_back(event.label);
    if (event.kind == SlotKind::kEnd) reset.open.pop_back();  // those of the run nest
    if (event.time_ns >= time.begin_ns) continue;
    left.push_back(event);
    reset.event_index = left.size();
  }
  thread->tail_thinned = reset.event_index == left.size();
  if (!thread->tail_thinned) thread->resets = {reset};
  thread->events = std::move(left);
}

// A compaction left the first iterations, which were slow, and the newest ones.
bool WriteThinned(const std::string& folder) {
  const Interval gone{1'020'000, 2'520'000};
  AnalyzedRun analyzed;
  analyzed.run = MakeRun();
  Result<Report> report = BuildReport(analyzed.run);
  if (!report.ok()) return false;
  analyzed.report = std::move(*report);
  for (ProcessTrace& process : analyzed.run.processes) {
    for (ThreadTrace& thread : process.threads) {
      Thin(gone, &thread);
      std::erase_if(thread.calls, [&gone](const ApiCall& call) {
        return call.start_ns >= gone.begin_ns && call.start_ns < gone.end_ns;
      });
    }
    std::erase_if(process.device_work, [&gone](const DeviceWork& work) {
      return work.start_ns >= gone.begin_ns && work.start_ns < gone.end_ns;
    });
  }
  auto sums = std::make_shared<RunSums>();
  sums->until_ns = gone.end_ns;
  sums->kept = {{0, gone.begin_ns}};
  analyzed.run.sums = std::move(sums);
  const Result<std::string> page = PageOf(analyzed);
  return page.ok() && Write(folder + "/thinned.html", *page);
}

int WriteAll(const std::string& folder) {
  AnalyzedRun analyzed;
  analyzed.run = MakeRun();
  Result<Report> report = BuildReport(analyzed.run, WithCosts());
  if (!report.ok() || !AddReplays(analyzed.run, WithCosts(), &*report).ok()) return 1;
  analyzed.report = std::move(*report);
  AddWhatHardwareTells(&analyzed.report);
  TextOptions text;
  text.width = 100'000;  // a line for each sentence
  text.full = true;
  const PlotRun plotted{"run", MetadataOf(analyzed.run), &analyzed.report};
  const std::vector<PlotGroup> groups = GroupForPlot({plotted}, {"algorithm"});
  const bool written = Write(folder + "/report.json", RenderJson(analyzed.report)) &&
                       Write(folder + "/report.txt", RenderText(analyzed.report, text)) &&
                       Write(folder + "/figure.svg", RenderPlot(groups));
  const Result<std::string> page = PageOf(analyzed);
  if (!page.ok()) {  // the figure has been written even so
    std::fprintf(stderr, "%s\n", page.error().ToString().c_str());
    return written ? 0 : 1;
  }
  return Write(folder + "/page.html", *page) && WriteComparison(folder) && WriteManyRows(folder) &&
                 WriteKilled(folder) && WriteUnlaunched(folder) && WriteThinned(folder) &&
                 WriteImported(folder) && WriteBlank(folder) && WriteFigures(folder) &&
                 WriteOddPages(folder) && written
             ? 0
             : 1;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) { return argc == 2 ? gpubound::WriteAll(argv[1]) : 2; }
