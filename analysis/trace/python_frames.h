// SPDX-License-Identifier: Apache-2.0
//
// Of which program a frame of a Python stack is: its own, a library's, or one that only hands on (the
// machinery of imports, torch's call of a module's forward, our own hooks). Pure.
#ifndef GPUBOUND_ANALYSIS_TRACE_PYTHON_FRAMES_H_
#define GPUBOUND_ANALYSIS_TRACE_PYTHON_FRAMES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/trace/run.h"

namespace gpubound {

// What a module does as it is imported, and a program, is in a function of that name.
inline constexpr std::string_view kModuleFunction = "<module>";

// The library that a file belongs to: the package below site-packages, "python" for the standard
// library and the interpreter; empty for the program's own.
std::string PackageOf(std::string_view file);

// What a file is imported as: its path below the folder of the packages, dotted.
std::string DottedModuleOf(std::string_view file);

// Whether row |id| of table `frame` may have |caller|: none, or one of |process| that came before it.
bool MayHaveCaller(int64_t id, int64_t caller, const ProcessFacts& process);

// Whether |function| does nothing itself that somebody would ask for.
bool OnlyHandsOn(const Function& function);

// The innermost frame of the program's own code; 0 where there is none.
FrameId OwnFrame(FrameId innermost, const ProcessFacts& process);

// Of the looks of |seen|, how many lie before |time_ns|.
uint32_t LooksBefore(const StackLooks& seen, int64_t time_ns);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TRACE_PYTHON_FRAMES_H_
