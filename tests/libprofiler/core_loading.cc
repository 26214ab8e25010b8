// SPDX-License-Identifier: Apache-2.0
//
// The scenario of core_program that begins before the core is there:
//
//   main     | waits |------ loads the core ----| holds its lock |----- records ---->
//   other    |- fork begins |- waits for the lock to be held |- child is made |----->
//
// Two threads; what they wait for is below.
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "tests/libprofiler/core_scenarios.h"

namespace gpubound {
namespace {

constinit thread_local bool t_forks = false;
constinit std::atomic<bool> g_fork_began{false};
constinit std::atomic<bool> g_lock_is_held{false};
constinit std::atomic<bool> g_forked{false};

void Await(const std::atomic<bool>& flag) {
  while (!flag.load()) usleep(100);
}

void BeforeFork() {
  if (!t_forks) return;
  g_fork_began = true;
  Await(g_lock_is_held);
}

// The core asks for a key amid its start, with its lock held.
[[maybe_unused]] void OnKey() {
  if (!g_fork_began || g_forked) return;
  g_lock_is_held = true;
  Await(g_forked);
}

int StatusOf(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int LiveAsChild(const std::function<Core()>& load) {
  alarm(20);
  g_forked = true;
  const Core core = load();
  core.Scopes("ghost", 10);
  if (core.initialize_injection() != 1) return 3;
  const pid_t grandchild = fork();
  if (grandchild == 0) _exit(core.initialize_injection() == 1 ? 0 : 2);
  return StatusOf(grandchild);
}

}  // namespace

// In place of the C library's, for the core. The thread sanitizer, whose suite leaves forks out,
// asks for a key of its own before any of its functions can be called.
#ifndef __SANITIZE_THREAD__
extern "C" __attribute__((visibility("default"))) int pthread_key_create(
    pthread_key_t* key, void (*destructor)(void*)) noexcept {
  using Function = int (*)(pthread_key_t*, void (*)(void*));
  OnKey();
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_key_create"))(key, destructor);
}
#endif

int ForkAroundTheLoad(const std::function<Core()>& load) {
  int status = 0;
  pthread_atfork(&BeforeFork, nullptr, nullptr);
  std::thread other([&] {
    t_forks = true;
    const pid_t child = fork();
    t_forks = false;
    if (child == 0) _exit(LiveAsChild(load));
    g_forked = true;
    status = StatusOf(child);
  });
  Await(g_fork_began);
  load().Scopes("update", 10);
  other.join();
  return status;
}

}  // namespace gpubound
