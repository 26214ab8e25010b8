// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a process ends.
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {
namespace {

constexpr int kScopes = 1000;

// Ends that follow the same thousand scopes on the main thread.
template <typename End>
int ScopesThen(End end) {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  return end();
}

int Raise(int signal_number) {
  return ScopesThen([signal_number] { return raise(signal_number); });
}

void Touch(volatile int* address) { *address = 1; }

// A thread that annotates until the process is gone.
void AnnotateForEver(std::atomic<bool>* begun) {
  std::thread([begun] {
    Worker worker;
    worker.Scope();
    *begun = true;
    worker.ScopesForEver();
  }).detach();
  while (!*begun) std::this_thread::yield();
}

int ReturnWhileThreadsAnnotate() {
  static std::atomic<bool> begun[3];
  for (auto& thread : begun) AnnotateForEver(&thread);
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

int UnderscoreExitWhileThreadsAnnotate() {
  static std::atomic<bool> begun[3];
  for (auto& thread : begun) AnnotateForEver(&thread);
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  _exit(0);
}

int ReturnWhileAThreadSitsInAScope() {
  std::atomic<bool> inside{false};
  std::thread([&inside] {
    Worker().Scopes(10);
    GPUBOUND_OPERATION("never closed");
    inside = true;
    for (;;) pause();
  }).detach();
  while (!inside) std::this_thread::yield();
  RequireWhatIsDone();
  return 0;
}

int ExitFromAnotherThread() {
  std::thread([] {
    Worker().Scopes(kScopes);
    RequireWhatIsDone();
    std::exit(0);
  }).detach();
  for (;;) pause();
}

int MainThreadEndsFirst() {
  std::thread([] {
    Worker().Scopes(kScopes);
    RequireWhatIsDone();
  }).detach();
  pthread_exit(nullptr);
}

// Their handlers may wait for a signal, or start a program, which inherits what is blocked.
int MainThreadEndsFirstAndHandlersSeeItsSignals() {
  sigset_t blocked;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  sigaddset(&blocked, SIGRTMIN + 1);
  pthread_sigmask(SIG_BLOCK, &blocked, nullptr);
  std::atexit([] { std::printf("%llx\n", static_cast<unsigned long long>(BlockedSignals())); });
  return MainThreadEndsFirst();
}

int ManyThreads() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) threads.emplace_back([] { Worker().Scopes(200); });
  for (std::thread& thread : threads) thread.join();
  RequireWhatIsDone();
  return 0;
}

// Each keeps what it has begun to write to; the busy one must not run short.
int MoreThreadsThanPages() {
  constexpr int kThreads = 700;
  std::atomic<int> begun{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Worker worker;
      worker.Scope();
      ++begun;
      done.wait(false);
      worker.Scope();
    });
  }
  while (begun < kThreads) std::this_thread::yield();
  Worker().Scopes(50'000);
  done = true;
  done.notify_all();
  for (std::thread& thread : threads) thread.join();
  RequireWhatIsDone();
  return 0;
}

int ScopesUntilAnAlarm() {
  Worker worker;
  worker.Scope();
  ualarm(20'000, 0);
  worker.ScopesForEver();
}

int SignalHandlerLeaves() {
  signal(SIGALRM, [](int) { _exit(21); });
  return ScopesUntilAnAlarm();
}

int SignalHandlerOnASmallStackLeaves() {
  static char stack[16 * 1024];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = sizeof(stack);
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_handler = [](int) { _exit(22); };
  action.sa_flags = SA_ONSTACK;
  sigaction(SIGALRM, &action, nullptr);
  return ScopesUntilAnAlarm();
}

int SignalHandlerExits() {
  signal(SIGTERM, [](int) { std::exit(23); });
  return Raise(SIGTERM);
}

int AtexitHandlersAnnotate() {
  static Worker worker;
  std::atexit([] { worker.Scopes(10); });
  worker.Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

struct AnnotatesAtTheVeryEnd {
  std::unique_ptr<Worker> worker;
  ~AnnotatesAtTheVeryEnd() {
    if (worker != nullptr) worker->Scopes(10);
  }
} annotates_at_the_very_end;

int StaticDestructorsAnnotate() {
  annotates_at_the_very_end.worker = std::make_unique<Worker>();
  annotates_at_the_very_end.worker->Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

int KilledWhileAnnotating() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] { Worker().ScopesForEver(); });
  }
  Worker().ScopesForEver();
}

}  // namespace

const std::map<std::string, Action>& EndActions() {
  static const std::map<std::string, Action> actions = {
      {"return from main", [] { return ScopesThen([] { return 0; }); }},
      {"return 3 from main", [] { return ScopesThen([] { return 3; }); }},
      {"exit", [] { return ScopesThen([]() -> int { std::exit(4); }); }},
      {"_exit", [] { return ScopesThen([]() -> int { _exit(5); }); }},
      {"_Exit", [] { return ScopesThen([]() -> int { std::_Exit(6); }); }},
      {"quick_exit", [] { return ScopesThen([]() -> int { std::quick_exit(7); }); }},
      {"abort", [] { return ScopesThen([]() -> int { std::abort(); }); }},
      {"crash", [] { return ScopesThen([]() -> int { return Touch(nullptr), 0; }); }},
      {"terminate", [] { return ScopesThen([]() -> int { std::terminate(); }); }},
      {"SIGTERM", [] { return Raise(SIGTERM); }},
      {"SIGINT", [] { return Raise(SIGINT); }},
      {"SIGHUP", [] { return Raise(SIGHUP); }},
      {"SIGKILL", [] { return Raise(SIGKILL); }},
      {"return while threads annotate", ReturnWhileThreadsAnnotate},
      {"_exit while threads annotate", UnderscoreExitWhileThreadsAnnotate},
      {"return while a thread sits in a scope", ReturnWhileAThreadSitsInAScope},
      {"exit from another thread", ExitFromAnotherThread},
      {"main thread ends first", MainThreadEndsFirst},
      {"main thread ends first, handlers look at signals",
       MainThreadEndsFirstAndHandlersSeeItsSignals},
      {"many threads", ManyThreads},
      {"more threads than pages", MoreThreadsThanPages},
      {"signal handler leaves", SignalHandlerLeaves},
      {"signal handler on a small stack leaves", SignalHandlerOnASmallStackLeaves},
      {"signal handler exits", SignalHandlerExits},
      {"atexit handlers annotate", AtexitHandlersAnnotate},
      {"static destructors annotate", StaticDestructorsAnnotate},
      {"annotate until killed", KilledWhileAnnotating},
  };
  return actions;
}

}  // namespace gpubound
