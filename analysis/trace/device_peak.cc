// SPDX-License-Identifier: Apache-2.0
//
// Reads the data file. No state beside it.
#include "analysis/trace/device_peak.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/trace/name_lists.h"
#include "analysis/trace/name_lists_data.h"

namespace gpubound {
namespace {

std::vector<std::pair<NameList, DevicePeak>> Read(const char* text) {
  constexpr std::string_view kIs = " = ";
  std::vector<std::pair<NameList, DevicePeak>> peaks;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t is = line.find(kIs);
    if (line.starts_with('#') || is == std::string::npos) continue;
    std::istringstream numbers(line.substr(is + kIs.size()));
    DevicePeak peak;
    numbers >> peak.flops >> peak.bytes;
    peaks.emplace_back(NameList(line.substr(0, is)),
                       DevicePeak{peak.flops * 1e12, peak.bytes * 1e9});
  }
  return peaks;
}

}  // namespace

const DevicePeak* PeakOf(std::string_view device_name) {
  static const auto peaks = Read(kDevicePeaksText);
  const auto found = std::find_if(peaks.begin(), peaks.end(), [device_name](const auto& one) {
    return one.first.Matches(device_name);
  });
  return found == peaks.end() ? nullptr : &found->second;
}

}  // namespace gpubound
