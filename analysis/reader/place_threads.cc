// SPDX-License-Identifier: Apache-2.0
//
// Threads by the place that the sums gave them. No state.
#include "analysis/reader/place_threads.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace gpubound {

void PlaceThreads(const ProcessSums& sums, ProcessTrace* process) {
  std::vector<ThreadTrace> placed;
  std::vector<ThreadTrace>& threads = process->threads;
  std::unordered_map<uint32_t, std::vector<size_t>> by_tid;  // those that have no place yet
  for (size_t i = 0; i < threads.size(); ++i) by_tid[threads[i].tid].push_back(i);
  std::vector<bool> has_place(threads.size());
  for (const SummedThread& summed : sums.threads) {
    // A thread may get its row after it was summed.
    const bool had_row = summed.ordinal != ThreadId{};
    std::vector<size_t>& candidates = by_tid[summed.tid];
    const auto found = std::find_if(candidates.begin(), candidates.end(), [&](size_t i) {
      return !had_row || threads[i].ordinal == summed.ordinal;
    });
    ThreadTrace& thread = placed.emplace_back();
    if (found != candidates.end()) {
      thread = std::move(threads[*found]);
      has_place[*found] = true;
      candidates.erase(found);
    }
    if (had_row) thread.ordinal = summed.ordinal;
    thread.tid = summed.tid;
    thread.began_ns = summed.began_ns;
  }
  for (size_t i = 0; i < threads.size(); ++i) {
    if (!has_place[i]) placed.push_back(std::move(threads[i]));
  }
  threads = std::move(placed);
}

void MarkThinnedTails(const std::vector<uint32_t>& ordinals, ProcessTrace* process) {
  for (ThreadTrace& thread : process->threads) {
    thread.tail_thinned =
        std::find(ordinals.begin(), ordinals.end(), Raw(thread.ordinal)) != ordinals.end();
  }
}

void AddMainThread(ProcessTrace* process) {
  const uint32_t tid =
      process->main_tid != 0 ? process->main_tid : static_cast<uint32_t>(process->identity.pid);
  const bool known = std::any_of(process->threads.begin(), process->threads.end(),
                                 [tid](const ThreadTrace& thread) { return thread.tid == tid; });
  if (known) return;
  process->threads.emplace_back();
  process->threads.back().tid = tid;
}

}  // namespace gpubound
