// SPDX-License-Identifier: Apache-2.0
//
// Puts figures of the training into sentences. No state.
#include "analysis/output/text/training_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/paint.h"
#include "analysis/output/text/rates.h"
#include "analysis/report/main_process.h"

namespace gpubound {
namespace {

constexpr size_t kMostParts = 4;
constexpr size_t kMostVersions = 6;  // of a sentence
constexpr size_t kMostTargets = 3;   // of a screen

std::string NumberText(double value) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "%.4g", value);
  return text.data();
}

const ReportProcess* ShownProcess(const Report& report) {
  const ReportProcess* const stepping = SteppingProcess(report);
  return stepping != nullptr ? stepping : ToldProcess(report);
}

std::string Sentence(const std::string& text, const TextOptions& options) {
  return text.empty() ? "" : Wrap(text + ".", options.width, 2);
}

// --- How much of the device's peak the model uses ---

std::string FlopsText(const ReportFlops& flops) {
  if (flops.IsImpossible()) {
    const bool of_all = flops.mfu.value_or(0) > 1;
    return "MFU " + FormatShare(of_all ? *flops.mfu : *flops.busy_mfu) + " of the " +
           (of_all ? "time" : "GPU's busy time") +
           " cannot be: the FLOPs that the program says, or the peak, are wrong";
  }
  if (!flops.mfu) return "MFU is not known: " + EscapeName(flops.why_not);
  std::string text = "The model uses " + FormatShare(*flops.mfu) + " of the GPU's peak (MFU)";
  if (flops.busy_mfu) text += ", " + FormatShare(*flops.busy_mfu) + " while the GPU is busy";
  return text;
}

// --- Weight sync ---

std::string SyncText(const ReportWeightSync& sync, const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  const auto count = static_cast<double>(sync.count);
  std::string text = "Weight sync: " + FormatCount(sync.count);
  if (sync.iterations > 0) {
    text += " in " + Counted(sync.iterations, "iteration") + " (" +
            NumberText(count / static_cast<double>(sync.iterations)) + " in each)";
  }
  text += ", exposed " + time(sync.exposed_ns) + " (" +
          FormatShare(ShareOf(sync.exposed_ns, sync.ns)) + " of the time)";
  if (sync.hidden_ns > 0) text += ", hidden " + time(sync.hidden_ns);
  if (sync.bytes && sync.count > 0) {
    text += ", " + FormatCount(static_cast<uint64_t>(std::llround(*sync.bytes / count))) +
            " bytes each";
  }
  return text;
}

// --- Roles ---

constexpr size_t kMostBubbles = 2;  // of a role, on a screen

std::string BubbleText(const ReportRole& role, bool brief) {
  std::string text = role.role + (role.unknown_ns > 0 ? " at least " : " ") +
                     FormatShare(ShareOf(role.idle_ns, role.held_ns));
  std::string causes;
  const size_t most = brief ? std::min(kMostBubbles, role.bubbles.size()) : role.bubbles.size();
  for (size_t i = 0; i < most; ++i) {
    const ReportBubble& bubble = role.bubbles[i];
    causes +=
        (i == 0 ? "" : ", ") + bubble.cause + " " + FormatShare(ShareOf(bubble.ns, role.held_ns));
  }
  return text + (causes.empty() ? "" : " (" + causes + ")");
}

// How much of the GPU time that each role holds is idle.
std::string BubblesText(const ReportRoles& roles, bool brief) {
  std::string text;
  for (const ReportRole& role : roles.roles) {
    if (role.held_ns == 0) continue;
    text += (text.empty() ? "Idle GPU time by role: " : "; ") + BubbleText(role, brief);
  }
  return text;
}

