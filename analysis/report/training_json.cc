// SPDX-License-Identifier: Apache-2.0
//
// Field by field. No state.
#include "analysis/report/training_json.h"

namespace gpubound {
namespace {

using Json = OrderedJson;

Json TargetJson(const ReportTarget& target) {
  Json json{{"target", target.target},     {"metric", target.metric},
            {"mean_of", target.mean_of},   {"records", target.records},
            {"best", OrNull(target.best)}, {"reached_ns", OrNull(target.reached_ns)},
            {"why_not", target.why_not}};
  const bool corrected = target.corrected.has_value();
  json["corrected_ns"] = corrected ? Json(target.corrected->ns) : Json();
  json["corrected_ns_low"] = corrected ? Json(target.corrected->low_ns) : Json();
  json["corrected_ns_high"] = corrected ? Json(target.corrected->high_ns) : Json();
  const bool reached = target.reached_ns.has_value();
  json["host"] = reached ? Json(target.host) : Json();
  json["pid"] = reached ? Json(target.pid) : Json();
  json["parts_ns"] = target.parts_ns;
  json["parts_pid"] = reached ? Json(target.parts_pid) : Json();
  json["parts"] = ArrayOf(target.parts, [](const TargetPart& part) {
    return Json{{"operation", part.operation},
                {"wall_ns", part.wall_ns},
                {"gpu_busy_ns", part.gpu_busy_ns}};
  });
  return json;
}

Json WorkJson(const ReportWork& work) {
  return Json{
      {"counter", work.counter},
      {"done", work.done},
      {"ns", work.ns},
      {"per_second", work.per_second},
      {"per_simulation_second", OrNull(work.per_simulation_second)},
      {"per_simulation_and_inference_second", OrNull(work.per_simulation_and_inference_second)},
      {"gpu_seconds_per_million", OrNull(work.gpu_seconds_per_million)},
      {"gpu_busy_seconds_per_million", OrNull(work.gpu_busy_seconds_per_million)}};
}

Json SamplesJson(const ReportSamples& samples) {
  return Json{
      {"consumed", samples.consumed},
      {"discarded", samples.discarded},
      {"reasons", ArrayOf(samples.reasons,
                          [](const DiscardedSamples& row) {
                            return Json{{"reason", row.reason}, {"samples", row.samples}};
                          })},
      {"unknown_version", samples.unknown_version},
      {"versions_behind", ArrayOf(samples.versions_behind,
                                  [](const VersionsBehind& row) {
                                    return Json{{"behind", row.behind}, {"samples", row.samples}};
                                  })},
      {"mean_behind", OrNull(samples.mean_behind)},
      {"discarded_share", OrNull(samples.discarded_share)},
      {"rollout_gpu_ns", samples.rollout_gpu_ns},
      {"goodput", OrNull(samples.goodput)},
      {"why_no_goodput", samples.why_no_goodput}};
}

Json FlopsJson(const ReportFlops& flops) {
  return Json{{"done", flops.done},
              {"ns", flops.ns},
              {"gpu_busy_ns", flops.gpu_busy_ns},
              {"peak_per_second", flops.peak_per_second > 0 ? Json(flops.peak_per_second) : Json()},
              {"mfu", OrNull(flops.mfu)},
              {"busy_mfu", OrNull(flops.busy_mfu)},
              {"is_impossible", flops.IsImpossible()},
              {"why_not", flops.why_not}};
}

Json SyncJson(const ReportWeightSync& sync) {
  return Json{{"count", sync.count},
              {"iterations", sync.iterations},
              {"ns", sync.ns},
              {"exposed_ns", sync.exposed_ns},
              {"hidden_ns", sync.hidden_ns},
              {"bytes", OrNull(sync.bytes)}};
}

}  // namespace

OrderedJson TrainingJson(const RunTraining* training) {
  if (training == nullptr) return nullptr;
  return Json{{"targets", ArrayOf(training->targets, TargetJson)},
              {"work", ArrayOf(training->work, WorkJson)},
              {"samples", training->samples ? SamplesJson(*training->samples) : Json()}};
}

OrderedJson TrainingJson(const ProcessTraining* training) {
  if (training == nullptr) return nullptr;
  return Json{{"flops", training->flops ? FlopsJson(*training->flops) : Json()},
              {"weight_sync", training->weight_sync ? SyncJson(*training->weight_sync) : Json()}};
}

}  // namespace gpubound
