// SPDX-License-Identifier: Apache-2.0
//
// Checks what --target asks for. No state.
#include "tools/commands/target_option.h"

#include <fmt/format.h>

#include "tools/commands/option_values.h"

namespace gpubound {
namespace {

Complaint CheckTarget(const std::string& text) {
  const Result<Target> target = ParseTarget(text);
  if (target.ok()) return "";
  return fmt::format("'{}' has {}, expected {}, as in 'return>=450' or 'return>=450 over 20'", text,
                     target.error().found, target.error().expected);
}

}  // namespace

void AddTargetOption(OptionParser* parser, std::vector<std::string>* texts) {
  parser
      ->AddOption("--target", texts,
                  "When the mean of the metric's last 10 records ('over N': N) reached it")
      .Value("'METRIC>=VALUE'")
      .Check(ValueRule{CheckTarget, {}})
      .TakeOneEach();
}

std::vector<Target> TargetsOf(const std::vector<std::string>& texts) {
  std::vector<Target> targets;
  for (const std::string& text : texts) {
    if (Result<Target> target = ParseTarget(text); target.ok()) targets.push_back(*target);
  }
  return targets;
}

}  // namespace gpubound