std::string OverlapText(const ReportRoles& roles) {
  std::string text = "At work:";
  for (size_t i = 0; i < roles.overlap.size(); ++i) {
    const ReportRoleOverlap& row = roles.overlap[i];
    text += i == 0 ? " " : ", ";
    for (size_t r = 0; r < row.roles.size(); ++r) text += (r == 0 ? "" : " and ") + row.roles[r];
    text += std::string(row.roles.empty()       ? "nobody"
                        : row.roles.size() == 1 ? " alone"
                                                : "") +
            " " + FormatShare(ShareOf(row.ns, roles.ns));
  }
  return text + " of the time";
}

// What the roles cost each other, and which of them the run waits for.
std::string BoundText(const ReportRoles& roles, bool brief) {
  std::string text;
  const std::string bound = roles.Bound();
  if (!bound.empty()) {
    text = bound == "balanced" ? "The roles are balanced" : "The run is bound by " + bound;
  }
  for (size_t i = 0; !bound.empty() && i < roles.savings.size(); ++i) {
    const ReportRoleSaving& saving = roles.savings[i];
    text +=
        (i == 0 ? ": infinitely fast, " + saving.role + " would save " : ", " + saving.role + " ") +
        FormatShare(saving.saves);
    if (!brief) {
      text += " (" + FormatShare(saving.saves_low) + " to " + FormatShare(saving.saves_high) + ")";
    }
  }
  text += text.empty() ? "P" : "; p";
  return text + "erfect overlap of the roles would save at most " +
         FormatShare(roles.PerfectOverlapSaves());
}

std::string TailText(const ReportRoles& roles, const TextOptions& options) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  if (!roles.tail) {
    const bool any = std::any_of(roles.roles.begin(), roles.roles.end(), [](const auto& role) {
      return role.role == "rollout" && role.processes.size() > 1;
    });
    return any ? "Tail of rollouts: not known, since " + roles.why_no_tail : "";
  }
  const ReportTail& tail = *roles.tail;
  std::string text = "Tail of rollouts: " + FormatShare(ShareOf(tail.tail_ns, tail.rollout_ns)) +
                     " of their time, after nine in ten workers had ended (" +
                     Counted(tail.rollouts, "rollout") + "; a worker takes " +
                     time(tail.median_ns) + " in the median, 95 % of them at most " +
                     time(tail.p95_ns) + ", the longest " + time(tail.max_ns) + ")";
  if (tail.held_ns > 0) {
    text += "; GPU busy meanwhile " + FormatShare(ShareOf(tail.busy_ns, tail.held_ns));
  }
  return text;
}

// Whose roles nobody said.
std::string InferredText(const ReportRoles& roles) {
  std::string text;
  for (const ReportRole& role : roles.roles) {
    const auto inferred = std::count_if(role.processes.begin(), role.processes.end(),
                                        [](const auto& process) { return process.inferred; });
    if (inferred == 0) continue;
    text += (text.empty() ? "Inferred from operations: " : ", ") + role.role + " of " +
            FormatCount(static_cast<uint64_t>(inferred)) +
            (inferred == 1 ? " process" : " processes");
  }
  return text.empty() ? text : text + "; gpubound.role() says what a process is for";
}

// --- Samples ---

std::string WasteText(const ReportSamples& samples) {
  if (!samples.discarded_share || samples.discarded == 0) return {};
  std::string text = "Samples discarded: " + FormatShare(*samples.discarded_share);
  std::string reasons;
  for (const DiscardedSamples& row : samples.reasons) {
    if (row.reason.empty()) continue;
    reasons += (reasons.empty() ? " (" : ", ") + EscapeName(row.reason) + " " +
               FormatShare(row.samples / (samples.consumed + samples.discarded));
  }
  return text + reasons + (reasons.empty() ? "" : ")");
}

