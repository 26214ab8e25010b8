// SPDX-License-Identifier: Apache-2.0
//
// Of a launcher of several processes, as mpirun and srun, which job it has started this process in.
#ifndef GPUBOUND_TOOLS_LAUNCH_LAUNCHED_JOB_H_
#define GPUBOUND_TOOLS_LAUNCH_LAUNCHED_JOB_H_

#include <functional>
#include <string>

namespace gpubound {

// What is the same for all processes of that job and for no other one's: what the launcher calls it,
// else which process started them, on this host. Empty where this is not one of several ranks.
// |variable|: the environment; null: unset.
std::string LaunchedJob(const std::function<const char*(const char*)>& variable);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_LAUNCHED_JOB_H_
