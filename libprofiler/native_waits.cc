// SPDX-License-Identifier: Apache-2.0
//
// Who waits where. Threads that wait at an object, as a condition variable, count themselves in the
// entry of its address; whoever wakes somebody there looks at the count first, so that a wake that
// nobody waits for is one load. Two objects of one entry cost a wake too many, which no wait finds:
// the entry says for which one the last wake was.
#include "libprofiler/native_waits.h"

#include <link.h>
#include <pthread.h>
#include <sys/stat.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

#include "annotate/include/gpubound/api.h"
#include "libprofiler/clock.h"
#include "libprofiler/current_thread.h"
#include "libprofiler/process_info.h"
#include "libprofiler/settings.h"
#include "libprofiler/thread_sanitizer.h"
#include "proto/invariant_tsc.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

// In the order of gpubound_wait_kind. Readers know some of them (analysis/trace/label_roles.cc).
constexpr const char* kNames[] = {"pthread_cond_wait",
                                  "pthread_mutex_lock",
                                  "pthread_join",
                                  "pthread_barrier_wait",
                                  "sem_wait",
                                  "nanosleep",
                                  "poll",
                                  "select",
                                  "epoll_wait",
                                  "read",
                                  "recv",
                                  "accept",
                                  "waitpid",
                                  "futex"};
static_assert(std::size(kNames) == GPUBOUND_WAIT_KINDS);

// What is shorter is no wait: 2 to 5 us by a time stamp counter, 10 us by CLOCK_MONOTONIC. To go to
// sleep and be woken up takes about as much.
constexpr uint64_t kShortTicks = 10'000;

struct WaitedObject {
  std::atomic<uint32_t> waiters;
  std::atomic<uint64_t> woken;       // by its address
  std::atomic<uint64_t> woken_when;  // ticks
};
constexpr unsigned kObjectBits = 10;
constinit std::array<WaitedObject, size_t{1} << kObjectBits> g_objects = {};

constinit std::array<std::atomic<uint32_t>, GPUBOUND_WAIT_KINDS> g_labels = {};
constinit std::atomic<const Interner*> g_names{nullptr};

// Code whose waits are none of the program's: the interpreter's, whose hooks tell what Python waits
// for, and ours.
struct CodeRange {
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};
  bool Holds(const void* code) const {
    const auto address = reinterpret_cast<uintptr_t>(code);
    return address >= begin.load(std::memory_order_relaxed) &&
           address < end.load(std::memory_order_relaxed);
  }
};
constinit CodeRange g_interpreter;
constinit CodeRange g_own;

void FindRange(const void* code, CodeRange* range) {
  struct Search {
    uintptr_t address;
    uintptr_t begin;
    uintptr_t end;
  } search = {reinterpret_cast<uintptr_t>(code), 0, 0};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* into) {
        auto* const found = static_cast<Search*>(into);
        uintptr_t begin = UINTPTR_MAX;
        uintptr_t end = 0;
        for (size_t i = 0; i < info->dlpi_phnum; ++i) {
          const auto& part = info->dlpi_phdr[i];
          if (part.p_type != PT_LOAD) continue;
          begin = std::min<uintptr_t>(begin, info->dlpi_addr + part.p_vaddr);
          end = std::max<uintptr_t>(end, info->dlpi_addr + part.p_vaddr + part.p_memsz);
        }
        if (found->address < begin || found->address >= end) return 0;
        found->begin = begin;
        found->end = end;
        return 1;
      },
      &search);
  range->begin.store(search.begin, std::memory_order_relaxed);
  range->end.store(search.end, std::memory_order_relaxed);
}

uint64_t Mixed(uint64_t object) { return object * 0x9e3779b97f4a7c15; }

WaitedObject* EntryOf(uint64_t object) { return &g_objects[Mixed(object) >> (64 - kObjectBits)]; }

// No number that a program passes to gpubound_wake() by itself.
uint64_t TokenOf(uint64_t object) { return Mixed(object) & (GPUBOUND_SHARED - 1); }

// Of the layers in which a thread may be, waiting says more than native code alone. A simulator or a
// framework that waits for threads of its own is still at work, and who waits has been said.
bool IsInNativeCode(const ThreadBuffer& buffer, const Interner& names) {
  for (uint32_t index = buffer.open_depth(); index-- > 0;) {
    const LabelId label = buffer.open_label(index);
    if (names.KindOf(label) != LabelKind::kLayer) continue;
    const Layer layer = names.LayerOf(label);
    return layer == Layer::kNative || layer == Layer::kPython;
  }
  return true;
}

// Where long calls that read wait rather than work.
bool IsChannel(int descriptor) {
  struct stat status = {};
  if (fstat(descriptor, &status) != 0) return true;  // closed meanwhile: no file that is read
  const mode_t type = status.st_mode & S_IFMT;
  return type == S_IFIFO || type == S_IFSOCK || type == 0;  // 0: of eventfd and its like
}

