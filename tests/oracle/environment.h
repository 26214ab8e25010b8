// SPDX-License-Identifier: Apache-2.0
//
// How many random traces, and from which seed on: the suite's choice unless the environment says
// otherwise (docs/testing.md).
#ifndef GPUBOUND_TESTS_ORACLE_ENVIRONMENT_H_
#define GPUBOUND_TESTS_ORACLE_ENVIRONMENT_H_

#include <cstdint>
#include <cstdlib>

namespace gpubound::oracle {

inline uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_ENVIRONMENT_H_
