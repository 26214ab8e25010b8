// SPDX-License-Identifier: Apache-2.0
//
// A training loop without a framework: environments that a thread pool steps, a policy, a learner.
// The text of docs/cpp.md explains it.
#include <gpubound/annotate.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <queue>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kIterations = 5;
constexpr int kStepsOfARollout = 4;
constexpr int kEnvironments = 8;

// Stands for real work.
void Work(std::chrono::microseconds time) {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < time) {
  }
}

class Pool {
 public:
  explicit Pool(int threads) {
    for (int i = 0; i < threads; ++i) workers_.emplace_back([this] { Serve(); });
  }
  ~Pool() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    work_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  void Add(std::function<void()> job) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      // The operation that is open here is that of the job, on whichever thread it runs.
      jobs_.emplace(gpubound_hand_over(), std::move(job));
      ++unfinished_;
    }
    work_.notify_one();
  }

  void WaitForAll() {
    std::unique_lock<std::mutex> lock(mutex_);
    GPUBOUND_LAYER(wait);
    done_.wait(lock, [this] { return unfinished_ == 0; });
    // What let this thread go on: predictions and the critical path follow it.
    gpubound_woken(reinterpret_cast<uintptr_t>(&done_));
  }

 private:
  void Serve() {
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      work_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
      if (jobs_.empty()) return;
      const std::pair<uint64_t, std::function<void()>> job = std::move(jobs_.front());
      jobs_.pop();
      lock.unlock();
      {
        const gpubound::AdoptedOperation adopted(job.first);
        job.second();
      }
      lock.lock();
      if (--unfinished_ == 0) {
        gpubound_wake(reinterpret_cast<uintptr_t>(&done_));
        done_.notify_all();
      }
    }
  }

  std::mutex mutex_;
  std::condition_variable work_;
  std::condition_variable done_;
  std::queue<std::pair<uint64_t, std::function<void()>>> jobs_;
  int unfinished_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> workers_;
};

void Rollout(Pool* pool) {
  GPUBOUND_PHASE("rollout");
  for (int step = 0; step < kStepsOfARollout; ++step) {
    {
      GPUBOUND_OPERATION("inference");
      Work(std::chrono::microseconds(500));
    }
    GPUBOUND_OPERATION("simulation");
    for (int i = 0; i < kEnvironments; ++i) {
      pool->Add([] {
        GPUBOUND_ANNOTATION("environment step");
        Work(std::chrono::microseconds(200));
      });
    }
    pool->WaitForAll();
  }
}

void Learn() {
  GPUBOUND_PHASE("update");
  {
    GPUBOUND_OPERATION("backpropagation");
    Work(std::chrono::microseconds(3000));
  }
  GPUBOUND_OPERATION("optimizer");
  Work(std::chrono::microseconds(1000));
}

}  // namespace

int main() {
  gpubound_metadata("algorithm", "PPO");
  Pool pool(2);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    Rollout(&pool);
    Learn();
    GPUBOUND_COUNTER("env_steps", (iteration + 1) * kStepsOfARollout * kEnvironments);
    gpubound_progress(iteration + 1, kIterations);
    GPUBOUND_STEP(iteration);  // the iteration that ends here
  }
  std::puts("trained");
}
