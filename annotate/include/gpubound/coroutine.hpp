// SPDX-License-Identifier: Apache-2.0
//
// Scopes of C++20 coroutines. A scope of annotate.h belongs to a thread; these belong to the coroutine
// that opened them: while it is suspended they own no time, and they go on on whichever thread
// resumes it.
//
//   asio::awaitable<void> Play(asio::steady_timer& timer) {
//     GPUBOUND_COROUTINE_OPERATION("episode");
//     Simulate();                                                              // of "episode"
//     co_await gpubound::Suspended(timer.async_wait(asio::use_awaitable));     // of nobody
//     Simulate();                                                              // of "episode" again
//   }
//
// Suspended() goes around what really waits: timers, sockets, a place in a thread pool. A coroutine
// that is awaited as a function is called needs none; its time belongs to the scopes of who awaits
// it. A task type of one's own derives its promise_type from gpubound::CoroutinePromise instead, and
// writes plain co_await: what is no such task itself is then Suspended().
//
// A coroutine that is started by another one without being awaited begins with
//
//   gpubound::CoroutineRoot root;
//
// so that its suspension leaves the scopes of the other one alone.
//
// A scope that moves to another thread without Suspended() is counted as unbalanced, and the report
// says "incomplete". A task may have 16 such scopes open at a time (kCoroutineScopes); further ones
// are counted likewise. Everything may be used on any thread. Scopes never throw or allocate.
#ifndef GPUBOUND_COROUTINE_HPP_
#define GPUBOUND_COROUTINE_HPP_

#if __cplusplus < 202002L
#error "gpubound/coroutine.hpp needs C++20: compile with -std=c++20 or later"
#endif

#include <array>
#include <coroutine>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>

#include "scope.hpp"

