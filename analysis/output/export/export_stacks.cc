// SPDX-License-Identifier: Apache-2.0
//
// Writes stacks out. No state.
#include "analysis/output/export/export_stacks.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/base/base_name.h"
#include "analysis/base/utf8.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

// A name of the outermost frame, which is none: the process or an operation.
ReportFrame Root(const std::string& name) {
  ReportFrame frame;
  frame.function = name;
  return frame;
}

std::string OperationOf(const ReportStacks& stacks) {
  return stacks.start_up ? "(start-up)" : stacks.operation;
}

std::string ProcessOf(const ReportProcess& process) {
  return (process.name.empty() ? "process" : process.name) + " " + std::to_string(process.pid);
}

// Calls |take|(frames from the outermost on, looks) for each stack in which looks ended.
template <typename Take>
void ForEachStack(const ReportStacks& stacks, Take take) {
  const ReportFrame operation = Root(OperationOf(stacks));
  uint64_t rooted = 0;
  for (const ReportFrame& frame : stacks.frames) rooted += frame.caller == 0 ? frame.looks : 0;
  // Of some nothing but the operation is known, or they were too few.
  if (stacks.looks > rooted)
    take(std::vector<const ReportFrame*>{&operation}, stacks.looks - rooted);
  std::vector<uint64_t> called(stacks.frames.size() + 1);
  for (const ReportFrame& frame : stacks.frames) called[frame.caller] += frame.looks;
  for (size_t i = 0; i < stacks.frames.size(); ++i) {
    const uint64_t looks = stacks.frames[i].looks - called[i + 1];
    if (looks == 0) continue;
    std::vector<const ReportFrame*> path;
    for (size_t at = i + 1; at != 0; at = stacks.frames[at - 1].caller) {
      path.push_back(&stacks.frames[at - 1]);
    }
    path.push_back(&operation);
    std::reverse(path.begin(), path.end());
    take(path, looks);
  }
}

// In a line, ';' divides frames and the last blank the count.
std::string CollapsedName(const ReportFrame& frame) {
  std::string name = frame.function;
  if (!frame.file.empty()) {
    name += " (" + BaseName(frame.file) + ":" + std::to_string(frame.line) + ")";
  }
  std::string scratch;
  std::string valid(ValidUtf8(name, &scratch));
  std::replace(valid.begin(), valid.end(), ';', ':');
  std::replace(valid.begin(), valid.end(), '\n', ' ');
  return valid;
}

class Frames {
 public:
  size_t NumberOf(const ReportFrame& frame) {
    const auto [found, is_new] =
        numbers_.try_emplace({frame.function, frame.file, frame.line}, list_.size());
    if (is_new) {
      std::string scratch;
      Json row{{"name", std::string(ValidUtf8(frame.function, &scratch))}};
      if (!frame.file.empty()) row["file"] = std::string(ValidUtf8(frame.file, &scratch));
      if (frame.line != 0) row["line"] = frame.line;
      list_.push_back(std::move(row));
    }
    return found->second;
  }
  Json Take() { return std::move(list_); }

 private:
  std::map<std::tuple<std::string, std::string, uint32_t>, size_t> numbers_;
  Json list_ = Json::array();
};

}  // namespace

std::string RenderCollapsed(const Report& report) {
  std::string text;
  for (const ReportProcess& process : report.processes) {
    const std::string name = CollapsedName(Root(ProcessOf(process)));
    for (const ReportStacks& stacks : process.stacks) {
      ForEachStack(stacks, [&](const std::vector<const ReportFrame*>& path, uint64_t looks) {
        text += name;
        for (const ReportFrame* frame : path) text += ";" + CollapsedName(*frame);
        text += " " + std::to_string(looks) + "\n";
      });
    }
  }
  return text;
}

std::string RenderSpeedscope(const Report& report) {
  Frames frames;
  Json profiles = Json::array();
  for (const ReportProcess& process : report.processes) {
    Json samples = Json::array();
    Json weights = Json::array();
    uint64_t all = 0;
    for (const ReportStacks& stacks : process.stacks) {
      ForEachStack(stacks, [&](const std::vector<const ReportFrame*>& path, uint64_t looks) {
        Json sample = Json::array();
        for (const ReportFrame* frame : path) sample.push_back(frames.NumberOf(*frame));
        samples.push_back(std::move(sample));
        weights.push_back(looks);
        all += looks;
      });
    }
    if (all == 0) continue;
    std::string scratch;
    profiles.push_back(Json{{"type", "sampled"},
                            {"name", std::string(ValidUtf8(ProcessOf(process), &scratch))},
                            {"unit", "none"},
                            {"startValue", 0},
                            {"endValue", all},
                            {"samples", std::move(samples)},
                            {"weights", std::move(weights)}});
  }
  const Json file{{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                  {"exporter", "gpubound " GPUBOUND_VERSION},
                  {"shared", {{"frames", frames.Take()}}},
                  {"profiles", std::move(profiles)}};
  return file.dump() + "\n";
}

}  // namespace gpubound
