// SPDX-License-Identifier: Apache-2.0
#include "tools/commands/report_so_far.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/correction/report_options.h"
#include "analysis/correction/run_report.h"

namespace gpubound {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uintmax_t kMostBytes = 1 << 30;
constexpr auto kLeastPause = std::chrono::seconds(5);
constexpr int kPausesForEach = 20;  // as long as it took
constexpr int kLowestPriority = 19;

uintmax_t BytesOf(const std::string& run) {
  uintmax_t bytes = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(run, error)) {
    const uintmax_t size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

}  // namespace

std::optional<Report> ReportSoFar(const std::string& run) {
  if (BytesOf(run) > kMostBytes) return std::nullopt;
  ReportOptions options;
  options.why_not_replayed = "a glance leaves that out";
  Result<Report> report = ReportOfRun(run, options);
  if (!report.ok() || report->processes.empty()) return std::nullopt;
  return *std::move(report);
}

struct ReportsSoFar::State {
  explicit State(std::string of_run) : run(std::move(of_run)) {}
  const std::string run;
  std::mutex mutex;  // guards what follows
  std::shared_ptr<const Report> newest;
  bool busy = false;
  Clock::time_point next;
};

ReportsSoFar::ReportsSoFar(const std::string& run) : state_(std::make_shared<State>(run)) {}

std::shared_ptr<const Report> ReportsSoFar::Newest() {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  if (!state_->busy && Clock::now() >= state_->next) {
    state_->busy = true;
    std::thread([state = state_] {
      setpriority(PRIO_PROCESS, 0, kLowestPriority);  // of this thread, and of those it starts
      const Clock::time_point begin = Clock::now();
      std::optional<Report> report = ReportSoFar(state->run);
      const Clock::time_point end = Clock::now();
      const std::lock_guard<std::mutex> guard(state->mutex);
      if (report) state->newest = std::make_shared<const Report>(*std::move(report));
      state->busy = false;
      state->next = end + std::max<Clock::duration>(kLeastPause, kPausesForEach * (end - begin));
    }).detach();
  }
  return state_->newest;
}

bool ReportsSoFar::IsBusy() const {
  const std::lock_guard<std::mutex> lock(state_->mutex);
  return state_->busy;
}

}  // namespace gpubound