namespace gpubound {
inline namespace GPUBOUND_SCOPE_NAMESPACE_ {

inline constexpr uint32_t kCoroutineScopes = 16;

namespace detail {

// A scope that is open: whose, and under which label. The owner is only compared, never followed:
// it may have gone.
struct CoroutineEntry {
  const void* owner;
  uint32_t label;  // kCoroutineFloor: no scope; what follows belongs to another task
  uint32_t floor;  // of what lies below, where it is no scope
};
inline constexpr uint32_t kCoroutineFloor = UINT32_MAX;

// What is left of a task's scopes while it is suspended.
struct CoroutineScopesHeld {
  const void* root = nullptr;
  uint32_t count = 0;
  std::array<CoroutineEntry, kCoroutineScopes> entries;
};

#ifndef GPUBOUND_DISABLE

// The scopes of coroutines that are open on a thread, those of the task that runs from |floor| on.
struct CoroutineThread {
  uint32_t count;
  uint32_t floor;
  std::array<CoroutineEntry, 4 * kCoroutineScopes> entries;
};
GPUBOUND_HIDDEN_ inline constinit thread_local CoroutineThread t_coroutines{};

// None of these is inline: a compiler may keep the address of a thread's variable over a co_await.
#define GPUBOUND_COROUTINE_CALL_ GPUBOUND_HIDDEN_ __attribute__((noinline)) inline

GPUBOUND_COROUTINE_CALL_ void PushFloor(const void* root) noexcept {
  CoroutineThread& thread = t_coroutines;
  if (thread.count == thread.entries.size()) return;
  thread.entries[thread.count++] = {root, kCoroutineFloor, thread.floor};
  thread.floor = thread.count;
}

// A task without open scopes and without a root is taken to have ended: nothing says so.
GPUBOUND_COROUTINE_CALL_ void DropEndedTasks() noexcept {
  CoroutineThread& thread = t_coroutines;
  while (thread.count > 0 && thread.count == thread.floor &&
         thread.entries[thread.count - 1].owner == nullptr) {
    thread.floor = thread.entries[--thread.count].floor;
  }
}

GPUBOUND_COROUTINE_CALL_ void EndRoot(const void* root) noexcept {
  CoroutineThread& thread = t_coroutines;
  DropEndedTasks();
  if (thread.count > 0 && thread.count == thread.floor &&
      thread.entries[thread.count - 1].owner == root) {
    thread.floor = thread.entries[--thread.count].floor;
  }
}

GPUBOUND_COROUTINE_CALL_ uint32_t OpenInTask(const void* owner, uint32_t label) noexcept {
  if (label == 0) return 0;
  CoroutineThread& thread = t_coroutines;
  if (thread.count == thread.entries.size() || thread.count - thread.floor == kCoroutineScopes) {
    gpubound_end_elsewhere_();
    return 0;
  }
  thread.entries[thread.count++] = {owner, label, 0};
  return gpubound_begin_label_(label);
}

// Out of order too, as an optional may end.
GPUBOUND_COROUTINE_CALL_ void CloseInTask(const void* owner, uint32_t label) noexcept {
  CoroutineThread& thread = t_coroutines;
  DropEndedTasks();
  uint32_t at = thread.count;
  while (at > 0 &&
         (thread.entries[at - 1].owner != owner || thread.entries[at - 1].label != label)) {
    --at;
  }
  if (at == 0) return gpubound_end_elsewhere_();
  gpubound_end_label_(label);
  for (; at < thread.count; ++at) {
    thread.entries[at - 1] = thread.entries[at];
    if (thread.entries[at - 1].label == kCoroutineFloor && thread.entries[at - 1].floor >= at) {
      --thread.entries[at - 1].floor;
    }
  }
  --thread.count;
  if (thread.floor > thread.count) thread.floor = thread.count;
}

GPUBOUND_COROUTINE_CALL_ void CloseTask(CoroutineScopesHeld* held) noexcept {
  CoroutineThread& thread = t_coroutines;
  if (thread.count == 0) return;
  DropEndedTasks();
  while (thread.count > thread.floor) {
    const CoroutineEntry& top = thread.entries[--thread.count];
    held->entries[held->count++] = top;  // innermost first
    gpubound_end_label_(top.label);
  }
  if (thread.count == 0) return;
  const CoroutineEntry& floor = thread.entries[--thread.count];
  held->root = floor.owner;
  thread.floor = floor.floor;
}

GPUBOUND_COROUTINE_CALL_ void OpenTask(CoroutineScopesHeld* held) noexcept {
  CoroutineThread& thread = t_coroutines;
  if (held->root != nullptr || (held->count > 0 && thread.count > 0)) PushFloor(held->root);
  while (held->count > 0 && thread.count < thread.entries.size()) {
    const CoroutineEntry& entry = held->entries[--held->count];
    thread.entries[thread.count++] = entry;
    gpubound_begin_label_(entry.label);
  }
}

#undef GPUBOUND_COROUTINE_CALL_

#else

inline uint32_t OpenInTask(const void*, uint32_t) noexcept { return 0; }
inline void CloseInTask(const void*, uint32_t) noexcept {}
inline void CloseTask(CoroutineScopesHeld*) noexcept {}
inline void OpenTask(CoroutineScopesHeld*) noexcept {}
inline void PushFloor(const void*) noexcept {}
inline void EndRoot(const void*) noexcept {}

#endif

// What GPUBOUND_COROUTINE_OPERATION declares.
class CoroutineScope {
 public:
  explicit CoroutineScope(uint32_t label) noexcept : label_(OpenInTask(this, label)) {}
  ~CoroutineScope() {
    if (label_ != 0) CloseInTask(this, label_);
  }
  CoroutineScope(const CoroutineScope&) = delete;
  CoroutineScope& operator=(const CoroutineScope&) = delete;

 private:
  const uint32_t label_;
};

}  // namespace detail

// The rest of the block, in a coroutine, is the operation |name|.
class CoroutineOperation : private detail::CoroutineScope {
 public:
  [[nodiscard]] explicit CoroutineOperation(std::string_view name) noexcept
      : CoroutineScope(gpubound_name_label_(GPUBOUND_LABEL_OPERATION, name.data(), name.size())) {}
  [[nodiscard]] explicit CoroutineOperation(const char* name) noexcept
      : CoroutineOperation(detail::NameOf(name)) {}
};

// Separates a coroutine that nobody awaits from the one that starts it.
class CoroutineRoot {
 public:
  CoroutineRoot() noexcept { detail::PushFloor(this); }
  ~CoroutineRoot() { detail::EndRoot(this); }
  CoroutineRoot(const CoroutineRoot&) = delete;
  CoroutineRoot& operator=(const CoroutineRoot&) = delete;
};

// As long as it lives, the scopes of the task that runs on this thread are closed; its destructor
// opens them again, on whichever thread it runs. For schedulers; coroutines have Suspended().
class SuspendedScopes {
 public:
  SuspendedScopes() noexcept { detail::CloseTask(&held_); }
  ~SuspendedScopes() { detail::OpenTask(&held_); }
  SuspendedScopes(const SuspendedScopes&) = delete;
  SuspendedScopes& operator=(const SuspendedScopes&) = delete;

 private:
  detail::CoroutineScopesHeld held_;
};

namespace detail {

template <typename Awaitable>
decltype(auto) AwaiterOf(Awaitable&& awaitable) {
  if constexpr (requires { std::forward<Awaitable>(awaitable).operator co_await(); }) {
    return std::forward<Awaitable>(awaitable).operator co_await();
  } else if constexpr (requires { operator co_await(std::forward<Awaitable>(awaitable)); }) {
    return operator co_await(std::forward<Awaitable>(awaitable));
  } else {
    return std::forward<Awaitable>(awaitable);
  }
}

// Keeps |awaitable| as long as the co_await lasts; it is a reference where the program's own is.
template <typename Awaitable>
class SuspendedAwaiter {
 public:
  explicit SuspendedAwaiter(Awaitable&& awaitable)
      : awaitable_(std::forward<Awaitable>(awaitable)),
        awaiter_(AwaiterOf(std::forward<Awaitable>(awaitable_))) {}
  SuspendedAwaiter(const SuspendedAwaiter&) = delete;
  SuspendedAwaiter& operator=(const SuspendedAwaiter&) = delete;

  bool await_ready() { return awaiter_.await_ready(); }
  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> coroutine) {
    suspended_.emplace();
    // The coroutine may have ended on another thread before this returns.
    return awaiter_.await_suspend(coroutine);
  }
  decltype(auto) await_resume() {
    suspended_.reset();
    return awaiter_.await_resume();
  }

 private:
  Awaitable awaitable_;
  decltype(AwaiterOf(std::declval<Awaitable>())) awaiter_;
  std::optional<SuspendedScopes> suspended_;
};

// For an await_transform that has nothing to add: g++ 12 copies what it returns by reference.
template <typename Awaiter>
struct BorrowedAwaiter {
  bool await_ready() { return awaiter.await_ready(); }
  template <typename Promise>
  auto await_suspend(std::coroutine_handle<Promise> coroutine) {
    return awaiter.await_suspend(coroutine);
  }
  decltype(auto) await_resume() { return awaiter.await_resume(); }

  Awaiter& awaiter;
};

template <typename T>
inline constexpr bool kSuspends = false;
template <typename Awaitable>
inline constexpr bool kSuspends<SuspendedAwaiter<Awaitable>> = true;

template <typename T>
concept CoroutineType = requires { typename std::coroutine_traits<T>::promise_type; };

}  // namespace detail

// What to await in place of |awaitable|: the scopes of the task own no time until it goes on.
template <typename Awaitable>
  requires(!detail::CoroutineType<std::remove_cvref_t<Awaitable>>)
[[nodiscard]] auto Suspended(Awaitable&& awaitable) {
  return detail::SuspendedAwaiter<Awaitable>(std::forward<Awaitable>(awaitable));
}
// Likewise for coroutine types whose coroutines await nothing but their like, as asio::awaitable.
template <detail::CoroutineType Awaitable>
[[nodiscard]] Awaitable Suspended(Awaitable awaitable) {
  const SuspendedScopes suspended;
  co_return co_await std::move(awaitable);
}

class CoroutinePromise;

namespace detail {

template <typename T>
inline constexpr bool kHasOurPromise = false;
template <CoroutineType T>
inline constexpr bool kHasOurPromise<T> =
    std::is_base_of_v<CoroutinePromise, typename std::coroutine_traits<T>::promise_type>;

}  // namespace detail

// Base of a promise_type: its coroutines await everything as Suspended(), but for coroutines that
// have such a promise themselves.
class CoroutinePromise {
 public:
  template <typename Awaitable>
  decltype(auto) await_transform(Awaitable&& awaitable) {
    using Type = std::remove_cvref_t<Awaitable>;
    if constexpr (detail::kHasOurPromise<Type>) {
      return std::forward<Awaitable>(awaitable);
    } else if constexpr (detail::kSuspends<Type>) {
      return detail::BorrowedAwaiter<Type>{awaitable};
    } else {
      return detail::SuspendedAwaiter<Awaitable>(std::forward<Awaitable>(awaitable));
    }
  }
};

}  // namespace GPUBOUND_SCOPE_NAMESPACE_
}  // namespace gpubound

