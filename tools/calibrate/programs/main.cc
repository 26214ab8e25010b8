// SPDX-License-Identifier: Apache-2.0
//
// The calibration program: reads which workload to repeat and says how long it took (workload.h).
// Not for people; `gpubound calibrate` starts it.
#include <cstdio>
#include <iostream>
#include <map>
#include <sstream>
#include <string>

#include "tools/calibrate/programs/workload.h"

namespace {

using gpubound::calibration::Block;

// Occurrences before those that are timed: the other program has had its turn, and a first one
// costs more. A single one is not preceded by any.
constexpr uint64_t kWarmUp = 8;

// Found once: the first look may load the CUDA runtime.
const Block& WorkNamed(const std::string& name, const std::string& runtime, std::string* why) {
  static std::map<std::string, Block> found;
  Block& work = found[name];
  if (!work) work = gpubound::calibration::FindScopeWork(name, why);
  if (!work) work = gpubound::calibration::FindCudaWork(name, runtime, why);
  return work;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string runtime = argc > 1 ? argv[1] : "";
  for (std::string line; std::getline(std::cin, line);) {
    std::istringstream words(line);
    std::string verb, name, why = "there is no such workload";
    uint64_t count = 0;
    if (!(words >> verb >> name >> count) || verb != "run" || count == 0) {
      std::printf("no expected 'run NAME COUNT'\n");
    } else if (const Block& work = WorkNamed(name, runtime, &why)) {
      if (count > 1) work(kWarmUp);
      std::printf("%.3f\n", work(count) / static_cast<double>(count));
    } else {
      std::printf("no %s\n", why.c_str());
    }
    std::fflush(stdout);
  }
  return 0;
}
