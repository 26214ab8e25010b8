// SPDX-License-Identifier: Apache-2.0
//
// The scenarios of core_program.
#include "tests/libprofiler/core_scenarios.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>
#include <vector>

namespace gpubound {
namespace {

constinit thread_local std::atomic<bool>* t_inside_long_fork = nullptr;

int WaitFor(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 100 + WTERMSIG(status);
}

int RecordScopes(const Core& core, const std::string&) {
  core.Scopes("update", 1000);
  return 0;
}

// A limit as batch systems set it, with room for the recorder but not for a heap of its thread, and
// a program that then takes all there is.
int RunOutOfMemory(const Core& core, const std::string&) {
  uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const rlim_t bytes = pages * static_cast<rlim_t>(getpagesize()) + (48 << 20);
  const rlimit limit = {bytes, bytes};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  core.Scopes("update", 1);
  for (size_t size = 1 << 20; size >= 16; size /= 2) {
    while (void* taken = std::malloc(size)) asm volatile("" : : "r"(taken));  // kept
  }
  core.Scopes("update", 3'000'000);
  return 0;
}

int RecordManyScopes(const Core& core, const std::string&) {
  core.Scopes("update", 3'000'000);
  return 0;
}

int RecordEveryKind(const Core& core, const std::string&) {
  const gpubound_api& api = *core.api;
  api.phase(api.label(GPUBOUND_LABEL_PHASE, 0, nullptr, "warmup", 6));
  const uint32_t layer =
      api.label(GPUBOUND_LABEL_LAYER, GPUBOUND_LAYER_simulator, nullptr, "env", 3);
  api.begin(layer);
  api.end(layer);
  api.step(7);
  api.step(~uint64_t{0});  // what a trace has a meaning of its own for
  api.counter(api.label(GPUBOUND_LABEL_COUNTER, 0, nullptr, "steps", 5), 1.5);
  api.begin(0xffffffff);  // no label of ours: masked, recorded, harmless
  api.end(0xffffffff);
  api.label(99, 99, "domain", nullptr, 0);
  return 0;
}

int FinishTwice(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  core.finish("_exit");
  core.Scopes("late", 100'000);
  core.finish("again");
  _exit(0);
}

int LeaveThreadsRunning(const Core& core, const std::string&) {
  for (int i = 0; i < 2; ++i) {
    std::thread([core] {
      for (;;) core.Scopes("background", 1000);
    }).detach();
  }
  core.Scopes("update", 200'000);
  return 0;
}

int EndManyThreads(const Core& core, const std::string&) {
  for (int round = 0; round < 50; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&core] {
        pthread_setname_np(pthread_self(), "worker");
        core.Scopes("simulation", 5);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  return 0;
}

int HandOverToThread(const Core& core, const std::string&) {
  const uint32_t update = core.Operation("update");
  if (core.api->hand_over() != 0) return 2;  // nothing is open
  core.Begin(update);
  const uint64_t token = core.api->hand_over();
  std::thread([&] {
    core.api->adopt(token);
    core.api->drop(token);
    core.api->adopt(0);
    core.api->drop(0);
  }).join();
  core.End(update);
  return token != 0 ? 0 : 3;
}

int WakeThread(const Core& core, const std::string&) {
  std::thread([&] { core.api->wake(76), core.api->woken(75); }).join();  // records nothing
  core.Scopes("update", 1);
  core.api->wake(77);
  std::thread([&] { core.api->woken(76), core.Scopes("update", 1), core.api->woken(77); }).join();
  return 0;
}

int PauseAndResume(const Core& core, const std::string&) {
  core.api->pause();
  core.Scopes("uncounted", 1);
  core.api->resume();
  return 0;
}

int WriteLedger(const Core& core, const std::string&) {
  core.api->ledger("hooks_failed", 2, "no such method: Env.step", 24);
  core.api->ledger("a counter of a later version", 5, "kept as prose", 13);
  core.api->ledger("import_names_missing", 5, nullptr, 0);  // none that a recorder counts
  core.api->ledger(nullptr, 0, nullptr, 0);
  return 0;
}

int ListOpenScopes(const Core& core, const std::string&) {
  uint32_t labels[2] = {0, 0};
  if (core.api->open_scopes(labels, 2) != 0) return 2;
  const uint32_t names[] = {core.Operation("outer"), core.Operation("middle"),
                            core.Operation("inner")};
  for (const uint32_t name : names) core.Begin(name);
  if (core.api->open_scopes(nullptr, 0) != 3) return 3;
  if (core.api->open_scopes(labels, 2) != 3) return 4;
  if (labels[0] != names[0] || labels[1] != names[1]) return 5;
  for (const uint32_t name : names) core.End(name);
  return core.api->open_scopes(labels, 2) == 0 ? 0 : 6;
}

// Behind the end of a recording that GPUBOUND_STEPS asked for.
int GoOnUnrecorded(const Core& core, const std::string&) {
  const uint32_t names[] = {core.Operation("outer"), core.Operation("inner")};
  core.Begin(names[0]);
  if (core.api->ended() != 0) return 2;
  core.api->step(0);
  for (int i = 0; core.api->ended() == 0; ++i) {
    if (i == 1000) return 3;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  core.Scopes("behind", 200'000);  // more than there are pages for
  core.Begin(names[1]);
  uint32_t labels[2] = {0, 0};
  if (core.api->open_scopes(labels, 2) != 0) return 4;
  if (core.api->hand_over() != 0) return 5;
  core.End(names[1]);
  core.End(names[0]);
  core.api->step(1);
  const pid_t child = fork();
  if (child == 0) {
    core.Scopes("child", 10);
    core.api->step(2);
    _exit(core.api->ended() == 1 ? 0 : 6);
  }
  return WaitFor(child);
}

int ForkRecordedChild(const Core& core, const std::string&) {
  const uint32_t update = core.Operation("update");
  core.Scopes("parent only", 10);
  core.Begin(update);
  const pid_t child = fork();
  if (child == 0) {
    // The label of the parent means the same here.
    core.Begin(update);
    core.End(update);
    core.Scopes("child only", 20);
    core.finish("fork-child-exit");
    _exit(0);
  }
  const int status = WaitFor(child);
  core.End(update);
  return status;
}

int ForkSilentChild(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  return WaitFor(child);
}

int RawForkChild(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  const pid_t child = _Fork();
  if (child == 0) {
    core.Scopes("ghost", 1000);
    core.api->hand_over();
    core.finish("_exit");
    // A child of a child whose own fork was not seen: its names may be half written.
    const pid_t grandchild = fork();
    if (grandchild == 0) {
      core.Scopes("ghost", 1000);
      _exit(0);
    }
    _exit(WaitFor(grandchild));
  }
  const int status = WaitFor(child);
  core.Scopes("update", 10);
  return status;
}

int VforkChildLeaves(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  const pid_t child = vfork();
  if (child == 0) {
    core.finish("_exit");  // what the shim does when exec fails
    _exit(0);
  }
  const int status = WaitFor(child);
  core.Scopes("update", 10);
  return status;
}

// Children that record themselves, one after the other; how many did not end well.
int ForkRecordedChildren(const Core& core, int count) {
  int failures = 0;
  for (int i = 0; i < count; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      core.Scopes("child only", 20);
      core.finish("fork-child-exit");
      _exit(0);
    }
    failures += WaitFor(child) != 0 ? 1 : 0;
  }
  return failures;
}

int ForkUnderLoad(const Core& core, const std::string&) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; !stop.load(); ++turn) {
        core.Scopes("busy " + std::to_string(turn % 100), 50);
        usleep(20);  // in the middle of everything, but no gigabytes of it
      }
    });
  }
  const int failures = ForkRecordedChildren(core, 40);
  stop = true;
  for (std::thread& thread : threads) thread.join();
  return failures;
}

int ForkFromTwoThreads(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  std::atomic<int> failures{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] { failures += ForkRecordedChildren(core, 20); });
  }
  for (std::thread& thread : threads) thread.join();
  core.Scopes("update", 10);
  return failures;
}

