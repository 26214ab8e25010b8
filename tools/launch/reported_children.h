// SPDX-License-Identifier: Apache-2.0
#ifndef GPUBOUND_TOOLS_LAUNCH_REPORTED_CHILDREN_H_
#define GPUBOUND_TOOLS_LAUNCH_REPORTED_CHILDREN_H_

#include <signal.h>

namespace gpubound {

// While one lives, how a child ended can be waited for. Where this process inherited that SIGCHLD
// is ignored, the kernel would keep nothing to wait for.
class ReportedChildren {
 public:
  ReportedChildren() {
    struct sigaction action = {};
    action.sa_handler = SIG_DFL;
    sigaction(SIGCHLD, &action, &before_);
  }
  ~ReportedChildren() { sigaction(SIGCHLD, &before_, nullptr); }
  ReportedChildren(const ReportedChildren&) = delete;
  ReportedChildren& operator=(const ReportedChildren&) = delete;

 private:
  struct sigaction before_ = {};
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_REPORTED_CHILDREN_H_
