// SPDX-License-Identifier: Apache-2.0
//
// Writes the report and its timeline for the page. Fields are added to this format, never renamed.
// No state.
#include "analysis/output/page/page_json.h"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/demangle.h"
#include "analysis/diagnosis/cause_rules.h"
#include "analysis/diagnosis/headline_facts.h"
#include "analysis/output/page/thin_processes.h"
#include "analysis/output/text/headline.h"
#include "analysis/output/text/report_sections.h"
#include "analysis/output/text/report_waits.h"
#include "analysis/output/text/training_text.h"
#include "analysis/report/json_rows.h"
#include "analysis/report/main_process.h"
#include "analysis/report/report_json.h"
#include "analysis/trace/run_metadata.h"
#include "analysis/trace/span_end.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

constexpr size_t kDetailedProcesses = 64;
constexpr size_t kOperationDevices = 400;
constexpr size_t kOperationKernels = 12;  // of each operation
constexpr size_t kGraphNodes = 12;        // of each graph
constexpr size_t kLongestName = 600;      // bytes; of kernels, which may be templates of templates
constexpr int kOneLine = 1'000'000;       // columns: a browser breaks lines by itself

// |name| without its middle, since such names mostly differ at their ends; cut where UTF-8 characters
// begin.
std::string Cut(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  const auto before = [&name](size_t at) {
    while (at > 0 && (static_cast<unsigned char>(name[at]) & 0xc0) == 0x80) --at;
    return at;
  };
  return name.substr(0, before(kLongestName / 2)) + "\u2026" +
         name.substr(before(name.size() - kLongestName / 2));
}

Json IntervalJson(const Interval& interval) {
  return Json::array({interval.begin_ns, interval.end_ns});
}

Json PointJson(const IterationPoint& point) {
  return Json::array({point.first, point.count, point.time.begin_ns, point.time.end_ns,
                      point.shortest_ns, point.longest_ns, point.busy_ns, point.last,
                      point.operation_ns});
}

// Begin less that of the event before, length, name, depth.
std::string EventColumn(const std::vector<KeptEvent>& events) {
  ByteColumn column;
  int64_t last_ns = 0;
  for (const KeptEvent& event : events) {
    column.Signed(event.begin_ns - last_ns);
    column.Varint(static_cast<uint64_t>(std::max<int64_t>(event.end_ns - event.begin_ns, 0)));
    column.Varint(event.name);
    column.Varint(event.depth);
    last_ns = event.begin_ns;
  }
  return column.Base64();
}

// Of calls and of work on streams: each less that of the event before.
std::string LinkColumn(const TimelineTrack& track) {
  ByteColumn column;
  if (track.kind != TrackKind::kCalls && track.kind != TrackKind::kStream) return column.Base64();
  int64_t last = 0;
  for (const KeptEvent& event : track.events) {
    column.Signed(event.link - last);
    last = event.link;
  }
  return column.Base64();
}

Json CounterJson(const CounterSeries& series) {
  return Json{{"process", series.process},
              {"title", Cut(series.title)},
              {"unit", series.unit},
              {"points", ArrayOf(series.points, [](const CounterPoint& point) {
                 return Json::array({point.time_ns, point.value});
               })}};
}

Json IdleJson(const IdleTrack& track) {
  return Json{{"process", track.process},
              {"ordinal", track.ordinal},
              {"gaps", ArrayOf(track.gaps, [](const IdleTrack::Gap& gap) {
                 return Json::array({gap.time.begin_ns, gap.time.end_ns, IdleCauseName(gap.cause)});
               })}};
}

// Events that are longer than they seem: which, and at what end.
Json CutsJson(const std::vector<KeptEvent>& events) {
  Json cuts = Json::array();
  for (size_t i = 0; i < events.size(); ++i) {
    const int ends = (events[i].begin_cut ? 1 : 0) + (events[i].end_cut ? 2 : 0);
    if (ends != 0) cuts.push_back(Json::array({i, ends}));
  }
  return cuts;
}

