// SPDX-License-Identifier: Apache-2.0
//
// One running calibration program (tools/calibrate/programs/workload.h, or the Python script that
// talks likewise) and the conversation with it. Single-threaded.
#ifndef GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PEER_H_
#define GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PEER_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/base/status.h"
#include "tools/launch/processors.h"

namespace gpubound {

class CalibrationPeer {
 public:
  // Starts |command| with |environment|; its stderr goes nowhere.
  static Result<std::unique_ptr<CalibrationPeer>> Start(
      const std::vector<std::string>& command, const std::vector<std::string>& environment);

  // Lets it end, and makes it end after some seconds.
  ~CalibrationPeer();
  CalibrationPeer(const CalibrationPeer&) = delete;
  CalibrationPeer& operator=(const CalibrationPeer&) = delete;

  struct Answer {
    double ns = 0;        // per occurrence
    double alone_ns = 0;  // without what lies between them
    std::string refusal;  // why it cannot; empty where it can
  };
  // Repeats workload |name| |count| times. An error: the program ended, hangs or talks nonsense;
  // it is not to be asked again then.
  Result<Answer> Run(const std::string& name, uint64_t count);

  // Its main thread works on these from here on; what it has started before goes on where it likes.
  // Without effect where the system does not let it.
  void StayOn(const Processors& processors);

  // Lets it end now. False where it had to be killed or ended badly.
  bool Finish();

 private:
  CalibrationPeer(std::string program, pid_t pid, int socket)
      : program_(std::move(program)), pid_(pid), socket_(socket) {}

  std::optional<std::string> ReadLine();
  Error Failure(const std::string& found, const std::string& expected) const;

  const std::string program_;
  pid_t pid_;
  const int socket_;  // its stdin and stdout
  std::string unread_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CALIBRATE_CALIBRATION_PEER_H_
