// SPDX-License-Identifier: Apache-2.0
//
// Two actors fill a short queue and a learner takes batches out of it, with nothing but the standard
// library's condition variables between them, and no annotation that says which thread waits for which:
//
//   actor_learner MICROSECONDS
//
// of simulation for each item. Says how long it took, in ns. So that the times are those that they
// are meant to be however busy the machine is, nobody computes: within a scope that says what a
// thread does, sleeping is taken for that.
#include <gpubound/annotate.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatches = 60;
constexpr int kBatch = 4;
constexpr size_t kMostItems = 4;

void WorkFor(std::chrono::microseconds length) {
  GPUBOUND_LAYER(simulator);
  std::this_thread::sleep_for(length);
}

class Queue {
 public:
  void Put(int item) {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      has_room_.wait(lock, [this] { return items_.size() < kMostItems || closed_; });
      items_.push_back(item);
    }
    has_item_.notify_one();
  }
  void Take() {
    {
      std::unique_lock<std::mutex> lock(mutex_);
      has_item_.wait(lock, [this] { return !items_.empty(); });
      items_.pop_front();
    }
    has_room_.notify_one();
  }
  void Close() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      closed_ = true;
    }
    has_room_.notify_all();
  }
  bool closed() {
    const std::lock_guard<std::mutex> lock(mutex_);
    return closed_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable has_item_;
  std::condition_variable has_room_;
  std::deque<int> items_;
  bool closed_ = false;
};

}  // namespace

int main(int, char** arguments) {
  const std::chrono::microseconds simulation(std::atoi(arguments[1]));
  const Clock::time_point begin = Clock::now();
  Queue queue;
  std::vector<std::thread> actors;
  for (int i = 0; i < 2; ++i) {
    actors.emplace_back([&queue, simulation, i] {
      while (!queue.closed()) {
        {
          GPUBOUND_OPERATION("simulation");
          WorkFor(simulation);
        }
        GPUBOUND_OPERATION("put");
        queue.Put(i);
      }
    });
  }
  for (int batch = 0; batch < kBatches; ++batch) {
    {
      GPUBOUND_OPERATION("take batch");
      for (int item = 0; item < kBatch; ++item) queue.Take();
    }
    {
      GPUBOUND_OPERATION("learn");
      WorkFor(std::chrono::milliseconds(3));
    }
    {
      GPUBOUND_OPERATION("checkpoint");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    GPUBOUND_STEP(batch);
  }
  queue.Close();
  for (std::thread& actor : actors) actor.join();
  std::printf("%lld\n",
              static_cast<long long>(std::chrono::nanoseconds(Clock::now() - begin).count()));
}
