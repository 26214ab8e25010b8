// SPDX-License-Identifier: Apache-2.0
//
// What the values of options may be, and what is said of one that is wrong. Pure.
#ifndef GPUBOUND_TOOLS_COMMANDS_OPTION_VALUES_H_
#define GPUBOUND_TOOLS_COMMANDS_OPTION_VALUES_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace gpubound {

// Why a text is no value, in words that follow the name of an option: "'10' lacks a unit: ...".
using Complaint = std::string;

// Nanoseconds of "500ms", "30s", "10m", "2h", "1d", from 0 to a century. The unit is never left
// out: 10 of the wrong one costs detail that nobody gets back.
std::variant<int64_t, Complaint> ParseDuration(const std::string& text);

// The same, or a number of seconds without a unit; more than nothing.
std::variant<int64_t, Complaint> ParseSeconds(const std::string& text);

// Bytes of "500KB", "500MB", "1GB", "2TB", of 1024; |least| or more.
std::variant<uint64_t, Complaint> ParseSize(const std::string& text, uint64_t least);

// The whole of |text| as a number.
std::optional<double> ParseNumber(const std::string& text);

// What the value of an option has to be.
struct ValueRule {
  std::function<Complaint(const std::string&)> complaint;  // empty of a value that is one
  std::vector<std::string> words;  // those that there are, for help and completion; often none
};

ValueRule OneOf(const std::vector<std::string>& words);
// Anything but the empty word, which a shell makes of a variable that is not set.
ValueRule NotEmpty();
// A folder to make: that, and not "-", which stands for standard output elsewhere.
ValueRule NewFolder();
ValueRule WholeNumber(uint64_t least, uint64_t most);
ValueRule NumberWithin(double least, double most);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_OPTION_VALUES_H_
