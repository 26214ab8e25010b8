// SPDX-License-Identifier: Apache-2.0
//
// What programs do to the ground that the recorder stands on.
#include <dlfcn.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <thread>
#include <vector>

#include "tests/programs/victim.h"

namespace gpubound {
namespace {

constexpr int kScopes = 1000;

int Finish(Worker* worker) {
  worker->Scopes(kScopes);
  RequireWhatIsDone();
  return 0;
}

int UnloadAnAnnotatedLibrary() {
  Worker worker;
  for (int turn = 0; turn < 20; ++turn) {
    void* plugin = dlopen(std::getenv("VICTIM_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) return 1;
    reinterpret_cast<void (*)()>(dlsym(plugin, "UsePlugin"))();
    if (dlclose(plugin) != 0) return 2;
    if (dlopen(std::getenv("VICTIM_PLUGIN"), RTLD_NOW | RTLD_NOLOAD) != nullptr) return 3;
    worker.Scopes(10);
  }
  return Finish(&worker);
}

// Constructors run under the dynamic loader's lock. Another thread is starting the recorder: it has
// just made the run directory and is about to look something up in the dynamic loader.
int AnnotateInConstructorsWhileTheRecorderStarts() {
  std::thread other([] { Worker().Scopes(10); });
  if (std::getenv("LD_PRELOAD") != nullptr) {
    while (access(std::getenv("GPUBOUND_RUN"), F_OK) != 0) std::this_thread::yield();
  }
  void* plugin = dlopen(std::getenv("VICTIM_CONSTRUCTOR_PLUGIN"), RTLD_NOW | RTLD_LOCAL);
  other.join();
  Worker worker;
  return plugin == nullptr ? 1 : Finish(&worker);
}

// As a daemon does. A file opened next gets a descriptor that the recorder may have had.
int CloseEveryDescriptor() {
  const char* path = std::getenv("VICTIM_FILE");
  Worker worker;
  worker.Scopes(kScopes);
  closefrom(3);
  int files[64];
  for (int& file : files) file = open(path, O_RDWR | O_CREAT, 0600);
  if (write(files[0], "mine", 4) != 4) return 1;
  for (int turn = 0; turn < 10; ++turn) {
    worker.Scopes(kScopes);
    usleep(50'000);
  }
  struct stat info;
  char text[8] = {};
  if (fstat(files[0], &info) != 0 || info.st_size != 4) return 2;
  return pread(files[0], text, sizeof(text), 0) == 4 && std::strcmp(text, "mine") == 0 ? 0 : 3;
}

// As shells and servers do: what was free before the recorder came is free.
int UseDescriptorsByNumber() {
  const char* path = std::getenv("VICTIM_FILE");
  Progress();  // opens a file
  std::vector<int> numbers;
  for (int number = 3; number < 32; ++number) {
    if (fcntl(number, F_GETFD) < 0) numbers.push_back(number);
  }
  Worker worker;
  worker.Scopes(kScopes);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  if (file != numbers.front()) return 1;
  for (const int number : numbers) {
    if (dup2(file, number) != number) return 2;
  }
  for (int turn = 0; turn < 10; ++turn) {
    worker.Scopes(kScopes);
    usleep(50'000);
  }
  struct stat info;
  if (fstat(file, &info) != 0 || info.st_size != 0) return 3;
  return Finish(&worker);
}

int StartWithoutStandardDescriptors() {
  close(0), close(1), close(2);
  Worker worker;
  worker.Scopes(kScopes);
  const int first = open("/dev/null", O_RDWR);
  if (first < 0) return 1;
  return Finish(&worker);
}

int ChangeDirectory() {
  if (chdir("/") != 0) return 1;
  Worker worker;
  return Finish(&worker);
}

int LimitFileSize() {
  Worker worker;
  const rlimit limit = {4096, 4096};
  if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 1;
  worker.Scopes(kScopes);  // the default action of SIGXFSZ would end us here
  return 0;
}

int LimitDescriptors() {
  Worker worker;
  const rlimit limit = {3, 3};
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 1;
  worker.Scopes(kScopes);
  return 0;
}

int LimitMemory() {
  Worker worker;
  const rlimit limit = {16 << 20, 16 << 20};
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 1;
  worker.Scopes(kScopes);
  return 0;
}

// Before the recorder comes to want one of its own.
int TakeEveryThreadSpecificKey() {
  std::vector<pthread_key_t> keys;
  for (pthread_key_t key = 0; pthread_key_create(&key, nullptr) == 0;) keys.push_back(key);
  for (pthread_key_t& key : keys) pthread_setspecific(key, &key);
  Worker().Scopes(kScopes);
  for (pthread_key_t& key : keys) {
    if (pthread_getspecific(key) != &key) return 1;
  }
  return 0;
}

// Annotates where a cancellation is due, and is to end by it afterwards, as it says itself.
void* AnnotateWhileCancelled(void* cancelled) {
  while (!static_cast<std::atomic<bool>*>(cancelled)->load()) std::this_thread::yield();
  Worker().Scopes(kScopes);
  pthread_testcancel();
  return nullptr;
}

// The first one has the recorder loaded, the other one is a thread that comes later.
int CancelThreads() {
  Progress();  // opens a file, which a cancelled thread cannot
  for (int turn = 0; turn < 2; ++turn) {
    std::atomic<bool> cancelled = false;
    pthread_t thread;
    void* result = nullptr;
    if (pthread_create(&thread, nullptr, &AnnotateWhileCancelled, &cancelled) != 0) return 1;
    pthread_cancel(thread);
    cancelled = true;
    if (pthread_join(thread, &result) != 0 || result != PTHREAD_CANCELED) return 2;
  }
  RequireWhatIsDone();
  return 0;
}

int KeepSignals() {
  const uint64_t before = BlockedSignals();
  Worker worker;
  worker.Scopes(kScopes);
  if (BlockedSignals() != before) return 100;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_DFL) return number;
  }
  return Finish(&worker);
}

// As error paths of Lua, libpng and zsh do.
int LeaveScopesOpen() {
  Worker worker;
  for (int turn = 0; turn < 500; ++turn) {
    gpubound_begin_operation(turn % 2 == 0 ? "parse" : "load");
    worker.Scope();
  }
  return Finish(&worker);
}

int ClearTheEnvironment() {
  Progress();
  if (clearenv() != 0) return 1;
  Worker worker;
  return Finish(&worker);
}

void* FirstScopes(void*) {
  Worker worker;
  worker.Scopes(kScopes);
  RequireWhatIsDone();
  return nullptr;
}

int FirstScopeOnTheSmallestStack() {
  Progress();
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  if (pthread_attr_setstacksize(&attributes, 16 * 1024) != 0) return 1;
  if (pthread_create(&thread, &attributes, &FirstScopes, nullptr) != 0) return 2;
  return pthread_join(thread, nullptr) == 0 ? 0 : 3;
}

int ForbidTheTimeStampCounter() {
  Progress();
  Worker worker;
  if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV) != 0) return 1;
  worker.IsNotRecorded();
  worker.Scopes(kScopes);
  return 0;
}

// Forbids all but what the program itself still does, on pain of death. The recorder's thread,
// which there is by then, goes on unrestricted.
bool AllowOnly(std::initializer_list<uint32_t> calls) {
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (const uint32_t call : calls) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program = {static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

int LeaveASandbox() {
  Worker worker;
  worker.Scopes(kScopes);
  usleep(50'000);
  if (!AllowOnly({SYS_exit_group, SYS_exit, SYS_futex, SYS_mmap, SYS_munmap, SYS_brk,
                  SYS_rt_sigreturn, SYS_write})) {
    return 1;
  }
  worker.Scopes(kScopes);
  return 0;
}

int RemoveTheRunDirectory() {
  Worker worker;
  worker.Scopes(kScopes);
  const char* run = std::getenv("GPUBOUND_RUN");
  std::error_code ignored;
  if (run != nullptr) std::filesystem::remove_all(run, ignored);
  for (int turn = 0; turn < 15; ++turn) {
    worker.Scopes(kScopes);
    usleep(100'000);
  }
  return 0;
}

// As a coroutine that goes on elsewhere does. What is open there under the same name stays so.
int EndAScopeOnAnotherThread() {
  Worker worker;
  worker.Scopes(kScopes);
  auto scope = std::make_unique<gpubound::Operation>("episode");
  std::thread([&scope] {
    const gpubound::Operation same("episode");
    scope.reset();
  }).join();
  return Finish(&worker);
}

}  // namespace

const std::map<std::string, Action>& OddActions() {
  static const std::map<std::string, Action> actions = {
      {"unload an annotated library", UnloadAnAnnotatedLibrary},
      {"annotate in constructors", AnnotateInConstructorsWhileTheRecorderStarts},
      {"close every descriptor", CloseEveryDescriptor},
      {"start without standard descriptors", StartWithoutStandardDescriptors},
      {"use descriptors by number", UseDescriptorsByNumber},
      {"change the working directory", ChangeDirectory},
      {"limit the file size", LimitFileSize},
      {"limit the descriptors", LimitDescriptors},
      {"limit the memory", LimitMemory},
      {"take every thread-specific key", TakeEveryThreadSpecificKey},
      {"cancel threads", CancelThreads},
      {"keep signal mask and handlers", KeepSignals},
      {"leave scopes open", LeaveScopesOpen},
      {"clear the environment", ClearTheEnvironment},
      {"first scope on the smallest stack", FirstScopeOnTheSmallestStack},
      {"forbid the time stamp counter", ForbidTheTimeStampCounter},
      {"leave a sandbox", LeaveASandbox},
      {"remove the run directory", RemoveTheRunDirectory},
      {"end a scope on another thread", EndAScopeOnAnotherThread},
  };
  return actions;
}

}  // namespace gpubound