std::string StalenessText(const ReportSamples& samples) {
  if (!samples.mean_behind) return {};
  const double known = samples.consumed - samples.unknown_version;
  std::string text = "Consumed samples are " + NumberText(*samples.mean_behind) +
                     " policy versions old in the mean";
  double rest = known;
  for (size_t i = 0; i < std::min(kMostVersions, samples.versions_behind.size()); ++i) {
    const VersionsBehind& row = samples.versions_behind[i];
    text += (i == 0 ? ": " : ", ") + FormatShare(row.samples / known) + " are " +
            std::to_string(row.behind);
    rest -= row.samples;
  }
  if (samples.versions_behind.size() > kMostVersions) {
    text += ", " + FormatShare(rest / known) + " are older";
  }
  return text;
}

std::string GoodputText(const ReportSamples& samples, const TextOptions& options) {
  if (!samples.goodput) {
    return "Goodput is not known: " + EscapeName(samples.why_no_goodput);
  }
  return "Goodput: the samples of " + FormatShare(*samples.goodput) + " of " +
         FormatTime(samples.rollout_gpu_ns, options.raw) +
         " of GPU time in the rollout were consumed, if each took as long";
}

// --- Work ---

std::string WorkDoneText(const ReportWork& work) {
  const std::string unit = WorkText(work.counter);
  std::string text = RateText(work.per_second) + " " + unit + " per second of the iterations";
  if (work.per_simulation_second) {
    text += ", " + RateText(*work.per_simulation_second) + " per second of simulation";
  }
  if (work.per_simulation_and_inference_second) {
    text += ", " + RateText(*work.per_simulation_and_inference_second) +
            " per second of simulation and inference";
  }
  if (work.gpu_seconds_per_million) {
    text += "; a million takes " + NumberText(*work.gpu_seconds_per_million) + " GPU-seconds";
    if (work.gpu_busy_seconds_per_million) {
      text += ", " + NumberText(*work.gpu_busy_seconds_per_million) + " of them busy";
    }
  }
  return text;
}

std::string PartsText(const ReportTarget& target, const TextOptions& options) {
  const size_t most = options.full ? target.parts.size() : kMostParts;
  const size_t named = target.parts.size() > most ? most - 1 : target.parts.size();
  std::string text;
  int64_t rest_ns = target.parts_ns;
  for (size_t i = 0; i < named; ++i) {
    const TargetPart& part = target.parts[i];
    text += (i == 0 ? "" : ", ") +
            ShortName(ShownName(part.operation), kNameInSentence, options.unicode) + " " +
            FormatShare(ShareOf(part.wall_ns, target.parts_ns));
    rest_ns -= part.wall_ns;
  }
  if (named < target.parts.size()) {
    text += ", " + std::to_string(target.parts.size() - named) + " others " +
            FormatShare(ShareOf(rest_ns, target.parts_ns));
  }
  return text;
}

}  // namespace

std::string TargetText(const ReportTarget& target, const TextOptions& options, bool brief) {
  const auto time = [&options](int64_t ns) { return FormatTime(ns, options.raw); };
  if (!target.why_not.empty()) {
    const std::string& why = target.why_not;
    return "not known: " + EscapeName(brief ? why.substr(0, why.find(';')) : why);
  }
  if (!target.reached_ns) {
    const std::string records = Counted(target.records, "record");
    return "never reached: " + (target.best
                                    ? "the best is " + NumberText(*target.best) + ", of " + records
                                    : "there are only " + records);
  }
  std::string text = "reached after " + time(*target.reached_ns);
  if (!target.corrected) return text + " as recorded, not corrected for profiling";
  text += ", without profiling " + time(target.corrected->ns);
  if (brief) return text;
  return text + " (" + time(target.corrected->low_ns) + " to " + time(target.corrected->high_ns) +
         ")";
}

std::string TargetSentence(const ReportTarget& target, const TextOptions& options, bool brief) {
  std::string text = EscapeName(target.target);
  if (text.find(" over ") == std::string::npos) {
    text += brief ? " (mean of " + FormatCount(target.mean_of) + ")"
                  : " (mean of " + Counted(target.mean_of, "record") + ")";
  }
  text += ": " + TargetText(target, options, brief);
  if (!brief && !target.parts.empty()) text += ": " + PartsText(target, options);
  return text;
}

