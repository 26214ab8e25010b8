// SPDX-License-Identifier: Apache-2.0
//
// Start, fork and end of the recording of this process. Holds the only mutable globals of the
// collector; what they own is leaked on purpose, because threads outlive main.
#include "libprofiler/lifecycle.h"

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "libprofiler/collector.h"
#include "libprofiler/current_thread.h"
#include "libprofiler/debug_log.h"
#include "libprofiler/log.h"
#include "libprofiler/native_waits.h"
#include "libprofiler/own_threads.h"
#include "libprofiler/signal_shield.h"
#include "libprofiler/thread_sanitizer.h"
#include "libprofiler/unrecorded.h"
#include "proto/schema.h"

namespace gpubound {
namespace {

// As g_no_buffer: where a thread points while it makes its own, so that annotated code inside that
// is not recorded.
constinit ThreadBuffer g_busy_buffer = {};
constinit ThreadBuffer g_buffer_at_lock = {};

enum class State : int { kIdle, kRecording, kFinished };
constinit std::atomic<State> g_state{State::kIdle};
constinit std::mutex g_mutex;  // serialises start, first in rank of all

// The way to the collector, in a page that reads as zero in every fork child.
struct Anchor {
  std::atomic<Collector*> collector;
};
constinit std::atomic<Anchor*> g_anchor{nullptr};

// The process that all of this speaks of; 0: of none yet.
constinit std::atomic<pid_t> g_owner{0};
constinit std::atomic<pid_t> g_refused{0};           // that has been told so
constinit std::atomic<bool> g_stranger_left{false};  // what it says
constinit std::atomic<bool> g_refused_child{false};  // and has not been told so

constinit pthread_key_t g_thread_end_key = 0;
constinit bool g_has_thread_end_key = false;
constinit bool g_loaded = false;
constinit std::atomic<bool> g_has_shim{false};
ProcessStart g_start;
// Across a fork: which thread holds every lock that its child will need (several may fork at once,
// and a child has the pthread_t of the thread that forked), and the collector whose locks these are.
constinit std::atomic<pthread_t> g_clean_forker{};
constinit Collector* g_forking = nullptr;
// The parent's, in a child: its names go on to mean the same.
constinit Collector* g_parent = nullptr;
// What the thread that forks has open: its ends in the child are those of the parent's scopes.
constinit uint32_t g_open_at_fork[kMaxOpenScopes] = {};
constinit uint32_t g_open_depth_at_fork = 0;
constinit pthread_t g_forked_thread{};  // of a child, the one that it began with
// Every collector, those of forked ancestors too: leak checkers do not search the anchor's page.
std::vector<Collector*>* g_leaked = nullptr;
// Counted here while there is no collector whose ledger could.
constinit std::atomic<uint64_t> g_unrecorded_children{0};

void OnThreadEnd(void* buffer_of_thread) {
  ThreadBuffer* buffer = static_cast<ThreadBuffer*>(buffer_of_thread);
  Collector* collector = CurrentCollector();
  if (t_thread_buffer != buffer) return;
  t_thread_buffer = nullptr;
  if (collector == nullptr || buffer->context() != collector->context()) return;
  try {
    collector->UnregisterThread(buffer, CurrentThreadName());
  } catch (const std::exception&) {  // out of memory: the buffer's memory is not reused
  }
}

// A child without our fork handlers: of _Fork or clone, or of a fork that began before they were
// registered, since the C library runs those that it had then. The mutex may be held by a thread
// that does not exist here, and all of it may be the parent's own memory, so that nothing is
// changed. What has begun recording (g_state) finds no collector there.
bool IsStranger() {
  const pid_t self = getpid();
  pid_t owner = 0;
  return !g_owner.compare_exchange_strong(owner, self) && owner != self;
}

void SayUnrecorded(const ProcessStart& start, const char* why) {
  if (!LeaveUnrecorded(start, why)) return;
  LogOnce("process %d is not recorded: %s", static_cast<int>(start.pid), why);
}

// The same where something was to be recorded.
bool RefuseStranger() {
  if (!IsStranger()) return false;
  const pid_t self = getpid();
  if (g_refused.exchange(self) != self) {
    SayUnrecorded(StampNow(),
                  "it was made while its parent started the recorder, or without fork handlers");
  }
  return true;
}

// A child that was made without fork handlers, in which the way to its parent's collector is wiped.
// It may hold any lock of its parent's, and nothing of it is to be seen on stderr.
void LeaveThatIsStranger() {
  if (g_stranger_left.exchange(true)) return;
  LeaveUnrecorded(StampNow(), "it was made without fork handlers (_Fork, clone)");
}

// A fork child that found locks taken, and now has something to record.
void SayIfRefusedChild() {
  if (!g_refused_child.exchange(false)) return;
  SayUnrecorded(g_start, "other forks of its parent took too long");
}

// FinishRecording() of this very process.
void EndRecording(const char* how) noexcept {
  const CancelBlock no_cancel;
  Collector* collector = CurrentCollector();
  if (collector == nullptr) return;
  State recording = State::kRecording;
  if (!g_state.compare_exchange_strong(recording, State::kFinished)) {
    // Somebody else ends it, or has; the process must not be gone before.
    if (recording == State::kFinished) {
      collector->AwaitEnd();
      collector->AbandonSources();
    }
    return;
  }
  DebugLog("the recording ends: %s", how);
  collector->FinishElsewhere(how);
}

// A sandbox may let a program leave and forbid it to ask for its process id.
void OnExitHandlers(const char* how) {
  if (!MayBeVforkChild()) return EndRecording(how);
  FinishRecording(how);
}
void OnExit() { OnExitHandlers("exit"); }
void OnQuickExit() { OnExitHandlers("quick_exit"); }

bool LockUntil(std::mutex* mutex, uint64_t deadline_ns) {
  const CancelBlock no_cancel;
  const timespec pause = {0, 200'000};
  while (!mutex->try_lock()) {
    if (ReadMonotonicNs() > deadline_ns) return false;
    nanosleep(&pause, nullptr);
  }
  return true;
}

// What a fork finds locked stays locked in the child for ever. So take the locks first that the
// child will need: start, SQLite, names (last, since every thread may want them). Bounded, since a
// fork must not hang on a slow disk: if it takes too long, the child is not recorded.
constexpr uint64_t kForkPatienceNs = 100'000'000;

void BeforeFork() {
  const uint64_t deadline_ns = ReadMonotonicNs() + kForkPatienceNs;
  if (IsStranger()) return;
  if (!LockUntil(&g_mutex, deadline_ns)) return;
  Collector* collector = CurrentCollector();
  if (collector != nullptr) {
    if (!LockUntil(&collector->io_mutex(), deadline_ns)) {
      g_mutex.unlock();
      return;
    }
    if (!LockUntil(&collector->labels()->mutex(), deadline_ns)) {
      collector->io_mutex().unlock();
      g_mutex.unlock();
      return;
    }
  }
  g_forking = collector;
  g_open_depth_at_fork = BufferOfThisThread()->open_depth();
  for (uint32_t i = 0; i < g_open_depth_at_fork; ++i) {
    g_open_at_fork[i] = BufferOfThisThread()->open_scope(i);
  }
  g_clean_forker = pthread_self();
}

bool ThisForkIsClean() { return g_clean_forker == pthread_self(); }

void CountUnrecordedChildren(Collector* collector) {
  const uint64_t children = g_unrecorded_children.exchange(0);
  if (children != 0) {
    collector->ledger()->Add(LedgerCounter::fork_children_unrecorded, children);
  }
}

void ReleaseForkLocks() {
  g_clean_forker = pthread_t{};
  if (g_forking != nullptr) {
    g_forking->io_mutex().unlock();
    g_forking->labels()->mutex().unlock();
  }
  g_mutex.unlock();
}

void AfterForkInParent() {
  if (ThisForkIsClean()) return ReleaseForkLocks();
  g_unrecorded_children.fetch_add(1);
  if (Collector* collector = CurrentCollector()) CountUnrecordedChildren(collector);
}

void AfterForkInChild() {
  t_thread_buffer = nullptr;
  t_begun_by = 0;
  ForgetNativeWaits();
  g_unrecorded_children = 0;
  ForgetOwnThreads();
  g_owner = getpid();
  if (!ThisForkIsClean()) {
    // Another fork may have held the lock, by a thread that does not exist here. Whoever enters the
    // library takes it.
    new (&g_mutex) std::mutex;
    g_clean_forker = pthread_t{};
    g_forking = nullptr;
    g_state = State::kFinished;
    if (!ReadShimStamp(&g_start)) g_start = StampNow();
    g_refused_child = true;
    return;
  }
  if (g_forking != nullptr) {
    g_forking->AbandonInForkChild();
    g_parent = g_forking;
  }
  ReleaseForkLocks();
  // A child of a child that was made without fork handlers: its names may be half written.
  if (g_forking == nullptr && g_state == State::kRecording) g_state = State::kFinished;
  if (g_forking != nullptr) g_state = State::kIdle;
  if (!ReadShimStamp(&g_start)) g_start = StampNow();
  g_start.forked = true;
  g_forked_thread = pthread_self();
}

// With g_mutex held.
bool MakeAnchorLocked() {
  if (g_anchor.load(std::memory_order_relaxed) != nullptr) return true;
  bool wiped_on_fork = false;
  Anchor* anchor = static_cast<Anchor*>(MapWipedOnFork(sizeof(Anchor), &wiped_on_fork));
  if (anchor == nullptr || !wiped_on_fork) return false;
  g_anchor.store(anchor, std::memory_order_release);
  return true;
}

// With g_mutex held.
Collector* StartLocked() {
  if (!MakeAnchorLocked()) {
    LeaveUnrecorded(g_start, "memory could not be protected across fork");
    LogOnce("this kernel cannot protect memory across fork (Linux 4.14 can); nothing is recorded");
    return nullptr;
  }
  CollectorOptions options;
  options.settings = ReadSettings();
  StartDebugLog(options.settings.run_directory.c_str(), g_start);
  if (options.settings.disabled) {
    DebugLog("nothing is recorded: GPUBOUND_DISABLE is set");
    return nullptr;
  }
  if (options.settings.end_ns != 0 && ReadMonotonicNs() >= options.settings.end_ns) {
    DebugLog("nothing is recorded: the recording of the run has ended (GPUBOUND_END_NS)");
    return nullptr;
  }
  options.start = g_start;
  if (g_parent != nullptr) {
    options.labels = g_parent->labels();
    options.empty_segment = g_parent->empty_segment();
  }
  std::unique_ptr<Collector> collector = Collector::Create(std::move(options));
  if (collector == nullptr) return nullptr;
  collector->UseThreadLocalBuffers();
  StartNativeWaits(collector->labels().get());
  if (!g_has_shim) collector->device_tables()->AddFact(kPreloadFact, kPreloadReplaced);
  if (g_leaked == nullptr) g_leaked = new std::vector<Collector*>();
  g_leaked->push_back(collector.get());
  g_anchor.load()->collector.store(collector.get(), std::memory_order_release);
  CountUnrecordedChildren(collector.get());
  DebugLog("records%s; %s", g_has_shim ? "" : ", though libgpubound.so is not preloaded",
           g_start.forked ? "a fork of a recorded process" : "begun by this program");
  return collector.release();
}

}  // namespace

Collector* CurrentCollector() noexcept {
  Anchor* anchor = g_anchor.load(std::memory_order_acquire);
  return anchor == nullptr ? nullptr : anchor->collector.load(std::memory_order_acquire);
}

Collector* EnsureCollector() noexcept {
  if (g_state.load(std::memory_order_acquire) == State::kIdle) {
    const CancelBlock no_cancel;
    if (SandboxRefuses()) {  // of a fork child: the library was loaded before
      g_state.store(State::kFinished, std::memory_order_release);
      return nullptr;
    }
    if (RefuseStranger()) return nullptr;
    LoadOnce();
    LookForPython();
    FindNativeWaiters();
    const SignalShield shield;
    const std::lock_guard<std::mutex> lock(g_mutex);
    if (g_state.load(std::memory_order_relaxed) == State::kIdle) {
      Collector* started = nullptr;
      try {
        started = StartLocked();
      } catch (const std::exception& failure) {
        LeaveUnrecorded(g_start, failure.what());
        LogOnce("could not start: %s; nothing is recorded", failure.what());
      }
      SayReleased(&g_state);
      g_state.store(started != nullptr ? State::kRecording : State::kFinished,
                    std::memory_order_release);
    }
  }
  if (g_state.load(std::memory_order_acquire) != State::kRecording) {
    SayIfRefusedChild();
    return nullptr;
  }
  SayAcquired(&g_state);
  Collector* collector = CurrentCollector();
  if (collector == nullptr) LeaveThatIsStranger();
  return collector;
}

constinit thread_local ThreadBuffer* t_thread_buffer = nullptr;
constinit ThreadBuffer g_no_buffer = {};
constinit thread_local uint64_t t_begun_by = 0;

void LoadOnce() noexcept {
  if (RefuseStranger()) return;
  // Before the lock: this asks the dynamic linker, whose own lock a thread may hold that wants
  // ours.
  ProcessStart start;
  if (ReadShimStamp(&start)) {
    g_has_shim = true;
  } else {
    start = StampNow();
  }
  const std::lock_guard<std::mutex> lock(g_mutex);
  if (g_loaded) return;
  g_loaded = true;
  g_start = start;
  g_has_thread_end_key = pthread_key_create(&g_thread_end_key, &OnThreadEnd) == 0;
  pthread_atfork(&BeforeFork, &AfterForkInParent, &AfterForkInChild);
  std::atexit(&OnExit);
  std::at_quick_exit(&OnQuickExit);
}

void NoteShim() noexcept {
  if (g_has_shim.exchange(true)) return;
  Collector* collector = CurrentCollector();
  if (collector == nullptr) return;
  try {
    collector->device_tables()->AddFact(kPreloadFact, kPreloadLate);
  } catch (const std::exception&) {  // out of memory: the report says less than it could
  }
}

ThreadBuffer* BufferAtLock() noexcept { return &g_buffer_at_lock; }

ThreadBuffer* AttachCallingThread(const ThreadBuffer* stale) noexcept {
  if (stale != BufferOfThisThread() || stale == &g_busy_buffer || AtLock::IsHere()) return nullptr;
  if (g_state.load(std::memory_order_relaxed) == State::kFinished) {
    SayIfRefusedChild();
    return nullptr;
  }
  const CancelBlock no_cancel;
  t_thread_buffer = &g_busy_buffer;
  ThreadBuffer* buffer = nullptr;
  if (Collector* collector = EnsureCollector()) {
    try {
      buffer = collector->RegisterThread(CurrentTid(), CurrentThreadName());
    } catch (const std::exception&) {  // out of memory: this thread is not recorded
    }
    if (buffer == nullptr) collector->ledger()->Add(LedgerCounter::scope_events_dropped, 1);
  }
  if (buffer != nullptr && g_forked_thread == pthread_self()) {
    g_forked_thread = pthread_t{};
    for (uint32_t i = 0; i < g_open_depth_at_fork; ++i) buffer->ExpectEndOf(g_open_at_fork[i]);
  }
  t_thread_buffer = buffer;
  // Where the program has taken all keys up, the buffers of its threads outlive them.
  if (buffer != nullptr && g_has_thread_end_key) pthread_setspecific(g_thread_end_key, buffer);
  return buffer;
}

bool RecordingIsOver() noexcept {
  const Collector* collector = CurrentCollector();
  if (collector != nullptr) return collector->ended();
  return g_state.load(std::memory_order_acquire) == State::kFinished;
}

DeviceHost* EnsureRecording() noexcept {
  Collector* collector = EnsureCollector();
  return collector == nullptr ? nullptr : collector->host();
}

void StartDeviceSources(const DeviceSourceFactory* factories, size_t count) noexcept {
  const CancelBlock no_cancel;
  Collector* collector = EnsureCollector();
  if (collector == nullptr || !collector->ClaimSources()) return;
  DebugLog("the program initialises CUDA: %zu device sources start", count);
  try {
    for (size_t i = 0; i < count; ++i) {
      if (std::unique_ptr<DeviceSource> source = factories[i]()) {
        collector->StartSource(std::move(source));
      }
    }
  } catch (const std::exception& failure) {
    LogOnce("could not start recording the GPU: %s", failure.what());
  }
  EndBeforeHandlersSoFar();
}

void EndBeforeHandlersSoFar() noexcept {
  std::atexit(&OnExit);
  std::at_quick_exit(&OnQuickExit);
}

void YieldDevices(const char* to) noexcept {
  Collector* collector = CurrentCollector();
  if (collector == nullptr) return;
  const State state = g_state.load(std::memory_order_acquire);
  if (state != State::kRecording && !collector->program_went_on()) return;
  try {
    collector->YieldSources(to);
  } catch (const std::exception&) {  // out of memory: the other tool will be told that it is taken
  }
}

void FinishRecording(const char* how) noexcept {
  const Collector* collector = CurrentCollector();
  // A vfork child shares our memory and leaves through _exit: its end is not ours.
  if (collector == nullptr || collector->start().pid != static_cast<uint64_t>(getpid())) return;
  EndRecording(how);
}

}  // namespace gpubound
