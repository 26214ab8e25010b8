// SPDX-License-Identifier: Apache-2.0
//
// The processes that a program under test made, as /proc has them at this moment. Stateless.
#ifndef GPUBOUND_TESTS_LIFECYCLE_PROCESS_FAMILY_H_
#define GPUBOUND_TESTS_LIFECYCLE_PROCESS_FAMILY_H_

#include <sys/types.h>

#include <string>
#include <vector>

namespace gpubound {

struct FamilyMember {
  pid_t pid = 0;
  std::string name;  // as in /proc/PID/comm
};

// |leader|, its descendants, whatever group they are in, and its process group, whoever their
// parents are by now; zombies are left out. In order of pid.
std::vector<FamilyMember> FamilyOf(pid_t leader);

// The stacks of the threads of each of |family|, under its pid and name, where gdb is installed.
std::string StacksOf(const std::vector<FamilyMember>& family);

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIFECYCLE_PROCESS_FAMILY_H_