template <SplitTicks (*ReadTicks)() noexcept>
struct Hooks {
  static bool Enter(gpubound_wait* wait, uint64_t object, const void* caller) noexcept {
    const ThreadBuffer* const buffer = BufferOfThisThread();
    if (buffer->context() == nullptr || t_device_calls != 0) return false;
    const Interner* const names = g_names.load(std::memory_order_acquire);
    if (names == nullptr || g_interpreter.Holds(caller) || g_own.Holds(caller)) return false;
    if (!IsInNativeCode(*buffer, *names)) return false;
    wait->object = object;
    wait->place = buffer->place();
    wait->begun = ReadTicks().Joined();
    if (object != 0) EntryOf(object)->waiters.fetch_add(1, std::memory_order_seq_cst);
    return true;
  }

  static void Leave(const gpubound_wait* wait, gpubound_wait_kind kind, bool woken,
                    int descriptor) noexcept {
    WaitedObject* const entry = wait->object == 0 ? nullptr : EntryOf(wait->object);
    if (entry != nullptr) entry->waiters.fetch_sub(1, std::memory_order_relaxed);
    const uint64_t now = ReadTicks().Joined();
    if (now - wait->begun < kShortTicks) return;
    ThreadBuffer* const buffer = BufferOfThisThread();
    // What a signal handler recorded meanwhile would come before the wait that it interrupted.
    if (buffer->context() == nullptr || buffer->place() != wait->place) return;
    if (descriptor >= 0 && !IsChannel(descriptor)) return;
    const auto label = static_cast<LabelId>(g_labels[kind].load(std::memory_order_relaxed));
    buffer->Begin(label, wait->begun);
    if (woken && entry != nullptr && WasWoken(*entry, *wait)) {
      buffer->EmitWithPayload(SlotKind::kWoken, LabelId{0}, TokenOf(wait->object), now);
    }
    buffer->End(label, now);
  }

  static void Wake(uint64_t object) noexcept {
    if (EntryOf(object)->waiters.load(std::memory_order_seq_cst) == 0) return;
    WakeFrom(BufferOfThisThread(), object);
  }

  static void WakeFrom(ThreadBuffer* buffer, uint64_t object) noexcept {
    if (buffer->context() == nullptr) return;
    const uint64_t now = ReadTicks().Joined();
    buffer->EmitWithPayload(SlotKind::kHandOver, LabelId{0}, TokenOf(object), now);
    WaitedObject* const entry = EntryOf(object);
    entry->woken.store(object, std::memory_order_relaxed);
    entry->woken_when.store(now, std::memory_order_release);
  }

  static bool WasWoken(const WaitedObject& entry, const gpubound_wait& wait) {
    return entry.woken_when.load(std::memory_order_acquire) >= wait.begun &&
           entry.woken.load(std::memory_order_relaxed) == wait.object;
  }

  static constexpr gpubound_wait_hooks table = {&Enter, &Leave, &Wake};
};

bool TicksAreTsc() {
  static const bool use_tsc = TscIsInvariant();
  return use_tsc;
}

// The thread sanitizer learns the order of a program's locks from what it sees, and a lock that is
// tried first is none to it.
bool SanitizerWatchesLocks() { return SanitizerNeedsWords(); }

// A process with an interpreter that does not show itself, as where it was opened privately.
bool HidesInterpreter() { return HasPython() && FoundInterpreter().runtime == 0; }

}  // namespace

constinit thread_local uint32_t t_device_calls = 0;

const gpubound_wait_hooks* NativeWaitHooks() noexcept {
  return TicksAreTsc() ? &Hooks<ReadSplitTsc>::table : &Hooks<ReadSplitMonotonicNs>::table;
}

void FindNativeWaiters() {
  FindRange(reinterpret_cast<const void*>(&NativeWaitHooks), &g_own);
  const uint64_t runtime = FoundInterpreter().runtime;
  if (runtime != 0) FindRange(reinterpret_cast<const void*>(runtime), &g_interpreter);
}

void StartNativeWaits(Interner* labels) {
  if (!EnvSwitch("GPUBOUND_WAITS") || SanitizerWatchesLocks() || HidesInterpreter()) return;
  for (size_t kind = 0; kind < std::size(kNames); ++kind) {
    const LabelId label =
        labels->Intern(LabelKind::kLayer, Layer::kWait, kNativeWaitDomain, kNames[kind]);
    g_labels[kind].store(Raw(label), std::memory_order_relaxed);
  }
  g_names.store(labels, std::memory_order_release);
  GiveWaitHooks(NativeWaitHooks());
}

void StopNativeWaits() noexcept { GiveWaitHooks(nullptr); }

void ForgetNativeWaits() noexcept {
  GiveWaitHooks(nullptr);
  for (WaitedObject& object : g_objects) object.waiters.store(0, std::memory_order_relaxed);
}

void WakeJoiners(ThreadBuffer* buffer) noexcept {
  const uint64_t thread = pthread_self();
  if (EntryOf(thread)->waiters.load(std::memory_order_seq_cst) == 0) return;
  TicksAreTsc() ? Hooks<ReadSplitTsc>::WakeFrom(buffer, thread)
                : Hooks<ReadSplitMonotonicNs>::WakeFrom(buffer, thread);
}

}  // namespace gpubound
