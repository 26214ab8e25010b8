// SPDX-License-Identifier: Apache-2.0
//
// Exit statuses of every command. Scripts and CI rely on them; values never change.
#ifndef GPUBOUND_TOOLS_CONSOLE_EXIT_CODES_H_
#define GPUBOUND_TOOLS_CONSOLE_EXIT_CODES_H_

namespace gpubound {

inline constexpr int kExitSuccess = 0;
inline constexpr int kExitCheckFailed = 1;  // the command worked; what it checked is not so
inline constexpr int kExitWrongUse = 2;
inline constexpr int kExitUnreadable = 3;  // input that cannot be read

// `gpubound run` hands on the status of the program, so its own failures keep clear of it, as those
// of env(1) and timeout(1) do.
inline constexpr int kExitLauncherFailed = 125;
inline constexpr int kExitCannotExecute = 126;
inline constexpr int kExitNotFound = 127;
inline constexpr int kExitSignalBase = 128;  // plus the number of the signal

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_CONSOLE_EXIT_CODES_H_
