// SPDX-License-Identifier: Apache-2.0
//
// The rule of sync_calls.h. The families of names (cuda..., cu..., hip..., musa..., mu...) differ
// only in their prefix. Pure functions, any thread.
#include "proto/sync_calls.h"

#include <algorithm>

namespace gpubound {
namespace {

// What follows the prefix in a call that waits for a stream, device, context or event.
// ThreadSynchronize is the runtime's old name of DeviceSynchronize.
constexpr std::string_view kSynchronise[] = {
    "StreamSynchronize", "DeviceSynchronize", "CtxSynchronize",
    "EventSynchronize",  "ThreadSynchronize",
};

// As the hooks of annotate/python/gpubound/hooks name them. An array's elements are copied to the
// host when it is ready.
constexpr std::string_view kFrameworkWaits[] = {
    "block_until_ready",
    "_single_device_array_to_np_array_did_copy",
};

// "cuda" before "cu", "musa" before "mu".
constexpr std::string_view kPrefixes[] = {"cuda", "hip", "cu", "musa", "mu"};

// Intel's runtimes, Unified Runtime and Level Zero, have names of their own.
constexpr std::string_view kOneApiWaits[] = {
    "urQueueFinish",
    "urEventWait",
    "zeCommandQueueSynchronize",
    "zeEventHostSynchronize",
    "zeFenceHostSynchronize",
    "zeCommandListHostSynchronize",
};

constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Removes one suffix of the headers or of CUPTI; false when there is none.
bool StripOneSuffix(std::string_view* name) {
  for (std::string_view suffix : {std::string_view("_ptsz"), std::string_view("_ptds")}) {
    if (name->size() > suffix.size() && name->ends_with(suffix)) {
      name->remove_suffix(suffix.size());
      return true;
    }
  }
  size_t digits = 0;
  while (digits < name->size() && IsDigit((*name)[name->size() - 1 - digits])) ++digits;
  if (digits == 0 || name->size() <= digits + 2) return false;
  if (!name->substr(0, name->size() - digits).ends_with("_v")) return false;
  name->remove_suffix(digits + 2);
  return true;
}

}  // namespace

std::string_view StripApiVersion(std::string_view name) {
  while (StripOneSuffix(&name)) {
  }
  return name;
}

std::string_view StripApiPrefix(std::string_view name) {
  for (const std::string_view prefix : kPrefixes) {
    if (name.starts_with(prefix)) return name.substr(prefix.size());
  }
  return name;
}

ApiClass ClassifyApi(std::string_view name) {
  name = StripApiVersion(name);
  const size_t size = name.size();
  name = StripApiPrefix(name);
  if (name.size() == size) {
    const bool waits =
        std::find(std::begin(kOneApiWaits), std::end(kOneApiWaits), name) != std::end(kOneApiWaits);
    return waits ? ApiClass::kSync : ApiClass::kCall;
  }
  if (std::find(std::begin(kSynchronise), std::end(kSynchronise), name) != std::end(kSynchronise)) {
    return ApiClass::kSync;
  }
  if (!name.starts_with("Memcpy")) return ApiClass::kCall;
  return name.find("Async") == std::string_view::npos ? ApiClass::kSync : ApiClass::kAsyncCopy;
}

bool WaitsForGpu(std::string_view function) {
  const std::string_view name = function.substr(function.rfind('.') + 1);
  return std::find(std::begin(kFrameworkWaits), std::end(kFrameworkWaits), name) !=
         std::end(kFrameworkWaits);
}

}  // namespace gpubound
