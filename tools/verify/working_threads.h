// SPDX-License-Identifier: Apache-2.0
//
// Where a program goes on that is stopped again and again, if one of its threads works at a time.
// Of the processors of a virtual machine some are two fifths slower than others, for seconds,
// because of their neighbours (docs/results/gpu.md), and a thread comes back to the one that it was
// on: two programs that are compared would differ by where they happened to begin.
//
// A program may not notice: the threads have the affinity that they had before as soon as they are
// where they shall be. What is forked within that time (some 20 us) inherits the narrow one.
#ifndef GPUBOUND_TOOLS_VERIFY_WORKING_THREADS_H_
#define GPUBOUND_TOOLS_VERIFY_WORKING_THREADS_H_

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <vector>

#include "tools/launch/processors.h"

namespace gpubound {

class WorkingThreads {
 public:
  // |process| is stopped, and has had |turn_ns| since the last call. Its working threads are those
  // that used a tenth or more of the processor time of that; before anything has worked, its main
  // thread; none where they worked in parallel.
  void Choose(pid_t process, int64_t turn_ns);

  // Once the process goes on, they do so at |place|, but for those that the program keeps elsewhere
  // itself. To be followed by Release when it has been continued.
  void Place(const Processors& place);
  void Release();

 private:
  struct Placed {
    pid_t thread;
    Processors before;
  };

  pid_t process_ = 0;
  std::map<pid_t, int64_t> worked_ns_;  // of every thread, so far
  std::vector<pid_t> chosen_;
  std::vector<Placed> placed_;
  Processors place_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_VERIFY_WORKING_THREADS_H_
