// SPDX-License-Identifier: Apache-2.0
//
// What the file of a program says about whether a preloaded library can get into it. Used to
// explain a run that recorded nothing.
#ifndef GPUBOUND_TOOLS_LAUNCH_PROGRAM_FILE_H_
#define GPUBOUND_TOOLS_LAUNCH_PROGRAM_FILE_H_

#include <string>
#include <string_view>
#include <vector>

#include "tools/console/console.h"

namespace gpubound {

struct ProgramFile {
  std::string path;           // empty: not found
  bool other_rights = false;  // set-user-ID or set-group-ID: the loader ignores LD_PRELOAD
  bool is_elf = false;
  bool other_machine = false;  // 32 bit, or not this CPU: the library does not fit
  bool is_static = false;      // no dynamic loader, so nobody reads LD_PRELOAD
};

// The file that execvp would run for |name|; empty when there is none.
std::string FindProgram(const std::string& name, const GetVariable& variable);

ProgramFile InspectProgram(const std::string& path);

// Sentences for the user: what explains that |program| recorded nothing, most certain first, or
// what might, when nothing does for certain. |hooks_python|: this gpubound has what hooks Python.
// Never empty.
std::vector<std::string> WhyNothingRecorded(const ProgramFile& program, bool hooks_python,
                                            const GetVariable& variable);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_PROGRAM_FILE_H_
