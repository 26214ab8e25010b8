// SPDX-License-Identifier: Apache-2.0
//
// Names of calls. No state.
#include "analysis/trace/call_causes.h"

#include <algorithm>
#include <string>

#include "proto/sync_calls.h"

namespace gpubound {
namespace {

// Calls that make code for the device, or bring it there.
constexpr std::string_view kCompiles[] = {
    "ModuleLoad",         "LibraryLoad",      "LinkCreate",       "LinkAdd",
    "LinkComplete",       "GraphInstantiate", "FuncLoad",         "ModuleGetFunction",
    "StreamBeginCapture", "StreamEndCapture", "LibraryGetKernel",
};

// Calls that launch nothing begin with one of these.
constexpr std::string_view kLaunchNothing[] = {
    "Ctx",     "Device",   "Driver",  "Event",   "Free",   "Func",      "Get",
    "Host",    "Init",     "Kernel",  "Library", "Link",   "Malloc",    "MemAlloc",
    "MemFree", "MemGet",   "MemHost", "MemPool", "Module", "Occupancy", "Peek",
    "Pointer", "Profiler", "Runtime", "Set",     "Stream", "Thread",
};

// Of Intel's runtimes, Unified Runtime and Level Zero.
bool IsOneApiLaunch(std::string_view name) {
  return name.starts_with("urEnqueueKernelLaunch") ||
         name.starts_with("zeCommandListAppendLaunchKernel");
}

std::string_view WithoutPrefix(std::string_view name) {
  return StripApiPrefix(StripApiVersion(name));
}

}  // namespace

IdleCause CauseOfCall(std::string_view name) {
  name = WithoutPrefix(name);
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) return IdleCause::kCopy;
  const bool compiles =
      std::any_of(std::begin(kCompiles), std::end(kCompiles),
                  [name](std::string_view prefix) { return name.starts_with(prefix); });
  return compiles ? IdleCause::kCompile : IdleCause::kLaunch;
}

Launches LaunchesOf(std::string_view name) {
  name = WithoutPrefix(name);
  const bool nothing =
      std::any_of(std::begin(kLaunchNothing), std::end(kLaunchNothing),
                  [name](std::string_view prefix) { return name.starts_with(prefix); });
  if (nothing) return Launches::kNothing;
  const auto holds = [name](std::string_view part) { return name.find(part) != name.npos; };
  return holds("Graph") || holds("Batch") ? Launches::kMany : Launches::kOne;
}

WorkKind WorkLaunchedBy(std::string_view name) {
  if (IsOneApiLaunch(name)) return WorkKind::kKernel;
  name = WithoutPrefix(name);
  if (name.starts_with("Memcpy")) return WorkKind::kMemcpy;
  if (name.starts_with("Memset")) return WorkKind::kMemset;
  if (name.starts_with("GraphLaunch")) return WorkKind::kGraph;
  const bool kernel = name.starts_with("Launch") && !name.starts_with("LaunchHostFunc");
  return kernel ? WorkKind::kKernel : WorkKind::kNone;
}

bool LaunchesOneKernel(std::string_view name) {
  return WorkLaunchedBy(name) == WorkKind::kKernel && LaunchesOf(name) == Launches::kOne;
}

CaptureEdge CaptureEdgeOf(std::string_view name) {
  name = WithoutPrefix(name);
  if (name.starts_with("StreamBeginCapture")) return CaptureEdge::kBegins;
  return name == "StreamEndCapture" ? CaptureEdge::kEnds : CaptureEdge::kNone;
}

bool IsCompileOverhead(std::string_view name) {
  std::string upper;
  for (const char c : name) upper.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c);
  return upper.find("LAZY") != std::string::npos || upper.find("COMPIL") != std::string::npos ||
         upper.find("MODULE_LOAD") != std::string::npos;
}

}  // namespace gpubound