Json TrackJson(const TimelineTrack& track) {
  return Json{{"process", track.process},
              {"kind", TrackKindName(track.kind)},
              {"title", track.title},
              {"ordinal", track.ordinal},
              {"tid", track.tid},
              {"reporting", track.reporting},
              {"seen", track.seen},
              {"kept", track.events.size()},
              {"band", track.band.Base64()},
              {"events", EventColumn(track.events)},
              {"links", LinkColumn(track)},
              {"cut", CutsJson(track.events)},
              {"thinned", ArrayOf(track.thinned, IntervalJson)}};
}

// The coarse level of a device's only stream is the device's, and is not written again.
Json TracksJson(const std::vector<TimelineTrack>& tracks) {
  Json json = Json::array();
  const TimelineTrack* device = nullptr;
  for (const TimelineTrack& track : tracks) {
    Json& row = json.emplace_back(TrackJson(track));
    if (track.kind == TrackKind::kDevice) device = &track;
    if (track.kind != TrackKind::kStream || device == nullptr) continue;
    const bool is_same = device->process == track.process && device->ordinal == track.ordinal &&
                         device->band.bytes() == track.band.bytes();
    if (is_same) row["band"] = "";
  }
  return json;
}

Json TimelineJson(const PageTimeline& timeline) {
  Json windows = Json::array();
  for (const DetailWindow& window : timeline.windows) {
    windows.push_back(Json::array({window.time.begin_ns, window.time.end_ns, window.why}));
  }
  return Json{{"span_ns", timeline.span_ns},
              {"bucket_ns", timeline.grid.bucket_ns},
              {"buckets", timeline.grid.buckets},
              {"whole", timeline.whole},
              {"windows", std::move(windows)},
              {"thinned", ArrayOf(timeline.thinned, IntervalJson)},
              {"names", ArrayOf(timeline.names, Cut)},
              {"comm_names", timeline.comm_names},
              {"copy_names", timeline.copy_names},
              {"wait_names", timeline.wait_names},
              {"tracks", TracksJson(timeline.tracks)},
              {"counters", ArrayOf(timeline.counters, CounterJson)},
              {"idle", ArrayOf(timeline.idle, IdleJson)}};
}

Json NodesJson(const std::vector<ReportGraphNode>& nodes) {
  Json json = Json::array();
  for (size_t i = 0; i < std::min(kGraphNodes, nodes.size()); ++i) {
    json.push_back(Json{{"name", Cut(Demangled(nodes[i].name))},
                        {"class", nodes[i].work_class.empty() ? Json() : Json(nodes[i].work_class)},
                        {"count", nodes[i].count},
                        {"captured_in", Cut(nodes[i].captured_in)}});
  }
  return json;
}

Json KernelJson(const ReportKernel& kernel) {
  Json json{{"name", Cut(Demangled(kernel.name))},
            {"class", kernel.work_class},
            {"count", kernel.count},
            {"sum_ns", kernel.sum_ns},
            {"mean_ns", kernel.mean_ns},
            {"median_ns", kernel.median_ns},
            {"p95_ns", kernel.p95_ns},
            {"sm_filled_ns", kernel.sm_filled_ns},
            {"sm_fill_is_upper_bound", kernel.sm_fill_is_upper_bound}};
  if (!kernel.nodes.empty()) json["nodes"] = NodesJson(kernel.nodes);
  return json;
}

// The operations in order, each with all of its work and the kernels that take longest.
Json OperationKernelsJson(const std::vector<ReportOperationKernel>& rows) {
  Json operations = Json::array();
  for (const ReportOperationKernel& row : rows) {
    if (operations.empty() || operations.back()["operation"] != row.operation) {
      operations.push_back(Json{{"operation", row.operation},
                                {"count", 0},
                                {"sum_ns", 0},
                                {"sm_filled_ns", 0},
                                {"sm_fill_is_upper_bound", false},
                                {"kernels_total", 0},
                                {"kernels", Json::array()}});
    }
    Json& operation = operations.back();
    const ReportKernel& kernel = row.kernel;
    operation["count"] = operation["count"].get<uint64_t>() + kernel.count;
    operation["sum_ns"] = operation["sum_ns"].get<int64_t>() + kernel.sum_ns;
    operation["sm_filled_ns"] = operation["sm_filled_ns"].get<int64_t>() + kernel.sm_filled_ns;
    if (kernel.sm_fill_is_upper_bound) operation["sm_fill_is_upper_bound"] = true;
    operation["kernels_total"] = operation["kernels_total"].get<size_t>() + 1;
    if (operation["kernels"].size() < kOperationKernels) {
      operation["kernels"].push_back(KernelJson(kernel));
    }
  }
  return operations;
}

