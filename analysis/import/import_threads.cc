// SPDX-License-Identifier: Apache-2.0
//
// Compares threads. No state.
#include "analysis/import/import_threads.h"

#include <algorithm>
#include <utility>

namespace gpubound {

uint32_t BusiestTid(const std::vector<ThreadTotals>& threads, uint32_t process,
                    const ForeignNames& names) {
  if (threads.empty()) return 0;
  const auto key = [](const ThreadTotals& totals) {
    return std::pair(totals.operation_ns, totals.operation_ns > 0 ? 0 : totals.events);
  };
  const auto id = [process, &names](const ThreadTotals& totals) {
    const ForeignThread& thread = names.threads()[totals.thread];
    return std::pair(thread.id, thread.process != process);
  };
  const auto busiest = std::max_element(threads.begin(), threads.end(),
                                        [&](const ThreadTotals& a, const ThreadTotals& b) {
                                          return key(a) != key(b) ? key(a) < key(b) : id(a) > id(b);
                                        });
  return names.threads()[busiest->thread].tid;
}

uint32_t MainTid(const std::vector<ThreadTotals>& threads, uint32_t process,
                 const ForeignNames& names, uint32_t otherwise) {
  const int64_t pid = names.processes()[process].pid;
  const bool there =
      std::any_of(threads.begin(), threads.end(), [pid, &names](const ThreadTotals& totals) {
        return names.threads()[totals.thread].id == pid;
      });
  return there ? static_cast<uint32_t>(pid) : otherwise;
}

}  // namespace gpubound
