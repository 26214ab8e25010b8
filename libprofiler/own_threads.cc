// SPDX-License-Identifier: Apache-2.0
//
// A place for each thread of ours, given back when its work has ended.
#include "libprofiler/own_threads.h"

#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <iterator>

#include "libprofiler/thread_sanitizer.h"

namespace gpubound {
namespace {

struct Place {
  std::atomic<bool> taken;
  std::atomic<uint32_t> tid;  // 0: not running yet
  const char* name;
  void* (*work)(void*);
  void* argument;
};
// Six at a time are the most so far: the background thread, two that end a recording, and three of
// sources.
constinit Place g_places[16] = {};

constinit std::atomic<uint64_t> g_changes{0};

Place* TakePlace() {
  for (Place& place : g_places) {
    if (!place.taken.exchange(true, std::memory_order_acquire)) return &place;
  }
  return nullptr;
}

void GiveBack(Place* place) {
  place->tid.store(0);
  ++g_changes;
  place->taken.store(false, std::memory_order_release);
}

void* Main(void* argument) {
  auto* const place = static_cast<Place*>(argument);
  place->tid.store(static_cast<uint32_t>(syscall(SYS_gettid)));
  ++g_changes;
  prctl(PR_SET_NAME, place->name);  // from without it takes a descriptor
  {
    const UnseenBySanitizer unseen;
    place->work(place->argument);
  }
  GiveBack(place);
  return nullptr;
}

}  // namespace

bool StartOwnThread(const char* name, void* (*work)(void*), void* argument) noexcept {
  Place* const place = TakePlace();
  if (place == nullptr) return false;
  place->name = name;
  place->work = work;
  place->argument = argument;
  sigset_t all;
  sigset_t before;
  pthread_t thread;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const bool started = pthread_create(&thread, nullptr, &Main, place) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (!started) {
    GiveBack(place);
    return false;
  }
  pthread_detach(thread);
  return true;
}

bool IsOwnThread(uint32_t tid) noexcept {
  for (const Place& place : g_places) {
    if (place.tid.load(std::memory_order_relaxed) == tid) return true;
  }
  return false;
}

int CountOwnThreads() noexcept {
  return static_cast<int>(std::count_if(std::begin(g_places), std::end(g_places),
                                        [](const Place& place) { return place.tid != 0; }));
}

uint64_t OwnThreadChanges() noexcept { return g_changes; }

void ForgetOwnThreads() noexcept {
  for (Place& place : g_places) GiveBack(&place);
}

}  // namespace gpubound