// |lines|, which ends in a newline or is empty, without it.
std::string Sentence(std::string lines) {
  if (!lines.empty()) lines.pop_back();
  return lines;
}

Json IndexOf(const Report& report, const ReportProcess* process) {
  return process == nullptr ? Json() : Json(process - report.processes.data());
}

// What the text report says of the run, in its words.
Json SummaryJson(const Report& report) {
  TextOptions options;
  options.width = kOneLine;
  const std::optional<double> own = OwnShare(report);
  const ReportUnknown& unknown = report.run.unknown;
  const ReportProcess* told = ToldProcess(report);
  return Json{{"headline", HeadlineText(report)},
              {"scope", Sentence(HeadlineScope(report, options))},
              {"wall", Sentence(WallTimeLine(report, options))},
              {"main_process", IndexOf(report, MainProcess(report))},
              {"told_process", IndexOf(report, told)},
              {"smi_model", report.run.smi_model},
              {"own_share", own ? Json(*own) : Json()},
              {"unknown_share", unknown.share},
              {"unknown_is_upper_bound", unknown.is_upper_bound},
              {"headline_is_part", HeadlineIsPart(report)},
              {"sm_filled_ns", told == nullptr ? 0 : SmFilledNs(*told)}};
}

// What the text report says of the training, in its words; empty ones are left out.
Json TrainingWordsJson(const Report& report) {
  TextOptions options;
  options.width = kOneLine;
  options.full = true;
  const TrainingWords words = WordsOfTraining(report, options);
  const auto sentence = [](const std::string& text) { return Json(text + "."); };
  Json json{{"process", IndexOf(report, words.process)},
            {"targets", ArrayOf(words.targets, sentence)},
            {"work", ArrayOf(words.work, sentence)}};
  const std::pair<const char*, const std::string*> all[] = {
      {"bubbles", &words.bubbles},   {"overlap", &words.overlap},
      {"bound", &words.bound},       {"tail", &words.tail},
      {"inferred", &words.inferred}, {"staleness", &words.staleness},
      {"waste", &words.waste},       {"goodput", &words.goodput},
      {"flops", &words.flops},       {"weight_sync", &words.weight_sync}};
  for (const auto& [key, text] : all) {
    if (!text->empty()) json[key] = sentence(*text);
  }
  return json;
}

// In words, what the process's devices waited for and what to do about it.
Json CausesJson(const Report& report, const ReportProcess& process) {
  Json causes = Json::object();
  const bool python = BlamesPython(report, process);
  for (const ReportOperation& row : process.operations) {
    for (const CauseTime& time : row.device_idle) {
      if (causes.contains(time.cause)) continue;
      causes[time.cause] = Json{{"text", CauseText(time.cause, python)},
                                {"action", FactsOfCause(report, process, time.cause).action}};
    }
  }
  return causes;
}

// Frames as [caller, position in |names| of function, package and file (-1: none), line, looks, own
// looks], callers first.
Json StacksJson(const ReportStacks& stacks, std::map<std::string, size_t>* names) {
  const auto number = [names](const std::string& name) -> int64_t {
    if (name.empty()) return -1;
    return static_cast<int64_t>(names->try_emplace(Cut(name), names->size()).first->second);
  };
  const auto frame = [&number](const ReportFrame& row) {
    return Json::array({row.caller, number(row.function), number(row.package), number(row.file),
                        row.line, row.looks, row.own_looks});
  };
  return Json{{"operation", stacks.operation},
              {"start_up", stacks.start_up},
              {"looks", stacks.looks},
              {"runnable_share", stacks.runnable_share},
              {"frames", ArrayOf(stacks.frames, frame)}};
}

