// SPDX-License-Identifier: Apache-2.0
//
// Writes the report and its timeline for the page. Fields are added to this format, never renamed.
// No state.
#include "analysis/page_json.h"

#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/demangle.h"
#include "analysis/report_json.h"
#include "analysis/run_metadata.h"
#include "analysis/span_end.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kKernels = 40;
constexpr size_t kLongestName = 200;  // bytes; of kernels, which may be templates of templates

// |name| cut where a UTF-8 character begins.
std::string Cut(const std::string& name) {
  if (name.size() <= kLongestName) return name;
  size_t end = kLongestName;
  while (end > 0 && (static_cast<unsigned char>(name[end]) & 0xc0) == 0x80) --end;
  return name.substr(0, end) + "\u2026";
}

Json IntervalJson(const Interval& interval) {
  return Json::array({interval.begin_ns, interval.end_ns});
}

Json PointJson(const IterationPoint& point) {
  return Json::array({point.first, point.count, point.time.begin_ns, point.time.end_ns,
                      point.shortest_ns, point.longest_ns, point.busy_ns});
}

template <typename Row, typename Render>
Json ArrayOf(const std::vector<Row>& rows, Render render) {
  Json array = Json::array();
  for (const Row& row : rows) array.push_back(render(row));
  return array;
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
              {"events", EventColumn(track.events)}};
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
              {"names", ArrayOf(timeline.names, Cut)},
              {"tracks", ArrayOf(timeline.tracks, TrackJson)}};
}

Json ProcessJson(const ProcessTrace& process, const ReportProcess& report,
                 const PageTimeline& timeline, size_t index) {
  Json kernels = Json::array();
  for (size_t i = 0; i < std::min(kKernels, report.kernels.size()); ++i) {
    const ReportKernel& kernel = report.kernels[i];
    kernels.push_back(Json{{"name", Cut(Demangled(kernel.name))},
                           {"class", kernel.work_class},
                           {"count", kernel.count},
                           {"sum_ns", kernel.sum_ns}});
  }
  return Json{{"offset_ns", timeline.offset_ns[index]},
              {"end", SpanEndText(report.span_end)},
              {"version", process.version},
              {"command", process.command},
              {"kernels_total", report.kernels.size()},
              {"kernels", std::move(kernels)},
              {"iterations", ArrayOf(timeline.iterations[index], PointJson)},
              {"unknown", ArrayOf(timeline.unknown[index], IntervalJson)}};
}

Json RunJson(const Run& run) {
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
  Json metadata = Json::object();
  for (const auto& [key, value] : MetadataOf(run)) metadata[key] = value;
  json["metadata"] = std::move(metadata);
  return json;
}

// As it is harmless within HTML. None of these characters has a meaning in JSON, so wherever they
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

}  // namespace

std::string RenderPageJson(const Run& run, const Report& report, const PageTimeline& timeline) {
  Json processes = Json::array();
  for (size_t p = 0; p < run.processes.size(); ++p) {
    processes.push_back(ProcessJson(run.processes[p], report.processes[p], timeline, p));
  }
  const Json document{{"format", "gpubound.page.v1"},
                      {"run", RunJson(run)},
                      {"report", Json::parse(RenderJson(report))},
                      {"notes", report.notes},
                      {"processes", std::move(processes)},
                      {"timeline", TimelineJson(timeline)}};
  return EscapedForHtml(document.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace gpubound
