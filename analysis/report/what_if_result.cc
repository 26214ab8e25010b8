// SPDX-License-Identifier: Apache-2.0
//
// The prediction as JSON. No state.
#include "analysis/report/what_if_result.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/report/json_rows.h"
#include "analysis/report/report_json.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

}  // namespace

double ThroughputRatio(const WhatIfReport& report) {
  const double part = std::max(report.iteration_ratio.part, report.ratio.part);
  return part > 0 ? report.environments / part : 0;
}

uint32_t EnoughCopies(const WhatIfReport& report, bool beside) {
  constexpr double kGains = 1.01;
  const auto done = [beside](const CopiesPoint& point) {
    const int64_t ns = beside ? point.beside_ns : point.sliced_ns;
    return ns > 0 ? point.copies / static_cast<double>(ns) : 0;
  };
  const std::vector<CopiesPoint>& points = report.copies;
  for (size_t i = 0; i + 1 < points.size(); ++i) {
    if (done(points[i + 1]) < kGains * done(points[i])) return points[i].copies;
  }
  return points.empty() ? 1 : points.back().copies;
}

std::string RenderWhatIfJson(const WhatIfReport& report) {
  Json curves = Json::array();
  for (const SpeedCurve& curve : report.curves) {
    Json points = Json::array();
    for (const SpeedPoint& point : curve.points) {
      points.push_back({{"factor", point.factor}, {"wall_ns", point.wall_ns}});
    }
    curves.push_back({{"part", curve.part}, {"name", curve.name}, {"points", std::move(points)}});
  }
  Json halves = Json::array();
  for (const OperationHalf& half : report.halves) {
    halves.push_back({{"part", half.part},
                      {"name", half.name},
                      {"factor", half.factor},
                      {"predicted_wall_ns", half.span_ns}});
  }
  Json iteration;
  if (const SpanRatio& ratio = report.iteration_ratio; ratio.part > 0) {
    iteration = {{"predicted_part", ratio.part},
                 {"predicted_part_low", ratio.low},
                 {"predicted_part_high", ratio.high}};
  }
  Json gpu;
  if (!report.gpu_to.empty()) gpu = {{"from", report.gpu_from}, {"to", report.gpu_to}};
  Json vectorised;
  if (report.environments != 1) {
    vectorised = {{"environments", report.environments},
                  {"throughput_at_most", ThroughputRatio(report)}};
  }
  Json moved;
  if (const MovedGpus& gpus = report.moved; gpus.gpus > 0) {
    moved = {{"from", gpus.from},
             {"to", gpus.to},
             {"gpus", gpus.gpus},
             {"from_had", gpus.from_had},
             {"to_had", gpus.to_had}};
  }
  Json copies;
  if (!report.copies.empty()) {
    Json points = Json::array();
    for (const CopiesPoint& point : report.copies) {
      points.push_back({{"copies", point.copies},
                        {"time_sliced_wall_ns", point.sliced_ns},
                        {"mps_wall_ns", point.beside_ns}});
    }
    copies = {{"points", std::move(points)},
              {"enough_time_sliced", EnoughCopies(report, false)},
              {"enough_mps", EnoughCopies(report, true)},
              {"sm_fill", OrNull(report.sm_fill)},
              {"fit_in_memory", OrNull(report.fit_in_memory)},
              {"cores_each", report.cores > 0 ? Json(report.cores) : Json()}};
  }
  const Json document{{"format", "gpubound.whatif.v1"},
                      {"wall_ns", report.span_ns},
                      {"predicted_wall_ns", report.predicted_span_ns},
                      {"predicted_part", report.ratio.part},
                      {"predicted_part_low", report.ratio.low},
                      {"predicted_part_high", report.ratio.high},
                      {"iteration", std::move(iteration)},
                      {"before", Json::parse(RenderJson(report.before))},
                      {"after", Json::parse(RenderJson(report.after))},
                      {"corrected", report.not_corrected.empty()},
                      {"corrected_why_not", report.not_corrected},
                      {"curves", std::move(curves)},
                      {"operation_halves", std::move(halves)},
                      {"gpu", std::move(gpu)},
                      {"vectorised", std::move(vectorised)},
                      {"moved_gpus", std::move(moved)},
                      {"copies", std::move(copies)},
                      {"graphs", report.captures},
                      {"graphs_not_capturable", report.captures_broken}};
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