// A child of a fork that could not wait for the one before it.
int ForkBesideALongFork(const Core& core, const std::string&) {
  core.Scopes("update", 10);
  std::atomic<bool> inside{false};
  std::thread other([&] {
    t_inside_long_fork = &inside;
    const pid_t child = fork();
    if (child == 0) _exit(0);
    WaitFor(child);
  });
  while (!inside.load()) usleep(100);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    core.Scopes("ghost", 10);
    const int initialized = core.initialize_injection();
    const pid_t grandchild = fork();
    if (grandchild == 0) _exit(core.initialize_injection() == 1 ? 0 : 2);
    _exit(initialized == 1 ? WaitFor(grandchild) : 3);
  }
  const int status = WaitFor(child);
  other.join();
  return status;
}

// A user's `ulimit -f` must not let our files end the program by SIGXFSZ.
int LimitFileSize(const Core& core, const std::string&) {
  const rlimit limit = {8192, 8192};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
  core.Scopes("update", 1000);
  return 0;
}

// A loop of many iterations, beside a thread that opens scopes.
int TrainBesideAnotherThread(const Core& core, const std::string&) {
  constexpr uint64_t kIterations = 400;
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) {
      core.Scopes("simulation", 10);
      usleep(100);  // no more than the flusher of a busy machine keeps up with
    }
  });
  const uint32_t outer = core.Operation("train");
  core.Begin(outer);
  for (uint64_t i = 0; i < kIterations; ++i) {
    core.Scopes("update", 1000);
    core.api->step(i);
  }
  core.End(outer);
  done = true;
  other.join();
  return 0;
}

