// SPDX-License-Identifier: Apache-2.0
//
// A program that uses the GPU and then ends, forks or goes on in each of the ways that processes
// have:
//
//   process_life_victim WAY N       N iterations, in the main thread where nothing else is said
//
//   return          from main
//   exit-in-thread  exit(7) in a thread that trains, while main waits for it
//   main-first      pthread_exit in main, while a thread initialises CUDA and annotates
//   busy-thread     from main, while a detached thread launches on and on
//   _exit           _exit(3)
//   abort, term     by that signal; crash: by SIGSEGV
//   short-threads   N threads, one after the other, of one iteration each
//   fork            then forks; the child annotates and leaves CUDA alone, the parent goes on
//                   training
//   exec            then executes itself in place, with `return`
//   daemon          forks twice and leaves its session first; the daemon trains
//   unload          loads $GPUBOUND_TEST_NVTX_MODULE, opens an NVTX range in it and unloads it,
//                   before each iteration
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "tests/integration/trainer.h"

namespace gpubound {
namespace {

void Train(int iterations) {
  Trainer trainer;
  for (int i = 0; i < iterations; ++i) {
    trainer.Iterate();
    GPUBOUND_STEP(i);
  }
}

// Without work for the device: the stand-in would have a thread for it, as the driver has.
[[noreturn]] void EndMainFirst(int iterations) {
  std::thread([iterations] {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    for (int i = 0; i < iterations; ++i) {
      GPUBOUND_OPERATION("in the thread");
    }
  }).detach();
  pthread_exit(nullptr);
}

void LeaveABusyThread(int iterations) {
  Train(iterations);
  std::thread([] {
    Trainer trainer;
    for (;;) trainer.Storm(1);
  }).detach();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
}

void TrainInShortThreads(int iterations) {
  for (int i = 0; i < iterations; ++i) std::thread([] { Train(1); }).join();
}

int TrainAroundAFork(int iterations) {
  Train(iterations);
  const pid_t child = fork();
  if (child == 0) {
    for (int i = 0; i < iterations; ++i) {
      GPUBOUND_OPERATION("in the child");
    }
    std::exit(0);
  }
  Train(iterations);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 22;
}

void TrainAsADaemon(int iterations) {
  if (fork() != 0) _exit(0);
  setsid();
  if (fork() != 0) _exit(0);
  Train(iterations);
}

void TrainBetweenModules(int iterations) {
  Trainer trainer;
  for (int i = 0; i < iterations; ++i) {
    void* const module = dlopen(std::getenv("GPUBOUND_TEST_NVTX_MODULE"), RTLD_NOW | RTLD_LOCAL);
    if (module == nullptr) std::exit(25);
    reinterpret_cast<void (*)()>(dlsym(module, "OpenAndCloseARange"))();
    if (dlclose(module) != 0) std::exit(26);
    trainer.Iterate();
  }
}

int Main(char** argv) {
  const std::string way = argv[1];
  const int count = std::atoi(argv[2]);
  if (way == "busy-thread") {
    LeaveABusyThread(count);
    return 0;
  }
  if (way == "main-first") EndMainFirst(count);
  if (way == "short-threads") {
    TrainInShortThreads(count);
    return 0;
  }
  if (way == "fork") return TrainAroundAFork(count);
  if (way == "daemon") {
    TrainAsADaemon(count);
    return 0;
  }
  if (way == "unload") {
    TrainBetweenModules(count);
    return 0;
  }
  if (way == "exit-in-thread") {
    std::thread([count] {
      Train(count);
      std::exit(7);
    }).join();
  }
  Train(count);
  if (way == "_exit") _exit(3);
  if (way == "abort") std::abort();
  if (way == "crash") {
    std::signal(SIGSEGV, SIG_DFL);  // a sanitizer's runtime would end it otherwise
    std::raise(SIGSEGV);
  }
  if (way == "term") std::raise(SIGTERM);
  if (way == "exec") execl(argv[0], argv[0], "return", argv[2], nullptr);
  return way == "return" ? 0 : 23;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) { return argc == 3 ? gpubound::Main(argv) : 24; }
