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

int64_t PauseAfter(int64_t took_ns) {
  return std::min(took_ns * CpuSampler::kOthersRarerThanItTakes, CpuSampler::kLongestPeriodNs);
}

}  // namespace

int64_t CpuSampler::SampleIfDue() noexcept {
  const int64_t now_ns = clock_.MonotonicNs();
  if (now_ns < due_ns_) return due_ns_;
  try {
    const int64_t begin_ns = stats_.OwnCpuNs();
    const int64_t woken_ns = std::min(begin_ns - own_cpu_ns_, kMostToWakeUpNs);
    int64_t others_took_ns = 0;
    if (ListTasks(now_ns)) {  // that of many threads takes long, and is seldom
      others_took_ns = stats_.OwnCpuNs() - begin_ns;
      list_due_ns_ = std::max(list_due_ns_, now_ns + PauseAfter(others_took_ns));
    }
    const size_t first = std::min(tasks_.size(), kAlwaysLookedAt);
    LookAt(0, first, now_ns);
    if (first < tasks_.size() && now_ns >= others_due_ns_) {
      others_took_ns -= stats_.OwnCpuNs();
      LookAt(first, tasks_.size(), INT64_MAX);
      others_took_ns += stats_.OwnCpuNs();
      others_due_ns_ = now_ns + PauseAfter(others_took_ns);
    }
    ForgetEnded();
    own_cpu_ns_ = stats_.OwnCpuNs();
    const int64_t took_ns = woken_ns + own_cpu_ns_ - begin_ns - others_took_ns;
    // A thread that gets a core late is not to look more seldom for it.
    const int64_t late_ns = due_ns_ == INT64_MIN ? 0 : now_ns - due_ns_;
    const int64_t since_ns = now_ns - std::min(late_ns, kPeriodNs / 2);
    due_ns_ = since_ns + std::clamp(took_ns * kRarerThanItTakes, kPeriodNs, kLongestPeriodNs);
    due_ns_ = std::max(due_ns_, std::min(NextDue(first), count_due_ns_));
  } catch (const std::exception&) {  // out of memory
    due_ns_ = INT64_MAX;
  }
  return due_ns_;
}

void CpuSampler::SampleAtEnd() noexcept {
  if (due_ns_ == INT64_MAX) return;
  try {
    count_due_ns_ = INT64_MIN;
    ListTasks(clock_.MonotonicNs());
    LookAt(0, tasks_.size(), INT64_MAX);
    for (Task& task : tasks_) PutLast(&task);
    ForgetEnded();
  } catch (const std::exception&) {  // out of memory
  }
}

void CpuSampler::LookAt(size_t begin, size_t end, int64_t now_ns) {
  for (size_t i = begin; i < end; ++i) {
    if (now_ns >= tasks_[i].due_ns && !Look(&tasks_[i])) tasks_[i].listed = false;
  }
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

// False: none came and none went.
bool CpuSampler::ListTasks(int64_t now_ns) {
  if (now_ns < count_due_ns_) return false;
  count_due_ns_ = now_ns + kCountAnewNs;
  const int64_t counted_ns = std::exchange(counted_ns_, now_ns);
  if (!stats_.List(/*anew=*/now_ns >= list_due_ns_, &tids_)) return false;
  const bool is_new = counted_ns != INT64_MIN && now_ns - counted_ns <= kLongestBesideNs;
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
    if (found == end || found->tid != tid) Meet(tid, is_new);
  }
  std::sort(tasks_.begin(), tasks_.end(),
            [](const Task& a, const Task& b) { return a.tid < b.tid; });
  return true;
}

// |is_new|: a thread that began a short while ago. It has been there for at least as long as it has
// counted.
void CpuSampler::Meet(uint32_t tid, bool is_new) {
  const auto counters = stats_.Read(tid, nullptr);
  if (!counters) return;
  Task task;
  task.tid = tid;
  task.counters = *counters;
  task.looked_ns = task.ran_ns = task.run.begin_ns = clock_.MonotonicNs();
  tasks_.push_back(task);
  const auto lived_ns = static_cast<int64_t>(counters->on_cpu_ns + counters->ready_ns.value_or(0));
  if (!is_new || lived_ns == 0 || lived_ns > kLongestBesideNs) return;
  Put(task, task.looked_ns - lived_ns, task.looked_ns, counters->on_cpu_ns,
      counters->ready_ns.value_or(kReadyNotKnown));
}

// Of the oldest threads; INT64_MAX without any.
int64_t CpuSampler::NextDue(size_t oldest) const {
  int64_t next_ns = INT64_MAX;
  for (size_t i = 0; i < std::min(oldest, tasks_.size()); ++i) {
    next_ns = std::min(next_ns, tasks_[i].due_ns);
  }
  return next_ns;
}

