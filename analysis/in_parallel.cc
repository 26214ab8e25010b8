// SPDX-License-Identifier: Apache-2.0
//
// Each thread takes the next job. No state.
#include "analysis/in_parallel.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>

namespace gpubound {

Status InParallel(const std::vector<std::function<Status()>>& jobs) {
  std::vector<Status> done(jobs.size(), Ok{});
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < jobs.size(); i = next++) done[i] = jobs[i]();
  };
  const size_t threads =
      std::min<size_t>(jobs.size(), std::max(1u, std::thread::hardware_concurrency()));
  std::vector<std::thread> helpers;
  for (size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
  work();
  for (std::thread& helper : helpers) helper.join();
  const auto failed =
      std::find_if(done.begin(), done.end(), [](const Status& s) { return !s.ok(); });
  return failed == done.end() ? Status(Ok{}) : *failed;
}

}  // namespace gpubound
