// SPDX-License-Identifier: Apache-2.0
//
// Makes lines and trees of stacks. No state.
#include "analysis/output/text/report_stacks.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/base/base_name.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/text/rates.h"

namespace gpubound {
namespace {

constexpr uint64_t kFewLooks = 20;     // of fewer a share says next to nothing
constexpr double kWorthALine = 0.05;   // of the process's time
constexpr double kWorthARow = 0.02;    // of the operation's looks
constexpr double kOnlyHandsOn = 0.97;  // of a frame's looks, in one that it calls
constexpr int kLongestFunction = 48;

std::string PlaceOf(const std::string& file, uint32_t line) {
  if (file.empty()) return {};
  return EscapeName(BaseName(file)) + (line == 0 ? "" : ":" + std::to_string(line));
}

std::string TitleOf(const ReportStacks& stacks) {
  return stacks.start_up ? "start-up" : ShownName(stacks.operation);
}

std::string PercentPoints(double share) {
  const int points = std::max(1, static_cast<int>(std::ceil(100 * share)));
  return std::to_string(points);
}

std::string PartsOf(const ReportStacks& stacks, const TextOptions& options) {
  std::string text;
  double error = 0;
  for (const ReportStackPart& part : stacks.parts) {
    const std::string place = PlaceOf(part.file, part.line);
    const bool is_script = place.starts_with(part.function + ":");
    const std::string name = ShortName(ShownName(part.function), kNameInSentence, options.unicode);
    text += (text.empty() ? "" : ", ") + (is_script ? place : name) +
            (is_script || !part.package.empty() ? "" : " (" + place + ")") + " " +
            FormatShare(part.share);
    error = std::max(error, part.error);
  }
  return text + " (+-" + PercentPoints(error) + ")";
}

class Tree {
 public:
  Tree(const ReportStacks& stacks, const TextOptions& options)
      : stacks_(stacks), options_(options), called_(stacks.frames.size() + 1) {
    for (size_t i = 0; i < stacks.frames.size(); ++i) {
      called_[stacks.frames[i].caller].push_back(i + 1);
    }
  }

  std::string Render() {
    TextTable table({"In " + TitleOf(stacks_), "share", "own", "at"});
    AddCalledBy(0, 0, "", &table);
    return "\n" + table.Render(options_.width, 0, options_.unicode);
  }

 private:
  const ReportFrame& FrameAt(size_t position) const { return stacks_.frames[position - 1]; }
  double ShareOf(uint64_t looks) const {
    return static_cast<double>(looks) / static_cast<double>(stacks_.looks);
  }
  // It does nothing but call one other function.
  bool OnlyCalls(size_t position) const {
    return std::any_of(called_[position].begin(), called_[position].end(), [&](size_t called) {
      return static_cast<double>(FrameAt(called).looks) >=
             kOnlyHandsOn * static_cast<double>(FrameAt(position).looks);
    });
  }
  // Left out are the callers of all of it, and what a library calls of its own.
  void AddCalledBy(size_t caller, size_t depth, const std::string& package, TextTable* table) {
    for (const size_t called : called_[caller]) {
      const ReportFrame& frame = FrameAt(called);
      if (ShareOf(frame.looks) < kWorthARow) continue;
      const bool is_inside = !package.empty() && frame.package == package;
      if (OnlyCalls(called) && (depth == 0 || is_inside)) {
        AddCalledBy(called, depth, package, table);
        continue;
      }
      const std::string name =
          std::string(2 * depth, ' ') +
          ShortName(ShownName(frame.function), kLongestFunction, options_.unicode);
      table->AddRow({name, FormatShare(ShareOf(frame.looks)), FormatShare(ShareOf(frame.own_looks)),
                     PlaceOf(frame.file, frame.line)});
      AddCalledBy(called, depth + 1, frame.package, table);
    }
  }

  const ReportStacks& stacks_;
  const TextOptions& options_;
  std::vector<std::vector<size_t>> called_;  // by position, plus one; the first: the outermost
};

// Of the process, as far as looks tell.
double ShareOfProcess(const ReportStacks& stacks, const ReportProcess& process) {
  uint64_t all = 0;
  for (const ReportStacks& other : process.stacks) all += other.looks;
  return static_cast<double>(stacks.looks) / static_cast<double>(std::max<uint64_t>(1, all));
}

}  // namespace

std::string StackLines(const ReportProcess& process, const TextOptions& options, size_t most) {
  std::string lines;
  size_t named = 0;
  for (const ReportStacks& stacks : process.stacks) {
    if (named == most) break;
    if (stacks.parts.empty() || stacks.looks < kFewLooks) continue;
    if (ShareOfProcess(stacks, process) < kWorthALine) continue;
    lines += Wrap("In " + ShortName(TitleOf(stacks), kNameInSentence, options.unicode) + ": " +
                      PartsOf(stacks, options) + ".",
                  options.width, 2);
    ++named;
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string SyncLineTable(const ReportProcess& process, const TextOptions& options) {
  uint64_t looks = 0;
  double error = 0;
  TextTable table({"Waited for the GPU at", "share", "in", "operation"});
  for (const ReportSyncLine& line : process.sync_lines) {
    looks += line.at.looks;
    table.AddRow({PlaceOf(line.at.file, line.at.line), FormatShare(line.at.share),
                  ShortName(ShownName(line.at.function), kLongestFunction, options.unicode),
                  ShownName(line.operation)});
    error = std::max(error, line.at.error);
  }
  if (looks < kFewLooks) return {};
  return "\n" + table.Render(options.width, 0, options.unicode) +
         Wrap("Shares are of the looks at which the thread waited for the GPU, and right to " +
                  PercentPoints(error) + " points (95 %).",
              options.width, 2);
}

std::string StackTables(const ReportProcess& process, const TextOptions& options) {
  std::string text;
  double error = 0;
  for (const ReportStacks& stacks : process.stacks) {
    if (ShareOfProcess(stacks, process) < kWorthARow) continue;
    text += Tree(stacks, options).Render();
    text += Wrap(Counted(stacks.looks, "look") + "; the thread ran, or was ready to, in " +
                     FormatShare(stacks.runnable_share) + " of them.",
                 options.width, 2);
    for (const ReportStackPart& part : stacks.parts) error = std::max(error, part.error);
  }
  if (text.empty()) return text;
  return text + Wrap("Shares are of the looks in that operation, and right to " +
                         PercentPoints(error) + " points (95 %).",
                     options.width, 2);
}

}  // namespace gpubound
