// SPDX-License-Identifier: Apache-2.0
//
// Checks what --operations selects. No state.
#include "tools/commands/operations_option.h"

#include <fmt/format.h>

#include <string_view>

#include "analysis/base/suggestion.h"
#include "tools/commands/option_values.h"

namespace gpubound {
namespace {

constexpr char kAll[] = "all";
constexpr std::string_view kOfDomain = "nvtx:";

// What somebody meant who wrote |text|; empty where it tells too little. A domain without the word
// before it is the likeliest mistake.
std::string Meant(const std::string& text) {
  const std::vector<std::string> all{kAll};
  if (std::string closest = ClosestName(text, all); !closest.empty()) return closest;
  const std::string domain = text.substr(text.find(':') + 1);  // all of it without a colon
  if (domain.empty() || kOfDomain.starts_with(domain)) return "";
  return std::string(kOfDomain) + domain;
}

Complaint CheckRanges(const std::string& text) {
  if (text == kAll || (text.starts_with(kOfDomain) && text.size() > kOfDomain.size())) return "";
  const std::string meant = Meant(text);
  return fmt::format("'{}' is neither nvtx:DOMAIN nor all{}", text,
                     meant.empty() ? "" : fmt::format(". Did you mean '{}'?", meant));
}

}  // namespace

void AddOperationsOption(OptionParser* parser, std::vector<std::string>* operations) {
  parser
      ->AddOption("--operations", operations,
                  "Foreign ranges that count as operations: nvtx:DOMAIN, all")
      .Value("WHICH")
      .Check(ValueRule{CheckRanges, {}})
      .SplitAtCommas();
}

}  // namespace gpubound
