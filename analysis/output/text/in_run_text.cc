// SPDX-License-Identifier: Apache-2.0
#include "analysis/output/text/in_run_text.h"

#include <cmath>
#include <cstdint>

#include "analysis/base/estimate.h"
#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr char kHowToCheck[] = "gpubound run --steps A:B would, with as many after them";

std::string InPercent(double factor, double standard_error) {
  return FormatShare(factor) + " (+/- " + FormatShare(kNormal975 * standard_error) + ")";
}

// "4.1 % longer" than |usual_ns|.
std::string Longer(int64_t ns, int64_t usual_ns) {
  const double more = static_cast<double>(ns - usual_ns) / static_cast<double>(usual_ns);
  return FormatShare(std::abs(more)) + (more < 0 ? " shorter" : " longer");
}

std::string LaterText(const LaterCheck& later, const CheckWords& words) {
  std::string text =
      "An iteration took " + FormatTime(later.later_ns, words.raw) + " after the recording, ";
  if (later.later_ns > 0) {
    const double error =
        static_cast<double>(later.residual_error_ns) / static_cast<double>(later.later_ns);
    text += Longer(later.recorded_ns, later.later_ns) + " in it and " +
            Longer(later.calibrated_ns, later.later_ns) + " (+/- " +
            FormatShare(kNormal975 * error) + ") without what calibration says ";
  }
  text += "(" + std::to_string(later.iterations) + " of each)";
  if (later.used) {
    text += ", so " + later.of + " cost " + InPercent(later.factor, later.standard_error) +
            " of their calibration in this run";
  }
  return text + ".";
}

std::string UncheckedText(const InRunCheck& of, const CheckWords& words) {
  std::string text;
  for (const UncheckedCost& cost : of.unchecked) {
    text += (text.empty() ? "" : ", ") + cost.what;
    const bool could_be = &cost == &of.unchecked.back() && words.has_iterations &&
                          of.later.iterations == 0 && of.later.why_none.empty();
    std::string remark = cost.why;
    if (could_be) remark += (remark.empty() ? "" : "; ") + std::string(kHowToCheck);
    if (!remark.empty()) text += " (" + remark + ")";
  }
  return text.empty() ? "" : "Not checked in this run: the cost of " + text + ".";
}

}  // namespace

std::string CheckText(const InRunCheck& of, const CheckWords& words) {
  std::string text;
  const auto say = [&text](const std::string& sentence) {
    text += (text.empty() || sentence.empty() ? "" : " ") + sentence;
  };
  if (of.entries.calls != 0) {
    say("CUDA calls cost " + FormatShare(of.entries.factor) +
        " of their calibration in this run, by how long CUPTI took to enter " +
        std::to_string(of.entries.calls) + " of them.");
  }
  if (of.later.iterations != 0) say(LaterText(of.later, words));
  say(UncheckedText(of, words));
  return text;
}

}  // namespace gpubound
