// SPDX-License-Identifier: Apache-2.0
//
// Stands where libgpubound_core.so would, to show what the shim asks of it. Appends one line per
// event to $MOCK_CORE_LOG; $MOCK_CORE_MODE makes it slow, absent-minded or talkative.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "annotate/include/gpubound/api.h"
#include "libprofiler/shim/shim_info.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

bool InMode(const char* mode) {
  const char* value = std::getenv("MOCK_CORE_MODE");
  return value != nullptr && std::strcmp(value, mode) == 0;
}

void Log(const char* event) {
  const char* path = std::getenv("MOCK_CORE_LOG");
  if (path == nullptr) return;
  char line[256];
  const int length = std::snprintf(line, sizeof(line), "%s\n", event);
  const int log = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  if (log >= 0 && write(log, line, static_cast<size_t>(length)) < 0) std::abort();
  close(log);
}

template <typename Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

const gpubound_api kTable = {
    sizeof(gpubound_api),
    GPUBOUND_API_VERSION,
    [](uint32_t, uint32_t, const char*, const char*, size_t) -> uint32_t { return 1; },
    [](uint32_t) {},
    [](uint32_t) {},
    [](uint32_t) {},
    [](uint64_t) {},
    [](uint32_t, double) {},
    []() -> uint64_t { return 0; },
    [](uint64_t) {},
    [](uint64_t) {},
    []() {},
    []() {},
    [](const char*, uint64_t, const char*, size_t) {},
    [](uint32_t*, uint32_t) -> uint32_t { return 0; },
    []() -> uint32_t { return 0; },
    [](uint64_t) {},
    [](uint64_t) {},
    [](uint64_t) {},
    []() -> uint32_t { return 0; },
    []() {},
};

__attribute__((constructor)) void Loaded() {
  Log("load");
  if (InMode("slow")) usleep(600'000);
}

}  // namespace

EXPORT const gpubound_api* gpubound_core_api_v1(void) {
  if (InMode("no table")) return nullptr;
  if (InMode("asks back") && Find<decltype(gpubound_api_v1)>("gpubound_api_v1")() != nullptr) {
    Log("was given a table while loading");
  }
  return &kTable;
}

EXPORT void gpubound_core_finish_v1(const char* how) {
  Log(how);
  if (InMode("slow finish")) usleep(600'000);
  if (InMode("signal in finish")) raise(SIGUSR1);
  if (InMode("slow finish")) Log("finished");
}

// What the CUDA driver calls: the core was loaded without the shim's doing.
EXPORT int InitializeInjection(void) {
  return Find<decltype(gpubound_shim_v1)>("gpubound_shim_v1")()->pid ==
                 static_cast<uint64_t>(getpid())
             ? 1
             : 0;
}
