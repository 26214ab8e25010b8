// SPDX-License-Identifier: Apache-2.0
//
// Reports of a run that is being written, one after the other on a thread of their own: a glance at
// the run says what limits it so far, and waits for none of them. At the lowest priority and for at
// most a twentieth of the time, since the run is mostly on the same machine. One object, one caller.
#ifndef GPUBOUND_TOOLS_COMMANDS_REPORT_SO_FAR_H_
#define GPUBOUND_TOOLS_COMMANDS_REPORT_SO_FAR_H_

#include <memory>
#include <optional>
#include <string>

#include "analysis/report/report.h"

namespace gpubound {

// Recorded values alone. Absent where the run cannot be read, or is too large for a glance.
std::optional<Report> ReportSoFar(const std::string& run);

class ReportsSoFar {
 public:
  explicit ReportsSoFar(const std::string& run);

  // The newest that is there, null before the first; begins the next one where it is time.
  std::shared_ptr<const Report> Newest();

  // Whether one is being made: the process must then end without the destructors of statics.
  bool IsBusy() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // also the thread's, which is not waited for
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_REPORT_SO_FAR_H_
