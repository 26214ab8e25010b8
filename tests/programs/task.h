// SPDX-License-Identifier: Apache-2.0
//
// A task type of a program's own, with the promise of coroutine.hpp: lazy, awaited by symmetric
// transfer. A task belongs to whoever awaits or starts it.
#ifndef GPUBOUND_TESTS_PROGRAMS_TASK_H_
#define GPUBOUND_TESTS_PROGRAMS_TASK_H_

#include <gpubound/coroutine.hpp>

#include <coroutine>
#include <exception>
#include <utility>

namespace gpubound {

class [[nodiscard]] Task {
 public:
  struct promise_type : CoroutinePromise {
    Task get_return_object() noexcept { return Task(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    auto final_suspend() noexcept {
      struct Awaiter {
        bool await_ready() noexcept { return false; }
        std::coroutine_handle<> await_suspend(Handle task) noexcept {
          const std::coroutine_handle<> next = task.promise().continuation;
          return next ? next : std::noop_coroutine();
        }
        void await_resume() noexcept {}
      };
      return Awaiter();
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }

    std::coroutine_handle<> continuation;
  };
  using Handle = std::coroutine_handle<promise_type>;

  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&&) = delete;
  ~Task() {
    if (handle_) handle_.destroy();
  }

  auto operator co_await() && noexcept {
    struct Awaiter {
      Handle task;
      bool await_ready() noexcept { return false; }
      std::coroutine_handle<> await_suspend(std::coroutine_handle<> awaiting) noexcept {
        task.promise().continuation = awaiting;
        return task;
      }
      void await_resume() noexcept {}
    };
    return Awaiter{handle_};
  }

  // Runs it until it is suspended for the first time.
  void Start() { handle_.resume(); }
  bool done() const { return handle_.done(); }

 private:
  explicit Task(Handle handle) noexcept : handle_(handle) {}
  Handle handle_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_PROGRAMS_TASK_H_
