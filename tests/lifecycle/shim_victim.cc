// SPDX-License-Identifier: Apache-2.0
//
// A program that is preloaded with the shim and does one thing: shim_victim ACTION.
#include <dlfcn.h>
#include <gpubound/annotate.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "libprofiler/shim/shim_info.h"

namespace {

void OpenScope() { GPUBOUND_OPERATION("scope"); }

const gpubound_shim_info* Shim() {
  return reinterpret_cast<decltype(&gpubound_shim_v1)>(dlsym(RTLD_DEFAULT, "gpubound_shim_v1"))();
}

int WaitFor(pid_t child) {
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int PrintEnvironment() {
  for (const char* name : {"GPUBOUND_RUN", "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH"}) {
    const char* value = std::getenv(name);
    std::printf("%s=%s\n", name, value == nullptr ? "(unset)" : value);
  }
  std::printf("flags=%u\n", Shim()->flags);
  return 0;
}

int PrintPid() {
  std::printf("%d\n", static_cast<int>(getpid()));
  return 0;
}

int StampsAreThisProcess() {
  const gpubound_shim_info parent = *Shim();
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  const int64_t now_ns = int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
  const bool parent_right = parent.size == sizeof(gpubound_shim_info) &&
                            parent.pid == static_cast<uint64_t>(getpid()) &&
                            parent.monotonic_ns > 0 && parent.monotonic_ns <= now_ns &&
                            parent.realtime_ns > 1'500'000'000'000'000'000;
  const pid_t child = fork();
  if (child == 0) {
    const gpubound_shim_info* mine = Shim();
    const bool right = mine->pid == static_cast<uint64_t>(getpid()) &&
                       mine->monotonic_ns >= now_ns && mine->realtime_ns > parent.realtime_ns;
    _exit(right ? 0 : 1);
  }
  return parent_right ? WaitFor(child) : 2;
}

int ThreadsRaceToLoad() {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&go] {
      while (!go) std::this_thread::yield();
      OpenScope();
    });
  }
  go = true;
  for (std::thread& thread : threads) thread.join();
  return gpubound_table_() == nullptr ? 1 : 0;
}

int ForkWhileLoading() {
  std::thread loader(OpenScope);
  usleep(100'000);  // the slow mock core takes much longer, longer than a fork waits
  const pid_t child = fork();
  if (child == 0) {
    OpenScope();
    _exit(gpubound_table_() == nullptr ? 0 : 1);
  }
  loader.join();
  return WaitFor(child);
}

int VforkChildLeaves() {
  OpenScope();
  const pid_t child = vfork();
  if (child == 0) _exit(3);
  return WaitFor(child);
}

int ForkChildLeaves() {
  OpenScope();
  const pid_t child = fork();
  if (child == 0) _exit(4);
  return WaitFor(child);
}

int ForkChildWithoutHandlersLeaves() {
  OpenScope();
  const pid_t child = _Fork();
  if (child == 0) _exit(5);
  return WaitFor(child);
}

int ForkChildWithoutHandlersOpensScopes() {
  const pid_t child = _Fork();
  if (child == 0) {
    OpenScope();
    _exit(6);
  }
  return WaitFor(child);
}

int TwoThreadsLeave() {
  OpenScope();
  std::thread other([] { _exit(7); });
  usleep(100'000);  // the slow mock core is now closing for the other thread
  _exit(8);
}

int SignalHandlerLeavesWhileLeaving() {
  signal(SIGUSR1, [](int) { _exit(9); });
  OpenScope();
  _exit(10);
}

int CoreLoadedByTheDriver() {
  void* core = dlopen(std::getenv("CUDA_INJECTION64_PATH"), RTLD_NOW);
  if (core == nullptr) return 2;
  if (reinterpret_cast<int (*)()>(dlsym(core, "InitializeInjection"))() != 1) return 3;
  _exit(11);
}

int ErrnoIsKept() {
  errno = EDOM;
  OpenScope();
  return errno == EDOM ? 0 : 1;
}

const std::map<std::string, int (*)()> kActions = {
    {"nothing", [] { return 0; }},
    {"print environment", PrintEnvironment},
    {"print pid", PrintPid},
    {"check stamps", StampsAreThisProcess},
    {"scope and return", [] { return OpenScope(), 0; }},
    {"scope and exit", []() -> int { OpenScope(), std::exit(12); }},
    {"scope and _exit", []() -> int { OpenScope(), _exit(13); }},
    {"scope and _Exit", []() -> int { OpenScope(), std::_Exit(14); }},
    {"_exit", []() -> int { _exit(15); }},
    {"threads race to load", ThreadsRaceToLoad},
    {"fork while loading", ForkWhileLoading},
    {"vfork child leaves", VforkChildLeaves},
    {"fork child leaves", ForkChildLeaves},
    {"_Fork child leaves", ForkChildWithoutHandlersLeaves},
    {"_Fork child opens scopes", ForkChildWithoutHandlersOpensScopes},
    {"two threads leave", TwoThreadsLeave},
    {"signal handler leaves while leaving", SignalHandlerLeavesWhileLeaving},
    {"core loaded by the driver", CoreLoadedByTheDriver},
    {"errno is kept", ErrnoIsKept},
};

}  // namespace

int main(int argc, char** argv) {
  const auto action = kActions.find(argc == 2 ? argv[1] : "");
  if (action == kActions.end()) {
    std::fprintf(stderr, "shim_victim: no such action\n");
    return 100;
  }
  return action->second();
}
