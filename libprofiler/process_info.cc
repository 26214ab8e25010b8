// SPDX-License-Identifier: Apache-2.0
//
// Reads what /proc, the shim and the dynamic linker know of this process.
#include "libprofiler/process_info.h"

#include <dlfcn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "libprofiler/proc_file.h"
#include "libprofiler/shim/shim_info.h"
#include "proto/rank_variables.h"

namespace gpubound {
namespace {

constinit std::atomic<bool> g_has_python{false};
constinit std::atomic<bool> g_python_has_run{false};
constinit std::atomic<bool> g_has_read_maps{false};  // or a parent has, before its fork
// What Py_GetVersion returned: "3.11.2 (main, ...", a string of the interpreter's that stays.
constinit std::atomic<const char*> g_python_version{nullptr};

constinit std::atomic<uint64_t> g_python_runtime{0};  // InterpreterAddress
constinit std::atomic<uint64_t> g_python_code_type{0};

constinit std::atomic<const volatile char*> g_has_vforked{nullptr};
constinit std::atomic<bool (*)()> g_sandbox_refuses{nullptr};
constinit std::atomic<void (*)(const gpubound_wait_hooks*)> g_set_wait_hooks{nullptr};
constinit std::atomic<const char*> g_variables{""};  // gpubound_shim_info.variables

int64_t ReadClockNs(clockid_t clock) {
  timespec now;
  clock_gettime(clock, &now);
  return static_cast<int64_t>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

// Null where nobody exports |name|. What a failed search leaves behind for dlerror is released at
// once: a leak checker would hold it against the program.
void* FindSymbol(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == nullptr) {
    dlerror();
    dlerror();
  }
  return symbol;
}

std::string ReadCpuModel() {
  constexpr size_t kFirstCpu = 8192;  // its entry is some 1,500 bytes, most of them flags
  const std::string text = ReadProcFile("/proc/cpuinfo", kFirstCpu);
  const size_t line = text.find("model name");
  if (line == std::string::npos) return {};
  const size_t begin = text.find(": ", line);
  if (begin == std::string::npos) return {};
  return text.substr(begin + 2, text.find('\n', begin) - begin - 2);
}

}  // namespace

ProcessStart StampNow() noexcept {
  return {ReadClockNs(CLOCK_REALTIME), ReadClockNs(CLOCK_MONOTONIC),
          static_cast<uint64_t>(getpid()), 0};
}

bool ReadShimStamp(ProcessStart* start) noexcept {
  using ShimFunction = const gpubound_shim_info* (*)();
  void* symbol = FindSymbol("gpubound_shim_v1");
  if (symbol == nullptr) return false;
  ShimFunction shim = nullptr;
  std::memcpy(&shim, &symbol, sizeof(shim));
  const gpubound_shim_info* info = shim();
  if (info == nullptr || info->size < sizeof(gpubound_shim_info)) return false;
  g_variables.store(info->variables, std::memory_order_release);
  g_has_vforked.store(info->has_vforked, std::memory_order_release);
  g_sandbox_refuses.store(info->sandbox_refuses, std::memory_order_release);
  g_set_wait_hooks.store(info->set_wait_hooks, std::memory_order_release);
  if (info->pid != static_cast<uint64_t>(getpid())) return false;
  *start = {info->realtime_ns, info->monotonic_ns, info->pid, info->flags};
  return true;
}

bool MayBeVforkChild() noexcept {
  const volatile char* const has_vforked = g_has_vforked.load(std::memory_order_acquire);
  return has_vforked == nullptr || *has_vforked != 0;
}

bool SandboxRefuses() noexcept {
  bool (*const refuses)() = g_sandbox_refuses.load(std::memory_order_acquire);
  return refuses != nullptr && refuses();
}

void GiveWaitHooks(const gpubound_wait_hooks* hooks) noexcept {
  const auto set = g_set_wait_hooks.load(std::memory_order_acquire);
  if (set != nullptr) set(hooks);
}

const char* VariableAtStart(const char* name) noexcept {
  const size_t length = std::strlen(name);
  const char* next = g_variables.load(std::memory_order_acquire);
  for (; *next != '\0'; next += std::strlen(next) + 1) {
    if (std::strncmp(next, name, length) == 0 && next[length] == '=') return next + length + 1;
  }
  return nullptr;
}

uint32_t CurrentTid() noexcept { return static_cast<uint32_t>(syscall(SYS_gettid)); }

std::string CurrentThreadName() {
  char name[17] = {};  // a sandbox that lets no file be opened may allow this
  if (prctl(PR_GET_NAME, name) != 0) return {};
  return name;
}

std::string ThreadName(uint32_t tid) {
  constexpr size_t kMaxComm = 64;
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/self/task/%u/comm", tid);
  std::string name = ReadProcFile(path, kMaxComm);
  while (!name.empty() && name.back() == '\n') name.pop_back();
  return name;
}

std::string HostName() {
  char name[256] = {};
  if (gethostname(name, sizeof(name) - 1) != 0 || name[0] == '\0') return "localhost";
  return name;
}

std::string BootId() {
  std::string id = ReadProcFile("/proc/sys/kernel/random/boot_id", 64);
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

int64_t PidNamespace() {
  struct stat info;
  return stat("/proc/self/ns/pid", &info) == 0 ? static_cast<int64_t>(info.st_ino) : 0;
}

std::optional<RankOfJob> OwnRank() {
  const auto number_in = [](const char* name) -> std::optional<int64_t> {
    const char* const text = std::getenv(name);
    if (text == nullptr) return std::nullopt;
    int64_t number = 0;
    const char* const end = text + std::strlen(text);
    const auto [stop, error] = std::from_chars(text, end, number);
    if (error != std::errc() || stop != end) return std::nullopt;
    return number;
  };
  for (const RankVariables& names : kRankVariables) {
    const std::optional<int64_t> rank = number_in(names.rank);
    const std::optional<int64_t> size = number_in(names.size);
    if (rank && size && *rank >= 0 && *rank < *size) return RankOfJob{names.rank, *rank, *size};
  }
  return std::nullopt;
}

std::string CommandLine() {
  constexpr size_t kMaxCommand = 64 * 1024;
  std::string command = ReadProcFile("/proc/self/cmdline", kMaxCommand);
  if (command.size() > kMaxCommand) command.resize(kMaxCommand);
  return command;
}

std::string ProgramName(const std::string& command_line) {
  std::string program(command_line.c_str());  // up to the first NUL
  const size_t slash = program.rfind('/');
  if (slash != std::string::npos) program.erase(0, slash + 1);
  return program.empty() ? "unknown" : program;
}

void LookForPython() {
  bool found = HasPython();
  if (void* symbol = FindSymbol("Py_IsInitialized")) {
    found = true;
    int (*is_initialized)() = nullptr;
    std::memcpy(&is_initialized, &symbol, sizeof(is_initialized));
    if (is_initialized() != 0) NotePythonRuns();
  }
  if (void* symbol = FindSymbol("Py_GetVersion")) {  // may be called before Py_Initialize
    const char* (*get_version)() = nullptr;
    std::memcpy(&get_version, &symbol, sizeof(get_version));
    g_python_version.store(get_version(), std::memory_order_relaxed);
  }
  if (!found && !g_has_read_maps.exchange(true, std::memory_order_relaxed)) {
    // A libpython that was opened privately, as an embedding program may do. Of one that is opened
    // later, Bystanders tells.
    constexpr size_t kMaxMaps = 16 * 1024 * 1024;
    found = ReadProcFile("/proc/self/maps", kMaxMaps).find(kPythonLibrary) != std::string::npos;
  }
  g_python_runtime.store(reinterpret_cast<uintptr_t>(FindSymbol("_PyRuntime")));
  g_python_code_type.store(reinterpret_cast<uintptr_t>(FindSymbol("PyCode_Type")));
  if (found) NotePythonLibrary();
}

void NotePythonRuns() { g_python_has_run.store(true, std::memory_order_relaxed); }

void NotePythonLibrary() { g_has_python.store(true, std::memory_order_relaxed); }

InterpreterAddress FoundInterpreter() {
  InterpreterAddress found;
  constexpr char kVersion3[] = "3.";
  const std::string version = PythonVersion();
  if (!version.starts_with(kVersion3)) return found;
  found.minor = std::atoi(version.c_str() + std::strlen(kVersion3));
  found.runtime = g_python_runtime.load(std::memory_order_relaxed);
  found.code_type = g_python_code_type.load(std::memory_order_relaxed);
  return found;
}

bool PythonHasRun() { return g_python_has_run.load(std::memory_order_relaxed); }

bool HasPython() { return g_has_python.load(std::memory_order_relaxed); }

std::string PythonVersion() {
  const char* version = g_python_version.load(std::memory_order_relaxed);
  return version == nullptr ? std::string() : ShortPythonVersion(version);
}

std::string ShortPythonVersion(const std::string& text) {
  const size_t minor = text.find('.');
  if (minor == std::string::npos) return {};
  const bool free_threaded = text.find("free-threading build") != std::string::npos;
  return text.substr(0, text.find_first_not_of("0123456789", minor + 1)) +
         (free_threaded ? "t" : "");
}

// The same for all processes, and the kernel asks every processor for its entry.
std::string CpuModel() {
  static const std::string* const model = new std::string(ReadCpuModel());
  return *model;
}

}  // namespace gpubound
