// SPDX-License-Identifier: Apache-2.0
//
// What a process is, read from /proc and from the shim: identity, start, names. Read-only and
// stateless; any thread.
#ifndef GPUBOUND_LIBPROFILER_PROCESS_INFO_H_
#define GPUBOUND_LIBPROFILER_PROCESS_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "libprofiler/shim/wait_hooks.h"

namespace gpubound {

// The instant at which a process began to exist for us.
struct ProcessStart {
  int64_t realtime_ns = 0;
  int64_t monotonic_ns = 0;
  uint64_t pid = 0;
  uint32_t shim_flags = 0;  // GPUBOUND_SHIM_FOREIGN_...; 0 without a shim
  bool forked = false;      // has what its parent had mapped
};

// Now, for this process.
ProcessStart StampNow() noexcept;

// What a preloaded shim stamped for this process; false when there is none, or when it stamped
// another process and this one is a child made without fork handlers.
bool ReadShimStamp(ProcessStart* start) noexcept;

// What the variable |name|, one of ours, was when the program began, whatever it did to its
// environment since; null where it was not set, or no shim has been found yet.
const char* VariableAtStart(const char* name) noexcept;

// False where this is certainly no child of vfork, which runs in its parent's memory: asked of the
// shim, without a system call.
bool MayBeVforkChild() noexcept;

// Whether a sandbox forbids what recording takes, as the shim has found and said; false without a
// shim, which nobody has asked then.
bool SandboxRefuses() noexcept;

// Tells the shim who is to hear of waits (shim/wait_hooks.h); null: nobody. Nothing without a shim.
void GiveWaitHooks(const gpubound_wait_hooks* hooks) noexcept;

uint32_t CurrentTid() noexcept;

// Name of the calling thread, without opening a file.
std::string CurrentThreadName();

// Name of the thread |tid| of this process, as `ps -L` shows it; empty when it has ended.
std::string ThreadName(uint32_t tid);

std::string HostName();

// What tells this boot of this kernel from all others, and the inode of the namespace of our pids;
// empty and 0 where /proc does not say.
std::string BootId();
int64_t PidNamespace();

// Which rank of how many the launcher calls this process, by its environment.
struct RankOfJob {
  const char* variable;  // that said so
  int64_t rank;
  int64_t world_size;
};
std::optional<RankOfJob> OwnRank();

// The arguments of this process, each followed by NUL; empty when /proc cannot be read.
std::string CommandLine();

// Last path component of the first argument.
std::string ProgramName(const std::string& command_line);

// Where the interpreter is that the process exports; zeros where there is none.
struct InterpreterAddress {
  uint64_t runtime = 0;    // of _PyRuntime
  uint64_t code_type = 0;  // of PyCode_Type
  int minor = 0;           // of version 3
};

// Looks whether a Python interpreter is part of this process. Asks the dynamic linker, so never
// with a lock of ours held: a library's constructor may annotate while the linker's lock is taken.
void LookForPython();

// Part of the path of the interpreter's library, in /proc/self/maps.
inline constexpr std::string_view kPythonLibrary = "/libpython";

// Somebody has seen the interpreter at work; somebody has seen its library mapped.
void NotePythonRuns();
void NotePythonLibrary();

// What was found so far; false before the first look. A program may be linked to an interpreter that
// it never starts.
bool HasPython();
bool PythonHasRun();

// As the last look found it.
InterpreterAddress FoundInterpreter();

// "3.11", "3.14t" where it is free-threaded; empty without Python, or where the interpreter does
// not tell.
std::string PythonVersion();

// The same of what Py_GetVersion says.
std::string ShortPythonVersion(const std::string& text);

// Of the first CPU, as /proc/cpuinfo names it; empty where it does not.
std::string CpuModel();

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PROCESS_INFO_H_
