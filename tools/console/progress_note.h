// SPDX-License-Identifier: Apache-2.0
//
// Says on stderr what takes so long, once it has taken a second, and wipes the line when it is
// over. Silent where stderr is no terminal, and with --quiet. Owns one thread; construct and destroy on the same one.
#ifndef GPUBOUND_TOOLS_CONSOLE_PROGRESS_NOTE_H_
#define GPUBOUND_TOOLS_CONSOLE_PROGRESS_NOTE_H_

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace gpubound {

class ProgressNote {
 public:
  explicit ProgressNote(const std::string& what);  // "reading train.gpubound"
  ~ProgressNote();
  ProgressNote(const ProgressNote&) = delete;
  ProgressNote& operator=(const ProgressNote&) = delete;

 private:
  void Tick();

  const std::string what_;
  std::mutex mutex_;
  std::condition_variable over_changed_;
  bool over_ = false;
  std::thread ticker_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_PROGRESS_NOTE_H_
