// SPDX-License-Identifier: Apache-2.0
//
// Puts shares into a sentence. No state.
#include "analysis/output/text/naming_text.h"

#include "analysis/base/text_table.h"

namespace gpubound {

std::string NamingSentence(const ReportProcess& process, const TextOptions& options) {
  if (!process.iterations || process.iterations->naming.Total() == 0) return {};
  const ReportNaming& naming = process.iterations->naming;
  const auto share = [&naming](int64_t ns) { return FormatShare(ShareOf(ns, naming.Total())); };
  std::string line = "Names explain " + share(naming.Explained()) +
                     " of the iterations: the program's own " + share(naming.program_ns) +
                     ", those that gpubound gives " + share(naming.rules_ns);
  if (naming.waiting_ns > 0) line += ", waiting outside of both " + share(naming.waiting_ns);
  line += ". Nothing explains the rest: rollout or update alone " + share(naming.stage_ns) +
          ", no operation " + share(naming.none_ns) + ".";
  return Wrap(line, options.width, 2);
}

}  // namespace gpubound
