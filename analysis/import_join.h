// SPDX-License-Identifier: Apache-2.0
//
// Finds the process that launched each piece of device work, by correlation id, where a trace holds
// several processes and the work does not say whose it is. Traces of several ranks that were merged
// may use an id more than once: the launch is then the last one that began before the work did,
// else the first one after. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_JOIN_H_
#define GPUBOUND_ANALYSIS_IMPORT_JOIN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/external_sorter.h"
#include "analysis/import_records.h"
#include "analysis/status.h"

namespace gpubound {

struct LaunchCall {
  uint32_t correlation = 0;
  int64_t start_ns = 0;
  uint32_t process = kNoIndex;

  friend bool operator<(const LaunchCall& a, const LaunchCall& b) {
    return std::tie(a.correlation, a.start_ns, a.process) <
           std::tie(b.correlation, b.start_ns, b.process);
  }
};

class LaunchJoin {
 public:
  explicit LaunchJoin(const std::string& folder)
      : calls_(folder), work_(folder), resolved_(folder) {}

  Status AddCall(const LaunchCall& call) { return calls_.Add(call); }
  Status AddWork(const ForeignWork& work) { return work_.Add({work}); }

  // Hands every piece of work to |emit|, by start, with its process, or kNoIndex where no call
  // launched it. Call once, last.
  Status Resolve(const std::function<Status(const ForeignWork&)>& emit);

 private:
  struct ByCorrelation {
    ForeignWork work;
    friend bool operator<(const ByCorrelation& a, const ByCorrelation& b) {
      return a.work.correlation != b.work.correlation ? a.work.correlation < b.work.correlation
                                                      : a.work < b.work;
    }
  };

  Status Join();

  ExternalSorter<LaunchCall> calls_;
  ExternalSorter<ByCorrelation> work_;
  ExternalSorter<ForeignWork> resolved_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_JOIN_H_
