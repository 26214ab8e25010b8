// SPDX-License-Identifier: Apache-2.0
//
// Field by field. No state.
#include "analysis/report/training_json.h"

#include <string>

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

Json RoleJson(const ReportRole& role) {
  return Json{{"role", role.role},
              {"active_ns", role.active_ns},
              {"held_ns", role.held_ns},
              {"busy_ns", role.busy_ns},
              {"idle_ns", role.idle_ns},
              {"unknown_ns", role.unknown_ns},
              {"bubble_ratio", OrNull(role.BubbleRatio())},
              {"bubbles", ArrayOf(role.bubbles,
                                  [](const ReportBubble& row) {
                                    return Json{{"cause", row.cause}, {"ns", row.ns}};
                                  })},
              {"processes", ArrayOf(role.processes, [](const ReportRoleProcess& row) {
                 return Json{{"host", row.host},
                             {"pid", row.pid},
                             {"inferred", row.inferred},
                             {"ns", row.ns},
                             {"active_ns", row.active_ns}};
               })}};
}

Json TailJson(const ReportTail& tail) {
  return Json{
      {"rollouts", tail.rollouts}, {"parts", tail.parts},     {"median_ns", tail.median_ns},
      {"p95_ns", tail.p95_ns},     {"max_ns", tail.max_ns},   {"rollout_ns", tail.rollout_ns},
      {"tail_ns", tail.tail_ns},   {"held_ns", tail.held_ns}, {"busy_ns", tail.busy_ns}};
}

Json RolesJson(const ReportRoles& roles) {
  const std::string bound = roles.Bound();
  return Json{{"ns", roles.ns},
              {"roles", ArrayOf(roles.roles, RoleJson)},
              {"overlap", ArrayOf(roles.overlap,
                                  [](const ReportRoleOverlap& row) {
                                    return Json{{"roles", row.roles}, {"ns", row.ns}};
                                  })},
              {"perfect_overlap_ns", roles.perfect_overlap_ns},
              {"perfect_overlap_saves", roles.PerfectOverlapSaves()},
              {"tail", roles.tail ? TailJson(*roles.tail) : Json()},
              {"why_no_tail", roles.why_no_tail},
              {"bound", bound.empty() ? Json() : Json(bound)},
              {"savings", ArrayOf(roles.savings, [](const ReportRoleSaving& row) {
                 return Json{{"role", row.role},
                             {"saves", row.saves},
                             {"saves_low", row.saves_low},
                             {"saves_high", row.saves_high}};
               })}};
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
              {"samples", training->samples ? SamplesJson(*training->samples) : Json()},
              {"roles", training->roles ? RolesJson(*training->roles) : Json()}};
}

OrderedJson TrainingJson(const ProcessTraining* training) {
  if (training == nullptr) return nullptr;
  return Json{{"flops", training->flops ? FlopsJson(*training->flops) : Json()},
              {"weight_sync", training->weight_sync ? SyncJson(*training->weight_sync) : Json()}};
}

}  // namespace gpubound
