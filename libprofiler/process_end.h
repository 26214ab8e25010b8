// SPDX-License-Identifier: Apache-2.0
//
// A process whose main thread called pthread_exit ends when its last thread does. Ours must not be
// the one that keeps it alive.
#ifndef GPUBOUND_LIBPROFILER_PROCESS_END_H_
#define GPUBOUND_LIBPROFILER_PROCESS_END_H_

#include "libprofiler/kept_file.h"

namespace gpubound {

// Sees the end of a program's last thread. One thread; CloseInForkChild() in a child made by any.
class LastThreadWatch {
 public:
  // The file that says so stays open: a program may come to have no descriptor left.
  LastThreadWatch();
  ~LastThreadWatch();
  // False: nothing can be seen, so the process must not get a thread of ours.
  bool CanSee() const { return stat_.descriptor.load(std::memory_order_relaxed) >= 0; }

  // True when the main thread has ended and none runs any more but ours. Costs two small system
  // calls.
  bool IsLast();
  void CloseInForkChild() noexcept;

 private:
  KeptFile stat_;
};

// Ends the process as the C library would have done with its last thread: exit(0), handlers
// included, on a thread made for it. Returns at once; the caller goes on serving until the exit
// handlers stop it.
void ExitAsLastThread();

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PROCESS_END_H_
