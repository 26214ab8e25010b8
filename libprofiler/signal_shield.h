// SPDX-License-Identifier: Apache-2.0
//
// Keeps signals and pthread_cancel away from the calling thread while the collector does work on
// it. For the length of one block.
#ifndef GPUBOUND_LIBPROFILER_SIGNAL_SHIELD_H_
#define GPUBOUND_LIBPROFILER_SIGNAL_SHIELD_H_

#include <pthread.h>
#include <signal.h>

#include <ctime>
#include <initializer_list>

namespace gpubound {

// A thread of the program's that has been cancelled ends where it next opens a file, writes or
// sleeps. In the middle of our code that would be the end of the program, which unwinds no further
// than a noexcept function.
class CancelBlock {
 public:
  CancelBlock() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
  ~CancelBlock() { pthread_setcancelstate(before_, nullptr); }
  CancelBlock(const CancelBlock&) = delete;
  CancelBlock& operator=(const CancelBlock&) = delete;

 private:
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// Around a lock: a handler of the program that annotates, or leaves by _exit, would wait for ever
// for one that the thread it interrupted holds.
class SignalBlock {
 public:
  SignalBlock() {
    sigset_t all;
    sigfillset(&all);
    // Faults of ours must end the program where they happen, as they would anywhere.
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) {
      sigdelset(&all, fault);
    }
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalBlock() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalBlock(const SignalBlock&) = delete;
  SignalBlock& operator=(const SignalBlock&) = delete;

 private:
  CancelBlock no_cancel_;
  sigset_t before_;
};

// The same around writing to files: a file size limit of the user (`ulimit -f`) fails a write of
// ours instead of ending the program by SIGXFSZ.
class SignalShield {
 public:
  SignalShield() {
    sigset_t pending;
    sigpending(&pending);
    had_file_size_signal_ = sigismember(&pending, SIGXFSZ) == 1;
  }

  ~SignalShield() {
    if (!had_file_size_signal_) {
      sigset_t file_size;
      sigemptyset(&file_size);
      sigaddset(&file_size, SIGXFSZ);
      const timespec now = {0, 0};
      sigtimedwait(&file_size, nullptr, &now);  // ours, if there is one
    }
  }
  SignalShield(const SignalShield&) = delete;
  SignalShield& operator=(const SignalShield&) = delete;

 private:
  SignalBlock block_;
  bool had_file_size_signal_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_SIGNAL_SHIELD_H_
