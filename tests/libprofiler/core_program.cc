// SPDX-License-Identifier: Apache-2.0
//
// core_program CORE SCENARIO [ARGUMENT]: loads the shared core as the shim would and lives through
// one scenario. Exit status 120 to 122 when it cannot.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>
#include <string>

#include "tests/libprofiler/core_scenarios.h"

namespace {

// Without a table where it cannot be loaded.
gpubound::Core Load(const char* path) {
  gpubound::Core core = {};
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "core_program: %s\n", dlerror());
    return core;
  }
  core.api = reinterpret_cast<const gpubound_api* (*)()>(dlsym(library, "gpubound_core_api_v1"))();
  core.finish = reinterpret_cast<void (*)(const char*)>(dlsym(library, "gpubound_core_finish_v1"));
  core.initialize_injection = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  return core;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 120;
  pthread_atfork(&gpubound::StretchFork, nullptr, nullptr);  // runs after the core's handlers
  if (std::string(argv[2]) == "fork_around_the_load") {
    return gpubound::ForkAroundTheLoad([argv] { return Load(argv[1]); });
  }
  const gpubound::Core core = Load(argv[1]);
  if (core.api == nullptr) return 121;
  const auto scenario = gpubound::Scenarios().find(argv[2]);
  if (scenario == gpubound::Scenarios().end()) return 122;
  return scenario->second(core, argc > 3 ? argv[3] : "");
}
