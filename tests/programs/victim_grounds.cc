// SPDX-License-Identifier: Apache-2.0
//
// What the matrix (tests/lifecycle/matrix_cases.h) has programs do on every ground: annotate for a
// while, in many ways at once, until they are killed, or with one system call refused.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kScopes = 1000;
constexpr std::chrono::milliseconds kWhile{500};

void AnnotateUntil(Clock::time_point end) {
  Worker worker;
  while (Clock::now() < end) worker.Paced();
}

int AnnotateAWhile() {
  const auto end = Clock::now() + kWhile;
  std::thread other([end] { AnnotateUntil(end); });
  AnnotateUntil(end);
  other.join();
  RequireWhatIsDone();
  return 0;
}

// Every system call of every thread may be interrupted.
int ARainOfSignals() {
  struct sigaction action = {};
  action.sa_handler = [](int) {};
  sigaction(SIGALRM, &action, nullptr);
  Progress();  // opens a file
  const itimerval timer = {{0, 200}, {0, 200}};
  setitimer(ITIMER_REAL, &timer, nullptr);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) threads.emplace_back([] { Worker().Scopes(20 * kScopes); });
  for (std::thread& thread : threads) thread.join();
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  const itimerval off = {};
  setitimer(ITIMER_REAL, &off, nullptr);
  return 0;
}

// Of a child's and its parent's scopes each is in one trace.
int ForkUntilKilled() {
  Worker worker;
  for (;;) {
    worker.Scopes(10);
    const pid_t child = fork();
    if (child == 0) {
      Worker().Scopes(10);
      RequireWhatIsDone();
      _exit(0);
    }
    if (child > 0) waitpid(child, nullptr, 0);
  }
}

int StartThreadsUntilKilled() {
  Worker worker;
  for (;;) {
    worker.Scopes(10);
    std::thread([] { Worker().Scopes(10); }).join();
    usleep(500);  // an account has room for 4,096 threads
  }
}

// $VICTIM_CALL: its number; $VICTIM_REFUSAL: an errno, or 0 for the end of the process.
bool RefuseACall() {
  const char* call = std::getenv("VICTIM_CALL");
  const char* refusal = std::getenv("VICTIM_REFUSAL");
  if (call == nullptr || refusal == nullptr) return false;
  const auto error = static_cast<uint32_t>(std::atoi(refusal));
  const uint32_t answer =
      error == 0 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | (error & SECCOMP_RET_DATA);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<uint32_t>(std::atoi(call)), 0, 1),
      BPF_STMT(BPF_RET | BPF_K, answer), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  const sock_fprog program = {std::size(filter), filter};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int RefuseACallFirst() {
  Worker worker;
  if (!RefuseACall()) return 1;
  worker.Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

int RefuseACallLater() {
  Worker worker;
  worker.Scopes(kScopes);
  if (!RefuseACall()) return 1;
  worker.Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

// As programs do that judge what others wrote: the recorder is there, and the child's is to start.
int RefuseACallInAForkChild() {
  Worker().Scopes(kScopes);
  const pid_t child = fork();
  if (child != 0) {
    RequireWhatIsDone();
    return WaitForChild(child);
  }
  return RefuseACallFirst();
}

// The program itself starts a thread, so whatever that takes is allowed. The first ones take more
// than others, with us or without: an arena of malloc for each. The recorder's thread may take the
// one that an ended thread has left, so there are two.
int RefuseACallBesideThreads() {
  Worker worker;
  worker.Scopes(kScopes);
  std::thread([] {
    Worker().Scopes(kScopes);
    std::thread([] { Worker().Scopes(kScopes); }).join();
  }).join();
  if (!RefuseACall()) return 1;
  std::thread([] { Worker().Scopes(kScopes); }).join();
  RequireWhatIsDone();
  return 0;
}

}  // namespace

const std::map<std::string, Action>& GroundActions() {
  static const std::map<std::string, Action> actions = {
      {"annotate for a while", AnnotateAWhile},
      {"a rain of signals", ARainOfSignals},
      {"fork until killed", ForkUntilKilled},
      {"start threads until killed", StartThreadsUntilKilled},
      {"refuse a call before the first scope", RefuseACallFirst},
      {"refuse a call in a fork child", RefuseACallInAForkChild},
      {"refuse a call after the first scope", RefuseACallLater},
      {"refuse a call before a thread", RefuseACallBesideThreads},
  };
  return actions;
}

}  // namespace gpubound
