// SPDX-License-Identifier: Apache-2.0
//
// A small training program on the stand-in CUDA runtime, annotated, without any learning: what it
// does is known exactly, so a test can say what a report of it has to hold.
//
//   integration_victim train N       N iterations
//   integration_victim graphs N      captures two kernels in operation "capture", then N times
//                                    replays them in operation "inference"
//   integration_victim storm N       launches N kernels as fast as it can; prints
//                                    "resident KIB KIB", after a quarter of them and at the end
//   integration_victim steady N      launches 20,000 kernels a second for N seconds; prints as
//                                    storm
//   integration_victim pressing N    likewise 100,000
//   integration_victim ahead N       N iterations of ten ms that launch 50 kernels each and wait
//                                    for none
//   integration_victim threads N     N threads that live at once launch 100 kernels each; prints
//                                    as storm
//   integration_victim brief N       N threads, one after the other, launch a kernel each; prints
//                                    as storm
//   integration_victim uninjected N  N iterations; CUDA is told to load no tool before it starts
//   integration_victim events N      N times a kernel, an event behind it, and a kernel of another
//                                    stream that waits for the event
//   integration_victim steps_slowly N    N iterations of ten ms each, without any CUDA
//   integration_victim steps_and_kill N  the same, then SIGKILL
//   integration_victim updates N     as graphs, then captures another first kernel in operation
//                                    "recapture", updates the graph with it and replays that N
//                                    times
//   integration_victim added N       as graphs, of nodes that it adds itself; see trainer.h
//   integration_victim devices N     N iterations on two devices, see device_pair.h
//   integration_victim left_alone N  iterations until CUPTI listens to nothing any more, then N;
//                                    prints "listening KINDS CALLBACKS SUBSCRIBERS", in the
//                                    first iteration and at the end
//   integration_victim second_tool N N iterations, then N more while the profiler in the library
//                                    $GPUBOUND_TEST_SECOND_TOOL records; prints what it said
//   integration_victim fork N        the same in this process and in a child, at the same time
//   integration_victim die N         N iterations, then SIGKILL inside an operation; prints "took
//                                    NS", the duration of the iterations
//   integration_victim annotate N    N operations without any CUDA
//
// Prints "trained N" when it is done. One thread where nothing else is said.
#include <dlfcn.h>
#include <gpubound/annotate.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/integration/device_pair.h"
#include "tests/integration/trainer.h"
#include "tests/sim/include/gpubound_sim.h"

