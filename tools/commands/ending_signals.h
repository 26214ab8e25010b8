// SPDX-License-Identifier: Apache-2.0
//
// A command that ^C, SIGTERM or SIGHUP ends clears away what it has half done, and is then ended by
// that signal. What is ignored stays ignored. Owns one thread; construct before other threads and
// destroy on the same one.
#ifndef GPUBOUND_TOOLS_COMMANDS_ENDING_SIGNALS_H_
#define GPUBOUND_TOOLS_COMMANDS_ENDING_SIGNALS_H_

#include <signal.h>

#include <functional>
#include <thread>

namespace gpubound {

class EndingSignals {
 public:
  // |clear| is called on the thread of this object while the command goes on beside it. Where the
  // system has no descriptor or thread left the signals end the command as ever.
  explicit EndingSignals(std::function<void()> clear);
  ~EndingSignals();
  EndingSignals(const EndingSignals&) = delete;
  EndingSignals& operator=(const EndingSignals&) = delete;

 private:
  void Watch();

  const std::function<void()> clear_;
  sigset_t watched_ = {};  // blocked while this lives
  sigset_t before_ = {};
  int signals_ = -1;  // signalfd
  int over_ = -1;     // eventfd
  std::thread watcher_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_ENDING_SIGNALS_H_