#ifdef GPUBOUND_DISABLE
#define GPUBOUND_COROUTINE_LABEL_(kind, name) GPUBOUND_NARROW_(uint32_t, sizeof("" name "") * 0)
#else
#define GPUBOUND_COROUTINE_LABEL_(kind, name) \
  gpubound_site_label_(GPUBOUND_SITE_(), kind, GPUBOUND_LAYER_unset, "" name "")
#endif
#define GPUBOUND_NAMED_COROUTINE_SCOPE_(scope, kind, name)                         \
  ::gpubound::detail::CoroutineScope scope{GPUBOUND_COROUTINE_LABEL_(kind, name)}; \
  static_assert(sizeof(scope) != 0, "a scope stands in a block in braces")
#define GPUBOUND_COROUTINE_SCOPE_(kind, name) \
  GPUBOUND_NAMED_COROUTINE_SCOPE_(GPUBOUND_JOIN(gpubound_scope_in_braces_, __COUNTER__), kind, name)

// As GPUBOUND_OPERATION and GPUBOUND_ANNOTATION, in a coroutine.
#define GPUBOUND_COROUTINE_OPERATION(name) GPUBOUND_COROUTINE_SCOPE_(GPUBOUND_LABEL_OPERATION, name)
#define GPUBOUND_COROUTINE_ANNOTATION(name) \
  GPUBOUND_COROUTINE_SCOPE_(GPUBOUND_LABEL_ANNOTATION, name)

#endif  // GPUBOUND_COROUTINE_HPP_