// False: the thread has ended.
bool CpuSampler::Look(Task* task) {
  const std::optional<TaskCounters> now = stats_.Read(task->tid, &task->counters);
  if (!now) {
    count_due_ns_ = list_due_ns_ = INT64_MIN;  // another may have come with it gone
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
    EndHead(task);
    if (task->stands_still) EndBlocked(task, begin_ns);
    task->stands_still = false;
    task->run = Run{.begin_ns = now_ns};
    return;
  }
  const uint64_t on_cpu_ns = now.on_cpu_ns - before.on_cpu_ns;
  const uint64_t ready_ns = ready_now - ready_before;
  if (on_cpu_ns == 0 && ready_ns == 0) {
    StandStill(task, begin_ns, now_ns);
    return;
  }
  task->ran_ns = now_ns;
  task->due_ns = INT64_MIN;
  task->lacks_cpu = kLackingFrom * ready_ns > on_cpu_ns + ready_ns;
  const auto added_ns = static_cast<int64_t>(on_cpu_ns + ready_ns);
  const bool is_short = now.ready_ns && now_ns - begin_ns <= kLongestBesideNs;
  int64_t since_ns = begin_ns;
  if (std::exchange(task->stands_still, false)) {
    const int64_t stood_ns = begin_ns - task->stands_ns;
    const bool begun = task->blocked_ns && !task->head_is_open;
    if (!begun && 3 * static_cast<int64_t>(ready_ns) >= 2 * stood_ns) {
      since_ns = task->stands_ns;  // it was short of a CPU
    } else {
      BeginBlocked(task);
      since_ns = std::clamp(now_ns - added_ns, task->stands_ns, begin_ns);
      task->run = Run{.begin_ns = since_ns, .head_ns = INT64_MAX};
      task->head_is_open = is_short && since_ns == begin_ns;
      if (!task->head_is_open) EndBlocked(task, std::min(now_ns - added_ns, begin_ns));
    }
  }
  Run& run = task->run;
  run.active_ns += added_ns;
  run.left_ns = std::max<int64_t>(0, now_ns - run.begin_ns - run.active_ns);
  run.head_ns = std::min(run.head_ns, run.left_ns);
  run.longest_tail_ns =
      is_short ? std::max<int64_t>(0, now_ns - since_ns - static_cast<int64_t>(on_cpu_ns)) : 0;
  if (now_ns - run.begin_ns > kLongestBesideNs) EndHead(task);
  Put(*task, since_ns, now_ns, on_cpu_ns, now.ready_ns ? ready_ns : kReadyNotKnown);
}

// Nothing was added between two looks.
void CpuSampler::StandStill(Task* task, int64_t begin_ns, int64_t now_ns) {
  if (!task->stands_still) task->stands_ns = begin_ns;
  task->stands_still = true;
  const bool begun = task->blocked_ns && !task->head_is_open;
  if (now_ns - (begun ? *task->blocked_ns : task->stands_ns) >= kLongestBlockedNs) {
    BeginBlocked(task);
    PutBlocked(task, now_ns);
    task->stands_ns = now_ns;
  }
  task->due_ns = now_ns + std::min((now_ns - task->ran_ns) / kRestingPart, kLongestRestNs);
}

// It was blocked when it stood still, and at the end of its run before that.
void CpuSampler::BeginBlocked(Task* task) {
  EndHead(task);
  if (task->blocked_ns) return;
  const Run& run = task->run;
  task->blocked_ns = task->stands_ns - std::min(run.left_ns - run.head_ns, run.longest_tail_ns);
}

// It was blocked at the begin of its run too.
void CpuSampler::EndHead(Task* task) {
  if (!std::exchange(task->head_is_open, false)) return;
  EndBlocked(task, task->run.begin_ns + task->run.head_ns);
}

void CpuSampler::EndBlocked(Task* task, int64_t until_ns) {
  PutBlocked(task, until_ns);
  task->blocked_ns.reset();
}

// What it would still have counted is not known any more.
void CpuSampler::PutLast(Task* task) {
  EndHead(task);
  if (task->stands_still && !task->lacks_cpu) EndBlocked(task, task->looked_ns);
}

// It is still blocked from there on, as far as is known.
void CpuSampler::PutBlocked(Task* task, int64_t until_ns) {
  BeginBlocked(task);
  const int64_t begin_ns = *task->blocked_ns;
  if (until_ns <= begin_ns) return;
  task->blocked_ns = until_ns;
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