namespace gpubound {
namespace {

void Train(int iterations) {
  Trainer trainer;
  GPUBOUND_PHASE("update");
  for (int i = 0; i < iterations; ++i) {
    trainer.Iterate();
    GPUBOUND_STEP(i);
  }
}

// An iteration in ten milliseconds.
void TrainSlowly(int iterations) {
  GPUBOUND_PHASE("collection");
  for (int i = 0; i < iterations; ++i) {
    {
      GPUBOUND_OPERATION("thinking");
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    GPUBOUND_STEP(i);
  }
}

void ReplayGraphs(int count) {
  Trainer trainer;
  cudaGraphExec_t executable = trainer.Capture();
  for (int i = 0; i < count; ++i) trainer.Replay(executable);
}

// With the driver's names of kernels where the test has a libcuda that knows them.
void ReplayBuiltGraph(int count) {
  if (const char* driver = std::getenv("GPUBOUND_TEST_DRIVER_NAMES")) dlopen(driver, RTLD_NOW);
  Trainer trainer;
  cudaGraphExec_t executable = trainer.Build();
  for (int i = 0; i < count; ++i) trainer.Replay(executable);
}

void ReplayUpdatedGraph(int count) {
  Trainer trainer;
  cudaGraphExec_t executable = trainer.Capture();
  for (int i = 0; i < count; ++i) trainer.Replay(executable);
  trainer.Update(executable);
  for (int i = 0; i < count; ++i) trainer.Replay(executable);
}

void TrainOnTwoDevices(int iterations) {
  DevicePair pair;
  for (int i = 0; i < iterations; ++i) pair.Iterate();
}

long ResidentKib() {
  long pages = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%*d %ld", &pages) != 1) std::exit(24);
  std::fclose(file);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

void Storm(int launches) {
  Trainer trainer;
  trainer.Storm(launches / 4);
  const long early = ResidentKib();
  trainer.Storm(launches - launches / 4);
  std::printf("resident %ld %ld\n", early, ResidentKib());
}

void Steady(int seconds, int launches_a_second) {
  constexpr auto kTurn = std::chrono::milliseconds(10);
  Trainer trainer;
  const int turns = seconds * 100;
  long early = 0;
  auto next = std::chrono::steady_clock::now();
  for (int turn = 0; turn < turns; ++turn) {
    trainer.Storm(launches_a_second / 100);
    if (turn == turns / 4) early = ResidentKib();
    next += kTurn;
    std::this_thread::sleep_until(next);
  }
  std::printf("resident %ld %ld\n", early, ResidentKib());
}

// The device falls behind, if its kernels are longer than 200 us.
void RunAhead(int iterations) {
  Trainer trainer;
  for (int i = 0; i < iterations; ++i) {
    {
      GPUBOUND_OPERATION("backpropagation");
      trainer.Storm(50);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    GPUBOUND_STEP(i);
  }
}

// Asks for errors, as frameworks do after every call.
void Poll(int milliseconds) {
  Trainer trainer;
  trainer.Iterate();
  long polled = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(milliseconds);
  while (std::chrono::steady_clock::now() < end) {
    for (int i = 0; i < 100; ++i, ++polled) cudaGetLastError();
  }
  std::printf("polled %ld\n", polled);
}

void LaunchInThreads(int count) {
  constexpr int kLaunches = 100;
  Trainer trainer;
  const long early = ResidentKib();
  std::vector<std::thread> threads;
  for (int t = 0; t < count; ++t) {
    threads.emplace_back([&trainer] {
      for (int i = 0; i < kLaunches; ++i) {
        trainer.Storm(1);
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::printf("resident %ld %ld\n", early, ResidentKib());
}

void LaunchInBriefThreads(int count) {
  Trainer trainer;
  const long early = ResidentKib();
  // In bursts, 2,500 threads a second at most: CUPTI has buffers for nearly a second of them, so
  // that a thread of ours that waits for a busy processor may be late by half of that.
  constexpr int kBurst = 50;
  constexpr auto kBreak = std::chrono::milliseconds(20);
  for (int t = 1; t <= count; ++t) {
    std::thread([&trainer] { trainer.Storm(1); }).join();
    if (t % kBurst == 0) std::this_thread::sleep_for(kBreak);
  }
  std::printf("resident %ld %ld\n", early, ResidentKib());
}

void WaitForEvents(int count) {
  Trainer trainer;
  for (int i = 0; i < count; ++i) trainer.HandOverByEvent();
}

gpubound_sim_listening Listening() {
  gpubound_sim_listening now = {};
  void* cupti = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);
  if (cupti == nullptr) return now;
  reinterpret_cast<gpubound_sim_listening_fn>(dlsym(cupti, "gpubound_sim_listening_now"))(&now);
  dlclose(cupti);
  return now;
}

void PrintListening() {
  const gpubound_sim_listening now = Listening();
  std::printf("listening %u %u %u\n", now.kinds, now.callbacks, now.subscribers);
}

void TrainUntilLeftAlone(int iterations) {
  Trainer trainer;
  trainer.Iterate();
  PrintListening();
  while (Listening().subscribers != 0) trainer.Iterate();
  for (int i = 0; i < iterations; ++i) trainer.Iterate();
  PrintListening();
}

// As torch does with its profiler: opened privately, when it is wanted.
void TrainUnderSecondTool(int iterations) {
  Trainer trainer;
  for (int i = 0; i < iterations; ++i) trainer.Iterate();
  void* tool = dlopen(std::getenv("GPUBOUND_TEST_SECOND_TOOL"), RTLD_NOW | RTLD_LOCAL);
  if (tool == nullptr) std::exit(25);
  const auto start = reinterpret_cast<int (*)()>(dlsym(tool, "SecondToolStart"));
  const auto stop = reinterpret_cast<int (*)()>(dlsym(tool, "SecondToolStop"));
  const int started = start();
  for (int i = 0; i < iterations; ++i) trainer.Iterate();
  std::printf("second tool: %d", started);
  if (started == 0) std::printf(", kernels %d", stop());
  std::printf("\n");
  PrintListening();
}

int TrainTwice(int iterations) {
  const pid_t child = fork();  // before CUDA, which does not survive it
  Train(iterations);
  if (child == 0) std::exit(0);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 22;
}

void TrainAndDie(int iterations) {
  const auto begin = std::chrono::steady_clock::now();
  Train(iterations);
  const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
  std::printf("took %lld\n", static_cast<long long>(took.count()));
  std::fflush(stdout);
  GPUBOUND_OPERATION("last words");
  kill(getpid(), SIGKILL);
}

void Annotate(int operations) {
  for (int i = 0; i < operations; ++i) {
    GPUBOUND_OPERATION("thinking");
  }
}

int Main(int argc, char** argv) {
  const char* action = argc > 1 ? argv[1] : "";
  const int count = argc > 2 ? std::atoi(argv[2]) : 0;
  int status = 0;
  if (std::strcmp(action, "train") == 0) {
    Train(count);
  } else if (std::strcmp(action, "steps_slowly") == 0) {
    TrainSlowly(count);
  } else if (std::strcmp(action, "steps_and_kill") == 0) {
    TrainSlowly(count);
    raise(SIGKILL);
  } else if (std::strcmp(action, "graphs") == 0) {
    ReplayGraphs(count);
  } else if (std::strcmp(action, "added") == 0) {
    ReplayBuiltGraph(count);
  } else if (std::strcmp(action, "devices") == 0) {
    TrainOnTwoDevices(count);
  } else if (std::strcmp(action, "updates") == 0) {
    ReplayUpdatedGraph(count);
  } else if (std::strcmp(action, "storm") == 0) {
    Storm(count);
  } else if (std::strcmp(action, "steady") == 0) {
    Steady(count, 20'000);
  } else if (std::strcmp(action, "pressing") == 0) {
    Steady(count, 100'000);
  } else if (std::strcmp(action, "ahead") == 0) {
    RunAhead(count);
  } else if (std::strcmp(action, "poll") == 0) {
    Poll(count);
  } else if (std::strcmp(action, "threads") == 0) {
    LaunchInThreads(count);
  } else if (std::strcmp(action, "brief") == 0) {
    LaunchInBriefThreads(count);
  } else if (std::strcmp(action, "uninjected") == 0) {
    unsetenv("CUDA_INJECTION64_PATH");
    Train(count);
  } else if (std::strcmp(action, "events") == 0) {
    WaitForEvents(count);
  } else if (std::strcmp(action, "left_alone") == 0) {
    TrainUntilLeftAlone(count);
  } else if (std::strcmp(action, "second_tool") == 0) {
    TrainUnderSecondTool(count);
  } else if (std::strcmp(action, "fork") == 0) {
    status = TrainTwice(count);
  } else if (std::strcmp(action, "die") == 0) {
    TrainAndDie(count);
  } else if (std::strcmp(action, "annotate") == 0) {
    Annotate(count);
  } else {
    std::fprintf(stderr, "integration_victim: what is '%s'?\n", action);
    return 23;
  }
  std::printf("trained %d\n", count);
  return status;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) { return gpubound::Main(argc, argv); }
