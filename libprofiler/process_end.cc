// SPDX-License-Identifier: Apache-2.0
//
// Reads the states of this process's threads.
#include "libprofiler/process_end.h"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "libprofiler/own_threads.h"

namespace gpubound {
namespace {

constexpr char kStat[] = "/proc/self/stat";  // of the main thread, also once it has ended

// "PID (NAME) STATE ...", with the number of threads in the 20th place. The name may hold anything.
constexpr int kPlacesToThreads = 17;  // from the state on

}  // namespace

LastThreadWatch::LastThreadWatch() { stat_.Open(kStat, 0); }

LastThreadWatch::~LastThreadWatch() { stat_.Close(); }

void LastThreadWatch::CloseInForkChild() noexcept { stat_.Close(); }

// By number, and not by name: /proc may be of another namespace, where threads have other numbers.
// A thread of ours that begins or ends may count for one of the program's, until the next look.
bool LastThreadWatch::IsLast() {
  if (!stat_.IsOurs()) {
    stat_.Close();
    if (!stat_.Open(kStat, 0)) return false;
  }
  // Counted before the kernel's number is read: one that begins meanwhile is in that alone, and one
  // that ends meanwhile is a change.
  const uint64_t changes = OwnThreadChanges();
  const int own = CountOwnThreads();
  char text[512];
  const int file = stat_.descriptor.load(std::memory_order_relaxed);
  const ssize_t length = pread(file, text, sizeof(text) - 1, 0);
  if (length <= 0) return false;
  text[length] = '\0';
  const char* place = std::strrchr(text, ')');
  if (place == nullptr || std::strncmp(place, ") Z ", 4) != 0) return false;
  place += 2;
  for (int i = 0; i < kPlacesToThreads && place != nullptr; ++i) {
    place = std::strchr(place, ' ');
    if (place != nullptr) ++place;
  }
  return place != nullptr && std::atoi(place) == 1 + own && OwnThreadChanges() == changes;
}

namespace {

// The signals that the main thread had blocked when it ended, as those have that it made, unless
// they chose otherwise.
sigset_t MaskOfMainThread() {
  sigset_t mask;
  sigemptyset(&mask);
  std::FILE* file = std::fopen("/proc/self/status", "re");
  if (file == nullptr) return mask;
  char line[256];
  unsigned long long blocked = 0;
  while (std::fgets(line, sizeof(line), file) != nullptr) {
    if (std::sscanf(line, "SigBlk: %llx", &blocked) == 1) break;
  }
  std::fclose(file);
  for (int signal = 1; signal <= 64; ++signal) {
    if ((blocked >> (signal - 1) & 1) != 0) sigaddset(&mask, signal);
  }
  return mask;
}

void* Exit(void*) {
  // The C library, too, runs the handlers on whichever thread is the last, of the program's: where
  // this one was made, every signal is blocked, and what handlers start would inherit that.
  const sigset_t mask = MaskOfMainThread();
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  std::exit(0);
}

}  // namespace

void ExitAsLastThread() {
  pthread_t thread;
  if (pthread_create(&thread, nullptr, &Exit, nullptr) == 0) pthread_detach(thread);
}

}  // namespace gpubound
