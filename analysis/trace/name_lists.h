// SPDX-License-Identifier: Apache-2.0
//
// Lists of name patterns that are data, not code: which kernels are collectives, which NVTX domains
// belong to libraries, which operations say why a device idles. The text files lie in
// analysis/trace/data and are embedded when this is built. Lists are built on first use and
// immutable after; call from any thread.
#ifndef GPUBOUND_ANALYSIS_TRACE_NAME_LISTS_H_
#define GPUBOUND_ANALYSIS_TRACE_NAME_LISTS_H_

#include <string>
#include <string_view>
#include <vector>

namespace gpubound {

class NameList {
 public:
  // One pattern a line; blank lines and lines that begin with '#' followed by a space or nothing
  // are skipped. Patterns: see analysis/trace/data/comm_kernels.txt.
  explicit NameList(std::string_view text);

  bool Matches(std::string_view name) const;

 private:
  struct Pattern {
    std::string text;       // lower case, without '^'
    bool anchored = false;  // not to be tried at identifiers within the name
  };
  std::vector<Pattern> patterns_;
};

const NameList& CommKernels();
const NameList& LibraryDomains();
const NameList& LibraryRangeNames();
const NameList& CheckpointNames();
const NameList& CompileNames();
const NameList& SimulationNames();
const NameList& WeightSyncNames();
const NameList& RewardNames();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_NAME_LISTS_H_
