// SPDX-License-Identifier: Apache-2.0
//
// The C++ surface, compiled as C++17 without exceptions and without RTTI.
#include <gpubound/annotate.h>

#include <string>

#include "tests/annotate/users.h"

#if defined(__cpp_exceptions) || defined(__cpp_rtti) || __cplusplus != 201703L
#error "this file shall be compiled as C++17 without exceptions and RTTI"
#endif

void Cpp17UsesEveryMacro(int environment_steps) {
  GPUBOUND_FUNCTION();
  GPUBOUND_PHASE("cpp-phase");
  {
    GPUBOUND_OPERATION("cpp-operation");
    GPUBOUND_LAYER(wait);
    GPUBOUND_ANNOTATION("cpp-annotation");
  }
  GPUBOUND_COUNTER("cpp-counter", environment_steps);
  GPUBOUND_STEP(environment_steps);
}

constexpr int Doubled(int value) {
  GPUBOUND_OPERATION("cpp-doubled");
  if (value > 1) {
    GPUBOUND_ANNOTATION("cpp-large");
    return 2 * value;
  }
  GPUBOUND_COUNTER("cpp-value", value);
  return 2 * value;
}
static_assert(Doubled(1) == 2 && Doubled(2) == 4);

int Cpp17RunsAConstexprFunction(int value) { return Doubled(value); }

void Cpp17UsesEveryClass(const char* name) {
  const gpubound::Operation operation{std::string(name)};
  const gpubound::Annotation annotation(name);
  const gpubound::AdoptedOperation adopted(gpubound_hand_over());
  gpubound::Phase(name);
  const gpubound::ScopedPhase phase("scoped");
  gpubound::Counter(name, 2.5);
  gpubound::Progress(3, 10);
  gpubound::Metadata("algorithm", nullptr);
  gpubound::Pause();
  gpubound::Resume();
}
