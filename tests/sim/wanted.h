// SPDX-License-Identifier: Apache-2.0
//
// How much a proof on random programs is to do, by the environment.
#ifndef GPUBOUND_TESTS_SIM_WANTED_H_
#define GPUBOUND_TESTS_SIM_WANTED_H_

#include <cstdint>
#include <cstdlib>

namespace gpubound::sim {

inline uint64_t Wanted(const char* variable, uint64_t otherwise) {
  const char* const wanted = std::getenv(variable);
  return wanted != nullptr ? std::strtoull(wanted, nullptr, 10) : otherwise;
}

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_WANTED_H_
