// SPDX-License-Identifier: Apache-2.0
//
// Reads the data file. No state beside it.
#include "analysis/trace/device_kind.h"

#include <algorithm>
#include <cctype>
#include <sstream>
#include <utility>

#include "analysis/trace/name_lists.h"
#include "analysis/trace/name_lists_data.h"

namespace gpubound {
namespace {

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
struct MultiprocessorLimits {
  double compute_capability;
  uint32_t warps;
  uint32_t blocks;
  uint32_t shared_kib;
};
constexpr MultiprocessorLimits kLimits[] = {
    {7.0, 64, 32, 96},  {7.5, 32, 16, 64},  {8.0, 64, 32, 164},  {8.6, 48, 16, 100},
    {8.9, 48, 24, 100}, {9.0, 64, 32, 228}, {10.0, 64, 32, 228}, {12.0, 48, 24, 100},
};
constexpr uint32_t kRegisters = 65536;

DeviceInfo LimitsOf(double compute_capability, uint32_t multiprocessors) {
  DeviceInfo info;
  info.multiprocessors = multiprocessors;
  info.max_registers_per_multiprocessor = kRegisters;
  info.compute_capability_major = static_cast<uint32_t>(compute_capability);
  for (const MultiprocessorLimits& limits : kLimits) {
    if (limits.compute_capability != compute_capability) continue;
    info.max_warps_per_multiprocessor = limits.warps;
    info.max_blocks_per_multiprocessor = limits.blocks;
    info.max_shared_bytes_per_multiprocessor = limits.shared_kib * 1024;
  }
  return info;
}

struct Entry {
  NameList devices;
  DeviceKind kind;
};

std::vector<Entry> Read(const char* text) {
  constexpr std::string_view kCalls = ": ";
  constexpr std::string_view kIs = " = ";
  std::vector<Entry> entries;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t calls = line.find(kCalls);
    const size_t is = line.find(kIs);
    if (line.starts_with('#') || calls == std::string::npos || is == std::string::npos) continue;
    const size_t device = calls + kCalls.size();
    Entry& entry = entries.emplace_back(Entry{NameList(line.substr(device, is - device)), {}});
    double matrix_tflops = 0;
    double memory_gb = 0;
    double general_tflops = 0;
    uint32_t multiprocessors = 0;
    double compute_capability = 0;
    std::istringstream numbers(line.substr(is + kIs.size()));
    numbers >> matrix_tflops >> memory_gb >> general_tflops >> multiprocessors >>
        compute_capability;
    entry.kind = {line.substr(0, calls), matrix_tflops * 1e12, memory_gb * 1e9,
                  general_tflops * 1e12, LimitsOf(compute_capability, multiprocessors)};
  }
  return entries;
}

const std::vector<Entry>& Entries() {
  static const std::vector<Entry> entries = Read(kDeviceKindsText);
  return entries;
}

std::string Plain(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    const auto letter = static_cast<unsigned char>(c);
    if (std::isalnum(letter) != 0) plain += static_cast<char>(std::tolower(letter));
  }
  return plain;
}

}  // namespace

const DeviceKind* KindOfDevice(std::string_view device_name) {
  const auto found = std::find_if(Entries().begin(), Entries().end(), [&](const Entry& entry) {
    return entry.devices.Matches(device_name);
  });
  return found == Entries().end() ? nullptr : &found->kind;
}

const DeviceKind* KindNamed(std::string_view name) {
  const std::string wanted = Plain(name);
  const auto found = std::find_if(Entries().begin(), Entries().end(), [&](const Entry& entry) {
    return Plain(entry.kind.name) == wanted;
  });
  return found == Entries().end() ? nullptr : &found->kind;
}

std::vector<std::string> KnownKinds() {
  std::vector<std::string> names;
  for (const Entry& entry : Entries()) names.push_back(entry.kind.name);
  return names;
}

}  // namespace gpubound
