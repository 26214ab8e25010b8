// SPDX-License-Identifier: Apache-2.0
//
// The environment that makes a program part of a run: what `gpubound run` starts it with, and what
// `gpubound env` prints. Pure.
#ifndef GPUBOUND_TOOLS_LAUNCH_RUN_ENVIRONMENT_H_
#define GPUBOUND_TOOLS_LAUNCH_RUN_ENVIRONMENT_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/launch/library_files.h"

namespace gpubound {

// One variable that has to change.
struct Assignment {
  std::string name;
  std::string value;
  friend bool operator==(const Assignment&, const Assignment&) = default;
};

// |existing| with |shim| behind it, or |existing| itself where the shim is in it already. Behind,
// because a sanitizer's runtime insists on being first.
std::string AppendPreload(std::string_view existing, std::string_view shim);

// What to set so that a program started with |variable| writes into |run_directory|. Injection
// paths and a Python hook that somebody else has set are left alone. An empty |run_directory|
// leaves GPUBOUND_RUN out: each process then chooses its own directory.
std::vector<Assignment> RunAssignments(const LibraryFiles& libraries,
                                       const std::string& run_directory,
                                       const GetVariable& variable);

// Of |variable| LD_PRELOAD alone. For runs that are compared with one that is not recorded: both
// have the user's allocator or sanitizer, and who else set an injection path or a hook is not
// asked.
GetVariable PreloadOf(GetVariable variable);

// What to set so that a program started with |variable| finds the Python package in
// |package_folder|, which holds nothing else, behind what it has itself. Empty: nothing.
std::vector<Assignment> PackageAssignments(const std::string& package_folder,
                                           const GetVariable& variable);

// What to set so that a program started with |variable| is not recorded and finds the Python
// package all the same, as it does in a run.
std::vector<Assignment> PlainAssignments(const std::string& package_folder,
                                         const GetVariable& variable);

// |environment| ("NAME=value" each) with the assignments carried out, in its own order.
std::vector<std::string> WithAssignments(std::vector<std::string> environment,
                                         const std::vector<Assignment>& assignments);

// The environment of this process.
std::vector<std::string> OwnEnvironment();

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_RUN_ENVIRONMENT_H_
