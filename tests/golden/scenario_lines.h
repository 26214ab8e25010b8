// SPDX-License-Identifier: Apache-2.0
//
// Lines of a scenario (scenario.h), for tests that write many: times in us, on thread "main".
#ifndef GPUBOUND_TESTS_GOLDEN_SCENARIO_LINES_H_
#define GPUBOUND_TESTS_GOLDEN_SCENARIO_LINES_H_

#include <cstdint>
#include <string>

namespace gpubound::golden {

inline std::string EventLine(int64_t us, const std::string& what,
                             const std::string& thread = "main") {
  return "@" + std::to_string(1000 * us) + " " + thread + " " + what + "\n";
}

inline std::string ScopeLines(int64_t begin_us, int64_t end_us, const std::string& what) {
  return EventLine(begin_us, "begin " + what) + EventLine(end_us, "end " + what);
}

// The next process; |line|: "process PID PARENT", or empty for the first one.
inline std::string ProcessLines(const std::string& line, int64_t begin_us, int64_t end_us) {
  return line + "\nspan " + std::to_string(1000 * begin_us) + " " + std::to_string(1000 * end_us) +
         "\nthread main\n";
}

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_SCENARIO_LINES_H_