// Of a process, with the names that its frames refer to.
Json AllStacksJson(const std::vector<ReportStacks>& all) {
  std::map<std::string, size_t> names;
  Json rows = Json::array();
  for (const ReportStacks& stacks : all) rows.push_back(StacksJson(stacks, &names));
  std::vector<std::string> by_number(names.size());
  for (const auto& [name, number] : names) by_number[number] = name;
  return Json{{"names", by_number}, {"operations", std::move(rows)}};
}

Json ProcessJson(const ProcessTrace& process, const Report& whole, const PageTimeline& timeline,
                 size_t index) {
  const ReportProcess& report = whole.processes[index];
  TextOptions options;
  options.width = kOneLine;
  return Json{{"detailed", true},
              {"offset_ns", timeline.offset_ns[index]},
              {"end", SpanEndText(report.span_end)},
              {"version", process.version},
              {"command", process.command},
              {"correction", Sentence(CorrectionSentence(report, options, /*has_gpu=*/true))},
              {"waiting", Sentence(WaitSentence(report, options))},
              {"operation_kernels", OperationKernelsJson(report.operation_kernels)},
              {"iterations", ArrayOf(timeline.iterations[index], PointJson)},
              {"unknown", ArrayOf(timeline.unknown[index], IntervalJson)},
              {"causes", CausesJson(whole, report)},
              {"stacks", AllStacksJson(report.stacks)}};
}

Json RunJson(const Run& run, const ReportRun& reported) {
  Json json{{"name", NameOf(run)}, {"launched", false}};
  if (run.info) {
    const RunInfo& info = *run.info;
    json["launched"] = true;
    json["command"] = info.command;
    json["cwd"] = info.cwd;
    json["host"] = info.host;
    json["version"] = info.version;
    json["start_realtime_ns"] = info.start_realtime_ns;
    json["exit_code"] = info.exit_code ? Json(*info.exit_code) : Json();
    json["signal"] = info.signal ? Json(*info.signal) : Json();
  }
  json["steps"] = run.steps.empty() ? Json() : Json(run.steps);
  json["metadata"] = reported.metadata;
  return json;
}

}  // namespace

// None of these characters has a meaning in JSON, so wherever they
// stand, they stand in a string.
std::string EscapedForHtml(std::string_view json) {
  std::string text;
  text.reserve(json.size());
  for (const char c : json) {
    switch (c) {
      case '<':
        text += "\\u003c";
        break;
      case '>':
        text += "\\u003e";
        break;
      case '&':
        text += "\\u0026";
        break;
      default:
        text += c;
    }
  }
  return text;
}

std::string RenderPageJson(const Run& run, const Report& report, const PageTimeline& timeline) {
  const std::vector<bool> detailed = DetailedProcesses(report, kDetailedProcesses);
  // Names of kernels may be long and many: the page has those that matter beside the report.
  Json figures = Json::parse(RenderJson(report));
  const auto shown = [](const Json& name) { return Cut(Demangled(name.get<std::string>())); };
  for (const char* const rows : {"savings", "what_if"}) {
    for (Json& row : figures["run"][rows]) {
      if (row["part"] == "kernel") row["shown"] = shown(row["name"]);
    }
  }
  Json processes = Json::array();
  for (size_t p = 0; p < run.processes.size(); ++p) {
    Json& process = figures["processes"][p];
    process.erase("kernels");
    process.erase("ops");
    process.erase("stacks");
    for (Json& gap : process["gaps"]) {
      for (const char* const work : {"work_before", "work_after"}) gap[work] = shown(gap[work]);
    }
    if (detailed[p]) {
      processes.push_back(ProcessJson(run.processes[p], report, timeline, p));
      continue;
    }
    ThinProcess(&process);
    processes.push_back(Json{{"detailed", false},
                             {"offset_ns", timeline.offset_ns[p]},
                             {"end", SpanEndText(report.processes[p].span_end)}});
  }
  ThinOperationDevices(kOperationDevices, &figures["operation_devices"]);
  const Json document{{"format", "gpubound.page.v1"},      {"run", RunJson(run, report.run)},
                      {"summary", SummaryJson(report)},    {"training", TrainingWordsJson(report)},
                      {"report", std::move(figures)},      {"notes", report.notes},
                      {"processes", std::move(processes)}, {"timeline", TimelineJson(timeline)}};
  return EscapedForHtml(document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace gpubound
