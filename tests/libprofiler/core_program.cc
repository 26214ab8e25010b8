// SPDX-License-Identifier: Apache-2.0
//
// core_program CORE SCENARIO [ARGUMENT]: loads the shared core as the shim would and lives through
// one scenario. Exit status 120 to 122 when it cannot.
#include <dlfcn.h>
#include <pthread.h>

#include <cstdio>

#include "tests/libprofiler/core_scenarios.h"

int main(int argc, char** argv) {
  if (argc < 3) return 120;
  pthread_atfork(&gpubound::StretchFork, nullptr, nullptr);  // runs after the core's handlers
  void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "core_program: %s\n", dlerror());
    return 121;
  }
  gpubound::Core core;
  core.api = reinterpret_cast<const gpubound_api* (*)()>(dlsym(library, "gpubound_core_api_v1"))();
  core.finish = reinterpret_cast<void (*)(const char*)>(dlsym(library, "gpubound_core_finish_v1"));
  core.initialize_injection = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"));
  const auto scenario = gpubound::Scenarios().find(argv[2]);
  if (core.api == nullptr || scenario == gpubound::Scenarios().end()) return 122;
  return scenario->second(core, argc > 3 ? argv[3] : "");
}
