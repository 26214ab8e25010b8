// SPDX-License-Identifier: Apache-2.0
//
// Threads by the place that the sums gave them. No state.
#include "analysis/place_threads.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace gpubound {

void PlaceThreads(const ProcessSums& sums, ProcessTrace* process) {
  std::vector<ThreadTrace> placed;
  std::vector<ThreadTrace>& threads = process->threads;
  for (const SummedThread& summed : sums.threads) {
    // A thread may get its row after it was summed.
    const bool had_row = summed.ordinal != ThreadId{};
    const auto found = std::find_if(threads.begin(), threads.end(), [&](const ThreadTrace& thread) {
      return thread.tid == summed.tid && (!had_row || thread.ordinal == summed.ordinal);
    });
    ThreadTrace& thread = placed.emplace_back();
    if (found != threads.end()) {
      thread = std::move(*found);
      threads.erase(found);
    }
    if (had_row) thread.ordinal = summed.ordinal;
    thread.tid = summed.tid;
    thread.began_ns = summed.began_ns;
  }
  for (ThreadTrace& thread : threads) placed.push_back(std::move(thread));
  threads = std::move(placed);
}

}  // namespace gpubound
