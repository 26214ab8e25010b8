// SPDX-License-Identifier: Apache-2.0
//
// Puts the legend into words.
#include "analysis/output/text/table_legend.h"

#include "analysis/base/text_table.h"

namespace gpubound {

std::string TableLegend::Take(const TextOptions& options) {
  std::string line;
  const auto say = [&line, this](const std::string& what) {
    if (said_.insert(what).second) line += (line.empty() ? "" : "; ") + what;
  };
  if (shown_.contains(kBar)) {
    say(options.unicode ? "█ GPU busy, ▒ cpu only, · idle" : "# GPU busy, - cpu only, . idle");
    if (shown_.contains("unknown")) say("? unknown");
  }
  if (shown_.contains(kCpuBar))
    say(options.unicode ? "▒ CPU works, · idle" : "- CPU works, . idle");
  if (shown_.contains(kCaused)) say("caused: by its launches");
  if (shown_.contains(kGpuOnly)) say("gpu only: CPU waits");
  if (shown_.contains(kScopesMissing)) say("~ scopes are missing, see the notes");
  std::string heads;
  for (const std::string_view head : left_out_) {
    heads += (heads.empty() ? "" : ", ") + std::string(head);
  }
  if (!heads.empty()) say("hidden to fit: " + heads);
  return line.empty() ? "" : Wrap(line, options.width, 2);
}

}  // namespace gpubound
