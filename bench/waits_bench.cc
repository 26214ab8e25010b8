// SPDX-License-Identifier: Apache-2.0
//
// Calls of functions that may block, and do not: ns each without the library, with it where nothing
// is recorded, where another thread records, and on a thread that records. Each is a process of its
// own; they take turns, and the best round of each counts, since what disturbs only ever adds.
//
// waits_bench [TURNS]: default 5.
#include <gpubound/annotate.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace {

enum class Who { kNobody, kAnotherThread, kThisThread };

int64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

template <typename Body>
double BestNs(Body body) {
  constexpr int kCalls = 100'000;
  int64_t best_ns = INT64_MAX;
  for (int round = 0; round < 15; ++round) {
    const int64_t begin_ns = NowNs();
    for (int call = 0; call < kCalls; ++call) body();
    best_ns = std::min(best_ns, NowNs() - begin_ns);
  }
  return static_cast<double>(best_ns) / kCalls;
}

constexpr const char* kCalls[] = {
    "pthread_mutex_lock and _unlock", "sem_post and sem_wait", "pthread_cond_signal",
    "poll that does not wait",        "read of a file",        "read of a pipe",
    "futex that nobody waits for",    "another system call"};
constexpr size_t kCallCount = std::size(kCalls);

void Measure(double (&ns)[kCallCount]) {
  pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  int ends[2];
  int word = 0;
  char byte = 0;
  if (pipe(ends) != 0) std::exit(1);
  FILE* const zeros = std::fopen("/dev/zero", "r");
  pollfd file = {ends[0], POLLIN, 0};
  size_t next = 0;
  ns[next++] = BestNs([&] {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
  });
  ns[next++] = BestNs([&] {
    sem_post(&semaphore);
    sem_wait(&semaphore);
  });
  ns[next++] = BestNs([&] { pthread_cond_signal(&condition); });
  ns[next++] = BestNs([&] { poll(&file, 1, 0); });
  ns[next++] = BestNs([&] {
    if (read(fileno(zeros), &byte, 1) != 1) std::exit(1);
  });
  ns[next++] = BestNs([&] {
    if (write(ends[1], "x", 1) != 1 || read(ends[0], &byte, 1) != 1) std::exit(1);
  });
  ns[next++] =
      BestNs([&] { syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0); });
  ns[next++] = BestNs([&] { syscall(SYS_getppid); });
}

void Scope() { GPUBOUND_OPERATION("scope"); }

// In a process that records or not; the figures go into a pipe.
int MeasureHere(Who who, int into) {
  if (who == Who::kAnotherThread) std::thread(Scope).join();
  if (who == Who::kThisThread) Scope();
  // With a thread beside it each of these processes has one: the kernel is slower to find a file.
  pthread_barrier_t never;
  pthread_barrier_init(&never, nullptr, 2);
  std::thread([&never] { pthread_barrier_wait(&never); }).detach();
  double ns[kCallCount];
  Measure(ns);
  pthread_barrier_wait(&never);
  return write(into, ns, sizeof(ns)) == static_cast<ssize_t>(sizeof(ns)) ? 0 : 1;
}

struct Variant {
  const char* name;
  bool preloaded;
  const char* who;
  std::vector<double> ns = std::vector<double>(kCallCount, 1e9);
};

bool Run(const char* self, Variant* variant) {
  int ends[2];
  if (pipe(ends) != 0) return false;
  const pid_t child = fork();
  if (child == 0) {
    if (variant->preloaded) setenv("LD_PRELOAD", GPUBOUND_SHIM_PATH, 1);
    const std::string into = std::to_string(ends[1]);
    execl(self, self, variant->who, into.c_str(), static_cast<char*>(nullptr));
    _exit(127);
  }
  close(ends[1]);
  double ns[kCallCount];
  const bool read_all = read(ends[0], ns, sizeof(ns)) == static_cast<ssize_t>(sizeof(ns));
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  for (size_t i = 0; read_all && i < kCallCount; ++i) {
    variant->ns[i] = std::min(variant->ns[i], ns[i]);
  }
  return read_all && status == 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3) {
    const char* const who = arguments[1];
    return MeasureHere(std::strcmp(who, "this") == 0      ? Who::kThisThread
                       : std::strcmp(who, "another") == 0 ? Who::kAnotherThread
                                                          : Who::kNobody,
                       std::atoi(arguments[2]));
  }
  const int turns = count > 1 ? std::atoi(arguments[1]) : 5;
  char folder[] = "/tmp/waits_bench.XXXXXX";
  if (mkdtemp(folder) == nullptr) return 1;
  setenv("GPUBOUND_RUN", (std::string(folder) + "/run.gpubound").c_str(), 1);
  Variant variants[] = {{"plain", false, "nobody"},
                        {"nothing recorded", true, "nobody"},
                        {"another thread", true, "another"},
                        {"recorded", true, "this"}};
  bool good = true;
  for (int turn = 0; turn < turns; ++turn) {
    for (Variant& variant : variants) good = Run(arguments[0], &variant) && good;
  }
  std::filesystem::remove_all(folder);
  if (!good) {
    std::fprintf(stderr, "waits_bench: a run failed\n");
    return 1;
  }
  std::printf("%-32s", "ns a turn");
  for (const Variant& variant : variants) std::printf("%18s", variant.name);
  std::printf("\n");
  for (size_t i = 0; i < kCallCount; ++i) {
    std::printf("%-32s%18.1f", kCalls[i], variants[0].ns[i]);
    for (size_t v = 1; v < std::size(variants); ++v) {
      std::printf("%+18.1f", variants[v].ns[i] - variants[0].ns[i]);
    }
    std::printf("\n");
  }
}
