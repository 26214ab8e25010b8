// SPDX-License-Identifier: Apache-2.0
//
// The keys that a section of an expectation knows. A value that a report has nothing of is 0, so
// that a mistyped key would expect 0 and never fail. Pure functions.
#ifndef GPUBOUND_TESTS_GOLDEN_EXPECTATION_KEYS_H_
#define GPUBOUND_TESTS_GOLDEN_EXPECTATION_KEYS_H_

#include <string>

namespace gpubound::golden {

// |section| as ExpectationParser names it: a table or values.
bool IsKey(const std::string& section, const std::string& key);

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_EXPECTATION_KEYS_H_
