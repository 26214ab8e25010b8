// SPDX-License-Identifier: Apache-2.0
//
// coroutines tasks|asio: coroutines with scopes, on several threads, that wait in the middle of their
// scopes. Prints as JSON how long each operation worked, in ns, by the clocks of the program.
#include <gpubound/coroutine.hpp>

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <coroutine>
#include <cstdio>
#include <functional>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "tests/programs/task.h"

namespace gpubound {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr int kCoroutines = 4;
constexpr int kTurns = 8;
constexpr milliseconds kWait(5);

std::atomic<int64_t> g_episode_ns{0};
std::atomic<int64_t> g_policy_ns{0};

// Adds what it took, by the clock.
void Work(milliseconds time, std::atomic<int64_t>* account) {
  const Clock::time_point begin = Clock::now();
  while (Clock::now() - begin < time) {
  }
  *account += (Clock::now() - begin).count();
}

// Threads that resume coroutines when their time has come.
class Pool {
 public:
  auto Sleep(milliseconds time) {
    struct Awaiter {
      Pool* pool;
      Clock::time_point due;
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<> waiting) { pool->Add(due, waiting); }
      void await_resume() const noexcept {}
    };
    return Awaiter{this, Clock::now() + time};
  }

  // Until |done| says so.
  void Run(const std::function<bool()>& done) {
    while (!done()) {
      if (const std::coroutine_handle<> next = Due()) {
        next.resume();
      } else {
        std::this_thread::sleep_for(std::chrono::microseconds(200));
      }
    }
  }

 private:
  void Add(Clock::time_point due, std::coroutine_handle<> waiting) {
    const std::lock_guard lock(mutex_);
    waiting_.emplace_back(due, waiting);
  }
  std::coroutine_handle<> Due() {
    const std::lock_guard lock(mutex_);
    for (auto& entry : waiting_) {
      if (entry.first > Clock::now()) continue;
      std::swap(entry, waiting_.back());
      const std::coroutine_handle<> due = waiting_.back().second;
      waiting_.pop_back();
      return due;
    }
    return {};
  }

  std::mutex mutex_;
  std::vector<std::pair<Clock::time_point, std::coroutine_handle<>>> waiting_;
};

Task Decide(Pool* pool) {
  GPUBOUND_COROUTINE_OPERATION("policy");
  Work(milliseconds(2), &g_policy_ns);
  co_await pool->Sleep(kWait);
  Work(milliseconds(1), &g_policy_ns);
}

Task Play(Pool* pool, std::atomic<int>* finished) {
  for (int turn = 0; turn < kTurns; ++turn) {
    GPUBOUND_COROUTINE_OPERATION("episode");
    Work(milliseconds(3), &g_episode_ns);
    co_await pool->Sleep(kWait);
    co_await Decide(pool);
    Work(milliseconds(2), &g_episode_ns);
  }
  ++*finished;
}

void RunTasks() {
  Pool pool;
  std::atomic<int> finished{0};
  const auto done = [&] { return finished == kCoroutines; };
  std::vector<Task> tasks;
  for (int i = 0; i < kCoroutines; ++i) tasks.push_back(Play(&pool, &finished));
  for (Task& task : tasks) task.Start();
  std::thread other([&] { pool.Run(done); });
  pool.Run(done);
  other.join();
}

asio::awaitable<void> Sleep(asio::io_context* io) {
  asio::steady_timer timer(*io, kWait);
  co_await Suspended(timer.async_wait(asio::use_awaitable));
}

asio::awaitable<void> DecideInAsio(asio::io_context* io) {
  GPUBOUND_COROUTINE_OPERATION("policy");
  Work(milliseconds(2), &g_policy_ns);
  co_await Sleep(io);
  Work(milliseconds(1), &g_policy_ns);
}

asio::awaitable<void> PlayInAsio(asio::io_context* io) {
  for (int turn = 0; turn < kTurns; ++turn) {
    GPUBOUND_COROUTINE_OPERATION("episode");
    Work(milliseconds(3), &g_episode_ns);
    co_await Sleep(io);
    co_await DecideInAsio(io);
    Work(milliseconds(2), &g_episode_ns);
  }
}

void RunAsio() {
  asio::io_context io(2);
  for (int i = 0; i < kCoroutines; ++i) asio::co_spawn(io, PlayInAsio(&io), asio::detached);
  std::thread other([&] { io.run(); });
  io.run();
  other.join();
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  const std::string_view action = argc > 1 ? argv[1] : "";
  if (action == "tasks") {
    gpubound::RunTasks();
  } else if (action == "asio") {
    gpubound::RunAsio();
  } else {
    std::fprintf(stderr, "coroutines: found '%s', expected tasks or asio\n", argv[1]);
    return 2;
  }
  std::printf("{\"episode\": %lld, \"policy\": %lld}\n",
              static_cast<long long>(gpubound::g_episode_ns.load()),
              static_cast<long long>(gpubound::g_policy_ns.load()));
}
