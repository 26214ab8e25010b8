// SPDX-License-Identifier: Apache-2.0
//
// Finds out what `gpubound doctor` judges. Loads libcuda and our own core to see whether they load;
// initialises neither and starts nothing.
#ifndef GPUBOUND_TOOLS_LAUNCH_MACHINE_FACTS_H_
#define GPUBOUND_TOOLS_LAUNCH_MACHINE_FACTS_H_

#include <string>
#include <vector>

#include "tools/console/console.h"
#include "tools/launch/readiness.h"

namespace gpubound {

MachineFacts GatherMachineFacts();

// Where runs would be written: |path| itself where it is a directory, else the folder it would be
// made in.
RunPlaceFacts GatherRunPlace(const std::string& path);

// Every libcupti.so.N of CUDA 12 or newer in |folders|, in their order, newest of each first.
std::vector<std::string> FindCupti(const std::vector<std::string>& folders);

// Where cupti_hooks/cupti/cupti_library.cc would find one for a program that brings none: in the
// loader's path and in the toolkit; and where a Python program of the active environment would
// bring it from.
std::vector<std::string> CuptiFolders(const GetVariable& variable);

// Names in |environment| ("NAME=value") that begin with GPUBOUND_ and that nothing reads.
std::vector<std::string> UnknownVariables(const std::vector<std::string>& environment);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_MACHINE_FACTS_H_
