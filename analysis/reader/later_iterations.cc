// SPDX-License-Identifier: Apache-2.0
//
// Takes the file for bytes that may say anything.
#include "analysis/reader/later_iterations.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

#include "analysis/base/plain_file.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/plausible_time.h"

namespace gpubound {
namespace {

std::string NoteOn(const std::string& path, const std::string& found) {
  return "reading " + path + ": found " + found +
         ", expected the iterations after the end of a recording. They are left out; what they "
         "would tell of the cost of recording stays as calibration says.";
}

}  // namespace

std::string LaterPath(const std::string& folder, const TraceFileName& name) {
  return folder + "/" + TraceFileStem(name.identity) + ".later";
}

std::vector<LaterIteration> ReadLaterIterations(const std::string& path, int64_t after_ns,
                                                std::vector<std::string>* problems) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) return {};
  if (IsNoPlainFile(path)) {
    problems->push_back(NoteOn(path, kNoPlainFile));
    return {};
  }
  std::ifstream file(path, std::ios::binary);
  LaterHeader header = {};
  file.read(reinterpret_cast<char*>(&header), sizeof(header));
  if (header.magic == 0) return {};  // it is being made
  if (!file.good() || header.magic != kLaterMagic) {
    problems->push_back(NoteOn(path, file.good() ? "something else" : "no header"));
    return {};
  }
  std::vector<LaterIteration> iterations(std::min<uint64_t>(header.ended, kLaterCapacity));
  const size_t bytes = iterations.size() * sizeof(LaterIteration);
  file.read(reinterpret_cast<char*>(iterations.data()), static_cast<std::streamsize>(bytes));
  const size_t known = static_cast<size_t>(file.gcount()) / sizeof(LaterIteration);
  if (known < iterations.size()) {
    problems->push_back("reading " + path + ": found " + Counted(known, "iteration") +
                        ", expected " + std::to_string(iterations.size()) +
                        ". The file was cut; those that are there are used.");
  }
  iterations.resize(known);
  const auto none = [](const LaterIteration& iteration) { return iteration.end_ns == 0; };
  iterations.erase(std::find_if(iterations.begin(), iterations.end(), none), iterations.end());
  std::erase_if(iterations, [after_ns](const LaterIteration& iteration) {
    return iteration.end_ns <= after_ns || !IsPlausibleTime(iteration.end_ns);
  });
  const auto earlier = [](const LaterIteration& a, const LaterIteration& b) {
    return a.end_ns < b.end_ns;
  };
  std::stable_sort(iterations.begin(), iterations.end(), earlier);
  const auto same = [](const LaterIteration& a, const LaterIteration& b) {
    return a.end_ns == b.end_ns;
  };
  iterations.erase(std::unique(iterations.begin(), iterations.end(), same), iterations.end());
  return iterations;
}

}  // namespace gpubound