// Two threads that count what they have completed in memory shared with whoever kills us.
int Hammer(const Core& core, const std::string& shared_fd) {
  void* memory = mmap(nullptr, sizeof(HammerProgress), PROT_READ | PROT_WRITE, MAP_SHARED,
                      std::atoi(shared_fd.c_str()), 0);
  if (memory == MAP_FAILED) return 2;
  HammerProgress* progress = static_cast<HammerProgress*>(memory);
  const auto record = [&](int index) {
    HammerProgress::Counter* counter = &progress->threads[index];
    counter->tid = static_cast<uint32_t>(gettid());
    const uint32_t label = core.Operation("thread " + std::to_string(index));
    for (uint64_t turn = 0;; ++turn) {
      core.Begin(label);
      core.api->step(turn);
      core.End(label);
      counter->completed.store(turn + 1, std::memory_order_release);
      // Slow enough that a flusher which a busy machine starves for half a second loses nothing.
      if (turn % 500 == 499) usleep(1000);
    }
  };
  std::thread other(record, 1);
  record(0);
  return 0;
}

}  // namespace

void StretchFork() {
  if (t_inside_long_fork == nullptr) return;
  t_inside_long_fork->store(true);
  usleep(1'000'000);  // longer than the core's patience
}

const std::map<std::string, Scenario>& Scenarios() {
  static const auto* const scenarios = new std::map<std::string, Scenario>{
      {"scopes", RecordScopes},
      {"many_scopes", RecordManyScopes},
      {"out_of_memory", RunOutOfMemory},
      {"every_kind", RecordEveryKind},
      {"finish_twice", FinishTwice},
      {"threads_outlive_main", LeaveThreadsRunning},
      {"threads_end", EndManyThreads},
      {"hand_over", HandOverToThread},
      {"wake", WakeThread},
      {"pause", PauseAndResume},
      {"ledger", WriteLedger},
      {"open_scopes", ListOpenScopes},
      {"go_on", GoOnUnrecorded},
      {"fork", ForkRecordedChild},
      {"fork_silent", ForkSilentChild},
      {"raw_fork", RawForkChild},
      {"vfork", VforkChildLeaves},
      {"fork_under_load", ForkUnderLoad},
      {"fork_from_two_threads", ForkFromTwoThreads},
      {"fork_beside_a_long_fork", ForkBesideALongFork},
      {"file_size_limit", LimitFileSize},
      {"train", TrainBesideAnotherThread},
      {"hammer", Hammer},
  };
  return *scenarios;
}

}  // namespace gpubound
