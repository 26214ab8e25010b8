// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a process makes another, or becomes one.
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {
namespace {

constexpr int kScopes = 300;
constexpr char kSelf[] = "/proc/self/exe";

// Scopes in the parent, |make_child| (which returns in both, as fork does), |child| in the child.
template <typename Make, typename Child>
int WithChild(Make make_child, Child child) {
  Worker worker;
  worker.Scopes(kScopes);
  const pid_t pid = make_child();
  if (pid == 0) return child();
  worker.Scopes(kScopes);
  const int code = WaitForChild(pid);
  RequireWhatIsDone();
  return code;
}

int ScopesInChild() {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

[[noreturn]] int ScopesInChildThenLeave() {
  ScopesInChild();
  _exit(31);
}

// A child that the recorder knows nothing of: its scopes are lost, its parent's are not touched.
[[noreturn]] int UnknownChildLeaves() {
  Worker worker;
  worker.IsNotRecorded();
  worker.Scopes(kScopes);
  _exit(32);
}

int ExecSelf(const char* action) {
  execl(kSelf, "lifecycle_victim", action, nullptr);
  _exit(127);
}

int BecomeAnother() {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  return ExecSelf("return from main");
}

int VforkThenExec() {
  Worker worker;
  worker.Scopes(kScopes);
  const pid_t child = vfork();
  if (child == 0) {
    execl(kSelf, "lifecycle_victim", "return 3 from main", nullptr);
    _exit(127);
  }
  const int code = WaitForChild(child);
  worker.Scopes(kScopes);
  RequireWhatIsDone();
  return code;
}

int VforkThenLeave() {
  Worker worker;
  worker.Scopes(kScopes);
  const pid_t child = vfork();
  if (child == 0) _exit(33);
  const int code = WaitForChild(child);
  worker.Scopes(kScopes);  // must still be recorded: the child did not close our trace
  RequireWhatIsDone();
  return code;
}

int Spawn() {
  Worker().Scopes(kScopes);
  const char* arguments[] = {"lifecycle_victim", "_exit", nullptr};
  pid_t child = -1;
  posix_spawn(&child, kSelf, nullptr, nullptr, const_cast<char**>(arguments), environ);
  RequireWhatIsDone();
  return WaitForChild(child);
}

int System() {
  Worker().Scopes(kScopes);
  char path[4096] = {};
  if (readlink(kSelf, path, sizeof(path) - 1) < 0) return 124;
  const int status = std::system((std::string(path) + " 'return 3 from main'").c_str());
  RequireWhatIsDone();
  return WEXITSTATUS(status);
}

int ForkBeforeTheFirstScope() {
  const pid_t child = fork();
  if (child == 0) return ScopesInChild();
  const int code = WaitForChild(child);
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  return code;
}

int ForkInsideAScope() {
  GPUBOUND_OPERATION("around the fork");
  return WithChild(fork, ScopesInChild);
}

int GrandChildren() {
  return WithChild(fork, [] { return WithChild(fork, ScopesInChild); });
}

int Daemonise() {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  const pid_t child = fork();
  if (child > 0) _exit(0);
  setsid();
  if (fork() > 0) _exit(0);
  return ScopesInChild();
}

// Forks while other threads are in the middle of everything.
int ForkStorm() {
  static std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  Worker().Scope();  // a fork during the recorder's start is another test's
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([] {
      for (Worker worker; !stop; usleep(1000)) worker.Scopes(100);
    });
  }
  int failed = 0;
  for (int i = 0; i < 50; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      Worker().Scopes(20);
      RequireWhatIsDone();
      _exit(0);
    }
    failed += WaitForChild(child) == 0 ? 0 : 1;
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  RequireWhatIsDone();
  return failed;
}

int ForkInManyThreads() {
  std::vector<std::thread> threads;
  Worker().Scope();
  std::atomic<int> failed{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&failed] {
      Worker worker;
      for (int turn = 0; turn < 5; ++turn) {
        worker.Scopes(50);
        const pid_t child = fork();
        if (child == 0) ScopesInChildThenLeave();
        failed += WaitForChild(child) == 31 ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  RequireWhatIsDone();
  return failed;
}

int ChildWithItsOwnPreload() {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  setenv("LD_PRELOAD", "", 1);
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 34", nullptr);
    _exit(127);
  }
  return WaitForChild(child);
}

int ChildWithAnEmptyEnvironment() {
  Worker().Scopes(kScopes);
  RequireWhatIsDone();
  const pid_t child = fork();
  if (child == 0) {
    char* nothing[] = {nullptr};
    execle("/bin/sh", "sh", "-c", "exit 35", nullptr, nothing);
    _exit(127);
  }
  return WaitForChild(child);
}

}  // namespace

const std::map<std::string, Action>& ChildActions() {
  static const std::map<std::string, Action> actions = {
      {"fork child returns", [] { return WithChild(fork, ScopesInChild); }},
      {"fork child leaves", [] { return WithChild(fork, ScopesInChildThenLeave); }},
      {"fork child without scopes", [] { return WithChild(fork, []() -> int { _exit(36); }); }},
      {"fork child execs",
       [] { return WithChild(fork, [] { return ExecSelf("return 3 from main"); }); }},
      {"fork child is killed",
       [] { return WithChild(fork, [] { return ScopesInChild(), std::abort(), 0; }); }},
      {"fork before the first scope", ForkBeforeTheFirstScope},
      {"fork inside a scope", ForkInsideAScope},
      {"grandchildren", GrandChildren},
      {"daemonise", Daemonise},
      {"fork storm", ForkStorm},
      {"fork in many threads", ForkInManyThreads},
      {"_Fork child", [] { return WithChild(_Fork, UnknownChildLeaves); }},
      {"clone child",
       [] {
         return WithChild(
             [] { return static_cast<pid_t>(syscall(SYS_clone, 17 /*SIGCHLD*/, 0, 0, 0, 0)); },
             UnknownChildLeaves);
       }},
      {"vfork then exec", VforkThenExec},
      {"vfork then _exit", VforkThenLeave},
      {"posix_spawn", Spawn},
      {"system", System},
      {"exec in place", BecomeAnother},
      {"child with its own LD_PRELOAD", ChildWithItsOwnPreload},
      {"child with an empty environment", ChildWithAnEmptyEnvironment},
  };
  return actions;
}

}  // namespace gpubound
