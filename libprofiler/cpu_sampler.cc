// SPDX-License-Identifier: Apache-2.0
//
// Looks at the counters and cuts time at the looks. The flusher's thread.
#include "libprofiler/cpu_sampler.h"

#include <algorithm>
#include <exception>
#include <optional>
#include <utility>

namespace gpubound {
namespace {

constexpr uint64_t kLackingFrom = 10;  // one part in so many

}  // namespace

int64_t CpuSampler::SampleIfDue() noexcept {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < due_ns_) return due_ns_;
  try {
    const int64_t begin_ns = stats_.OwnCpuNs();
    const int64_t woken_ns = std::min(begin_ns - own_cpu_ns_, kMostToWakeUpNs);
    // That of many threads takes long, and is seldom.
    const bool listed = ListTasks(now_ns);
    int64_t others_took_ns = listed ? stats_.OwnCpuNs() - begin_ns : 0;
    const int64_t list_pause_ns =
        std::min(others_took_ns * kOthersRarerThanItTakes, kLongestPeriodNs);
    if (listed) list_due_ns_ = std::max(list_due_ns_, now_ns + list_pause_ns);
    const size_t first = std::min(tasks_.size(), kAlwaysLookedAt);
    LookAt(0, first);
    if (now_ns >= others_due_ns_) {
      others_took_ns += LookAt(first, tasks_.size());
      others_due_ns_ =
          now_ns + std::min(others_took_ns * kOthersRarerThanItTakes, kLongestPeriodNs);
    }
    ForgetEnded();
    own_cpu_ns_ = stats_.OwnCpuNs();
    const int64_t took_ns = woken_ns + own_cpu_ns_ - begin_ns - others_took_ns;
    due_ns_ = now_ns + std::clamp(took_ns * kRarerThanItTakes, kPeriodNs, kLongestPeriodNs);
  } catch (const std::exception&) {  // out of memory
    due_ns_ = INT64_MAX;
  }
  return due_ns_;
}

void CpuSampler::SampleAtEnd() noexcept {
  if (due_ns_ == INT64_MAX) return;
  try {
    ListTasks(clock_.MonotonicNs());
    LookAt(0, tasks_.size());
    for (Task& task : tasks_) PutLast(&task);
    ForgetEnded();
  } catch (const std::exception&) {  // out of memory
  }
}

// Says what it took.
int64_t CpuSampler::LookAt(size_t begin, size_t end) {
  const int64_t before_ns = stats_.OwnCpuNs();
  for (size_t i = begin; i < end; ++i) {
    if (!Look(&tasks_[i])) tasks_[i].listed = false;
  }
  return stats_.OwnCpuNs() - before_ns;
}

void CpuSampler::ForgetEnded() {
  std::erase_if(tasks_, [this](Task& task) {
    if (task.listed) return false;
    PutLast(&task);
    stats_.Forget(task.tid);
    return true;
  });
  sink_.Publish();
}

// A thread is there from the first look at it on. False: none came and none went.
bool CpuSampler::ListTasks(int64_t now_ns) {
  const bool anew = now_ns >= list_due_ns_;
  if (!stats_.List(anew, &tids_)) return false;
  list_due_ns_ = now_ns + kListAnewNs;
  std::sort(tids_.begin(), tids_.end());
  auto next = tids_.begin();
  for (Task& task : tasks_) {
    next = std::lower_bound(next, tids_.end(), task.tid);
    task.listed = next != tids_.end() && *next == task.tid;
  }
  const size_t known = tasks_.size();
  for (const uint32_t tid : tids_) {
    const auto end = tasks_.begin() + static_cast<ptrdiff_t>(known);
    const auto found = std::lower_bound(
        tasks_.begin(), end, tid, [](const Task& task, uint32_t of) { return task.tid < of; });
    if (found != end && found->tid == tid) continue;
    const auto counters = stats_.Read(tid, nullptr);
    if (!counters) continue;
    Task task;
    task.tid = tid;
    task.counters = *counters;
    task.looked_ns = clock_.MonotonicNs();
    tasks_.push_back(task);
  }
  std::sort(tasks_.begin(), tasks_.end(),
            [](const Task& a, const Task& b) { return a.tid < b.tid; });
  return true;
}

// False: the thread has ended.
bool CpuSampler::Look(Task* task) {
  const std::optional<TaskCounters> now = stats_.Read(task->tid, &task->counters);
  if (!now) {
    list_due_ns_ = INT64_MIN;  // another may have come with it gone
    return false;
  }
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns > task->looked_ns) Advance(task, *now, now_ns);
  return true;
}

void CpuSampler::Advance(Task* task, const TaskCounters& now, int64_t now_ns) {
  const TaskCounters before = std::exchange(task->counters, now);
  const int64_t begin_ns = std::exchange(task->looked_ns, now_ns);
  const uint64_t ready_before = before.ready_ns.value_or(0);
  const uint64_t ready_now = now.ready_ns.value_or(0);
  // Another thread has got its number.
  if (now.on_cpu_ns < before.on_cpu_ns || ready_now < ready_before) {
    if (task->is_blocked) PutBlocked(task, begin_ns);
    task->is_blocked = false;
    return;
  }
  const uint64_t on_cpu_ns = now.on_cpu_ns - before.on_cpu_ns;
  const uint64_t ready_ns = ready_now - ready_before;
  if (on_cpu_ns == 0 && ready_ns == 0) {
    if (!task->is_blocked) task->blocked_ns = begin_ns;
    task->is_blocked = true;
    if (now_ns - task->blocked_ns >= kLongestBlockedNs) PutBlocked(task, now_ns);
    return;
  }
  task->lacks_cpu = kLackingFrom * ready_ns > on_cpu_ns + ready_ns;
  int64_t since_ns = begin_ns;
  if (task->is_blocked) {
    const auto added_ns = static_cast<int64_t>(on_cpu_ns + ready_ns);
    since_ns = std::clamp(now_ns - added_ns, task->blocked_ns, begin_ns);
    PutBlocked(task, since_ns);
    task->is_blocked = false;
  }
  Put(*task, since_ns, now_ns, on_cpu_ns, now.ready_ns ? ready_ns : kReadyNotKnown);
}

// What it would still have counted is not known any more.
void CpuSampler::PutLast(Task* task) {
  if (task->is_blocked && !task->lacks_cpu) PutBlocked(task, task->looked_ns);
}

// It is still blocked from there on, as far as is known.
void CpuSampler::PutBlocked(Task* task, int64_t until_ns) {
  const int64_t begin_ns = std::exchange(task->blocked_ns, until_ns);
  if (until_ns <= begin_ns) return;
  Put(*task, begin_ns, until_ns, 0, task->counters.ready_ns ? 0 : kReadyNotKnown);
}

void CpuSampler::Put(const Task& task, int64_t begin_ns, int64_t end_ns, uint64_t on_cpu_ns,
                     uint64_t ready_ns) {
  sink_.Append(CpuTimeRecord{.start_ns = static_cast<uint64_t>(begin_ns),
                             .end_ns = static_cast<uint64_t>(end_ns),
                             .on_cpu_ns = on_cpu_ns,
                             .ready_ns = ready_ns,
                             .correlation = 0,
                             .tid = task.tid});
}

}  // namespace gpubound
