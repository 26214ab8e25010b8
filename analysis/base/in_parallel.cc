// SPDX-License-Identifier: Apache-2.0
//
// The caller of InParallel() does what it asks for, and threads that wait for work join in. State:
// the threads, of which all who want them own a part.
#include "analysis/base/in_parallel.h"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/base/large_pages.h"

namespace gpubound {
namespace {

// The kernel puts a thread where the one that made it runs, and may leave it waiting there until
// the next tick (4 ms) though other processors have nothing to do. It goes to one of those.
void StartElsewhere(pthread_t thread) {
  cpu_set_t all;
  if (pthread_getaffinity_np(pthread_self(), sizeof(all), &all) != 0) return;
  cpu_set_t others = all;
  CPU_CLR(static_cast<size_t>(sched_getcpu()), &others);
  if (CPU_COUNT(&others) == 0) return;
  pthread_setaffinity_np(thread, sizeof(others), &others);
  pthread_setaffinity_np(thread, sizeof(all), &all);
}

}  // namespace

// What one call of InParallel() asks for.
class JobList {
 public:
  explicit JobList(const std::vector<std::function<Status()>>& jobs)
      : jobs_(jobs), done_(jobs.size(), Ok{}) {
    thrown_.resize(jobs.size());
  }

  bool AnyLeft() const { return next_ < jobs_.size(); }
  // Throws nothing: it may be a thread's whole work, and others may do a part of the list still.
  void DoWhatIsLeft() {
    for (size_t i = next_++; i < jobs_.size(); i = next_++) {
      try {
        done_[i] = jobs_[i]();
      } catch (...) {
        thrown_[i] = std::current_exception();
      }
    }
  }
  // The error of the first that failed; throws what it threw.
  Status FirstError() const {
    for (size_t i = 0; i < jobs_.size(); ++i) {
      if (thrown_[i] != nullptr) std::rethrow_exception(thrown_[i]);
      if (!done_[i].ok()) return done_[i];
    }
    return Ok{};
  }

  std::atomic<size_t> helpers = 0;  // that do a part of it; fewer only, once it is withdrawn

 private:
  const std::vector<std::function<Status()>>& jobs_;
  std::vector<Status> done_;
  std::vector<std::exception_ptr> thrown_;
  std::atomic<size_t> next_ = 0;
};

class Helpers {
 public:
  Helpers() = default;
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;
  ~Helpers() {
    {
      const std::unique_lock hold = Lock();
      ending_ = true;
      ++changes_;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  // For at most |most| of them. |list| stays until Withdraw().
  void Offer(JobList* list, size_t most) {
    {
      const std::unique_lock hold = Lock();
      offered_.push_back(list);
      ++changes_;
      const size_t processors = std::max(1u, std::thread::hardware_concurrency());
      try {
        while (idle_ < most && threads_.size() + 1 < processors) {
          threads_.emplace_back([this] { Help(); });
          StartElsewhere(threads_.back().native_handle());
          ++idle_;
        }
      } catch (const std::system_error&) {
        // No more threads than there are.
      }
    }
    changed_.notify_all();
  }

  // Returns when nobody does a part of |list| any more.
  void Withdraw(JobList* list) {
    std::unique_lock hold = Lock();
    offered_.erase(std::find(offered_.begin(), offered_.end(), list));
    changed_.wait(hold, [list] { return list->helpers == 0; });
  }

 private:
  // Held for moments only. Who sleeps for it wakes up, as the kernel sees fit, on the processor of
  // the one that had it, and waits there while others have nothing to do.
  std::unique_lock<std::mutex> Lock() {
    std::unique_lock hold(lock_, std::try_to_lock);
    while (!hold.owns_lock()) {
      std::this_thread::yield();
      (void)hold.try_lock();
    }
    return hold;
  }

  void Help() {
    const LargePagesOfThread memory;
    std::unique_lock hold = Lock();
    while (!ending_) {
      const auto found = std::find_if(offered_.begin(), offered_.end(),
                                      [](const JobList* list) { return list->AnyLeft(); });
      if (found == offered_.end()) {
        const size_t known = changes_;
        changed_.wait(hold, [&] { return changes_ != known; });
        continue;
      }
      JobList* const list = *found;
      ++list->helpers;
      --idle_;
      hold.unlock();
      list->DoWhatIsLeft();
      hold = Lock();
      ++idle_;
      if (--list->helpers == 0) changed_.notify_all();
    }
  }

  std::mutex lock_;  // of all but what is atomic
  std::condition_variable changed_;
  std::vector<JobList*> offered_;
  size_t changes_ = 0;  // of what is offered, and of |ending_|
  bool ending_ = false;
  size_t idle_ = 0;
  std::vector<std::thread> threads_;
};

HelpersKept::HelpersKept() {
  static std::mutex lock;
  static std::weak_ptr<Helpers> of_all;
  const std::lock_guard hold(lock);
  helpers_ = of_all.lock();
  if (helpers_ == nullptr) of_all = helpers_ = std::make_shared<Helpers>();
}

Status InParallel(const std::vector<std::function<Status()>>& jobs) {
  JobList list(jobs);
  if (jobs.size() < 2) {
    list.DoWhatIsLeft();
    return list.FirstError();
  }
  const HelpersKept kept;
  kept.helpers().Offer(&list, jobs.size() - 1);
  list.DoWhatIsLeft();
  kept.helpers().Withdraw(&list);
  return list.FirstError();
}

void ForEachInParallel(size_t count, const std::function<void(size_t)>& do_one) {
  std::vector<std::function<Status()>> jobs;
  for (size_t i = 0; i < count; ++i) {
    jobs.emplace_back([&do_one, i]() -> Status {
      do_one(i);
      return Ok{};
    });
  }
  (void)InParallel(jobs);  // none fails
}

}  // namespace gpubound