std::string TrainingLines(const Report& report, const TextOptions& options, bool with_roles) {
  constexpr double kMuch = 0.05;
  std::string lines;
  const ReportProcess* const process = ShownProcess(report);
  if (process != nullptr && process->training != nullptr) {
    const std::optional<ReportFlops>& flops = process->training->flops;
    if (flops && flops->IsImpossible()) {
      const std::string warning = Sentence("! " + FlopsText(*flops), options);
      lines += Painted(warning.substr(0, warning.size() - 1), Paint::kWarning, options) + "\n";
    } else if (flops && flops->mfu) {
      lines += Sentence(FlopsText(*flops), options);
    }
    const std::optional<ReportWeightSync>& sync = process->training->weight_sync;
    if (sync && ShareOf(sync->exposed_ns, sync->ns) >= kMuch) {
      lines += Sentence(SyncText(*sync, options), options);
    }
  }
  const auto& training = report.run.training;
  if (with_roles && training != nullptr && training->roles) {
    lines += Sentence(BubblesText(*training->roles, /*brief=*/true), options);
    lines += Sentence(BoundText(*training->roles, /*brief=*/true), options);
  }
  if (training != nullptr && training->samples &&
      training->samples->discarded_share.value_or(0) >= kMuch) {
    lines += Sentence(WasteText(*training->samples), options);
  }
  return lines;
}

TrainingWords WordsOfTraining(const Report& report, const TextOptions& options) {
  TrainingWords words;
  if (const auto& training = report.run.training; training != nullptr) {
    for (const ReportTarget& target : training->targets) {
      words.targets.push_back(TargetSentence(target, options, /*brief=*/false));
    }
    for (const ReportWork& work : training->work) words.work.push_back(WorkDoneText(work));
    if (training->roles) {
      words.bubbles = BubblesText(*training->roles, /*brief=*/false);
      words.overlap = OverlapText(*training->roles);
      words.bound = BoundText(*training->roles, /*brief=*/false);
      words.tail = TailText(*training->roles, options);
      words.inferred = InferredText(*training->roles);
    }
    if (training->samples) {
      words.staleness = StalenessText(*training->samples);
      words.waste = WasteText(*training->samples);
      words.goodput = GoodputText(*training->samples, options);
    }
  }
  words.process = ShownProcess(report);
  if (words.process != nullptr && words.process->training != nullptr) {
    const ProcessTraining& training = *words.process->training;
    if (training.flops) words.flops = FlopsText(*training.flops);
    if (training.weight_sync) words.weight_sync = SyncText(*training.weight_sync, options);
  }
  return words;
}

std::string TrainingSection(const Report& report, const TextOptions& options) {
  const TrainingWords words = WordsOfTraining(report, options);
  std::string text;
  for (const std::string& work : words.work) text += Sentence(work, options);
  for (const std::string* sentence :
       {&words.bubbles, &words.overlap, &words.bound, &words.tail, &words.inferred,
        &words.staleness, &words.waste, &words.goodput, &words.flops, &words.weight_sync}) {
    text += Sentence(*sentence, options);
  }
  return text.empty() ? "" : "\nTraining\n" + text;
}

std::string TargetLines(const Report& report, const TextOptions& options) {
  if (report.run.training == nullptr) return {};
  const std::vector<ReportTarget>& targets = report.run.training->targets;
  const size_t most = options.full ? targets.size() : kMostTargets;
  std::string lines;
  // A line each where there are several.
  const bool brief = !options.full && targets.size() > 1;
  for (size_t i = 0; i < std::min(most, targets.size()); ++i) {
    lines += Sentence(TargetSentence(targets[i], options, brief), options);
  }
  if (targets.size() > most) {
    lines += Wrap(Counted(targets.size() - most, "further target") + ": --full.", options.width, 2);
  }
  return lines;
}

}  // namespace gpubound
