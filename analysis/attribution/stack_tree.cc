// SPDX-License-Identifier: Apache-2.0
//
// Builds the trees. No state.
#include "analysis/attribution/stack_tree.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/base/base_name.h"
#include "analysis/trace/python_frames.h"

namespace gpubound {
namespace {

// At least 2 %.
bool IsMuch(uint64_t looks, uint64_t all) { return 50 * looks >= all; }

// |part| with its share of |all| looks.
ReportStackPart PartOf(ReportStackPart part, uint64_t all) {
  constexpr double kWidth95 = 1.96;  // standard deviations, of a normal distribution
  const double looks = static_cast<double>(all);
  part.share = static_cast<double>(part.looks) / looks;
  part.error = kWidth95 * std::sqrt(part.share * (1 - part.share) / looks);
  return part;
}

// A function under its caller, all lines of it together.
struct Node {
  FunctionId function{};
  uint64_t looks = 0;
  uint64_t own = 0;
  bool is_outermost = false;
  std::map<uint32_t, uint64_t> looks_at;  // by line
  std::map<FunctionId, uint32_t> called;  // position in the tree
};

class StackTree {
 public:
  explicit StackTree(const ProcessTrace& process) : process_(process), nodes_(1) {}

  void Add(FrameId innermost, const StackCount& count) {
    path_.clear();
    for (FrameId at = innermost; at != FrameId{}; at = process_.FrameOf(at).caller) {
      path_.push_back(at);
    }
    runnable_ += count.runnable;
    uint32_t node = 0;
    nodes_[0].looks += count.looks;
    for (auto frame = path_.rbegin(); frame != path_.rend(); ++frame) {
      const Frame& row = process_.FrameOf(*frame);
      if (HandsOn(row.function)) continue;
      node = Called(node, row.function);
      nodes_[node].looks += count.looks;
      nodes_[node].looks_at[row.line] += count.looks;
    }
    nodes_[node].own += count.looks;
  }

  ReportStacks Take(std::string operation, bool start_up) {
    ReportStacks stacks;
    stacks.operation = std::move(operation);
    stacks.start_up = start_up;
    stacks.looks = nodes_[0].looks;
    stacks.runnable_share =
        static_cast<double>(runnable_) / static_cast<double>(std::max<uint64_t>(1, stacks.looks));
    FindParts(&stacks.parts);
    PutFrames(0, 0, &stacks.frames);
    return stacks;
  }

 private:
  bool HandsOn(FunctionId function) {
    const auto [found, is_new] = hands_on_.try_emplace(function, false);
    if (is_new) found->second = OnlyHandsOn(process_.FunctionOf(function));
    return found->second;
  }
  uint32_t Called(uint32_t caller, FunctionId function) {
    const auto [found, is_new] =
        nodes_[caller].called.try_emplace(function, static_cast<uint32_t>(nodes_.size()));
    const uint32_t position = found->second;
    if (is_new) {
      nodes_.emplace_back().function = function;
      nodes_.back().is_outermost = caller == 0;
    }
    return position;
  }
  std::vector<uint32_t> CalledBy(uint32_t caller) const {
    std::vector<uint32_t> called;
    for (const auto& [function, position] : nodes_[caller].called) called.push_back(position);
    std::stable_sort(called.begin(), called.end(),
                     [this](uint32_t a, uint32_t b) { return nodes_[a].looks > nodes_[b].looks; });
    return called;
  }

  // The one that nearly all of the node's looks saw, if there is one.
  uint32_t Main(uint32_t node) const {
    constexpr uint64_t kOutOf = 20, kMost = 17;  // 85 %
    for (const auto& [function, position] : nodes_[node].called) {
      if (kOutOf * nodes_[position].looks >= kMost * nodes_[node].looks) return position;
    }
    return 0;
  }
  // Down to where the time parts: into what is called from there, and what is done there itself.
  void FindParts(std::vector<ReportStackPart>* parts) const {
    constexpr size_t kMostParts = 3;
    uint32_t at = 0;
    while (const uint32_t next = Main(at)) at = next;
    const auto matters = [this](uint64_t looks) { return IsMuch(looks, nodes_[0].looks); };
    for (const uint32_t called : CalledBy(at)) {
      if (matters(nodes_[called].looks)) parts->push_back(PartAt(called, nodes_[called].looks));
    }
    if (at != 0 && matters(nodes_[at].own)) parts->push_back(PartAt(at, nodes_[at].own));
    std::stable_sort(parts->begin(), parts->end(),
                     [](const auto& a, const auto& b) { return a.looks > b.looks; });
    if (parts->size() > kMostParts) parts->resize(kMostParts);
  }
  ReportStackPart PartAt(uint32_t node, uint64_t looks) const {
    const Function& function = process_.FunctionOf(nodes_[node].function);
    return PartOf({.function = NameOf(node),
                   .package = PackageOf(function.file),
                   .file = function.file,
                   .line = LineOf(nodes_[node]),
                   .looks = looks},
                  nodes_[0].looks);
  }
  static uint32_t LineOf(const Node& node) {
    const auto most =
        std::max_element(node.looks_at.begin(), node.looks_at.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    return most == node.looks_at.end() ? 0 : most->first;
  }
  // What a module does as it is imported, or the program itself.
  std::string NameOf(uint32_t node) const {
    const Function& function = process_.FunctionOf(nodes_[node].function);
    if (function.name != kModuleFunction) return function.name;
    if (nodes_[node].is_outermost) return BaseName(function.file);
    return "import " + DottedModuleOf(function.file);
  }

  // Depth first, so that callers come first. What few looks saw is left out.
  void PutFrames(uint32_t node, uint32_t position, std::vector<ReportFrame>* frames) const {
    constexpr uint64_t kLeastOutOf = 500;
    constexpr size_t kMostFrames = 2000;
    for (const uint32_t called : CalledBy(node)) {
      const Node& of = nodes_[called];
      if (kLeastOutOf * of.looks < nodes_[0].looks || frames->size() >= kMostFrames) continue;
      const Function& function = process_.FunctionOf(of.function);
      frames->push_back({position, NameOf(called), PackageOf(function.file), function.file,
                         LineOf(of), of.looks, of.own});
      PutFrames(called, static_cast<uint32_t>(frames->size()), frames);
    }
  }

  const ProcessTrace& process_;
  std::vector<Node> nodes_;  // the first is none: what calls the outermost
  uint64_t runnable_ = 0;
  std::map<FunctionId, bool> hands_on_;
  std::vector<FrameId> path_;
};

}  // namespace

std::vector<ReportSyncLine> SyncLinesOf(const StackCounts& counts, const ProcessTrace& process,
                                        const LabelRoles& roles) {
  // By operation, function and line, whoever called it.
  std::map<std::tuple<OperationIndex, FunctionId, uint32_t>, uint64_t> looks_at;
  uint64_t all = 0;
  for (const auto& [place, count] : counts) {
    if (!place.synchronises) continue;
    all += count.looks;
    if (place.frame == FrameId{}) continue;
    FrameId line = OwnFrame(place.frame, process);
    if (line == FrameId{}) line = place.frame;
    const Frame& frame = process.FrameOf(line);
    looks_at[{place.operation, frame.function, frame.line}] += count.looks;
  }
  std::vector<ReportSyncLine> lines;
  for (const auto& [key, looks] : looks_at) {
    if (!IsMuch(looks, all)) continue;
    const auto& [operation, id, line] = key;
    const Function& function = process.FunctionOf(id);
    lines.push_back({roles.operations()[operation],
                     PartOf({.function = function.name == kModuleFunction ? BaseName(function.file)
                                                                          : function.name,
                             .package = PackageOf(function.file),
                             .file = function.file,
                             .line = line,
                             .looks = looks},
                            all)});
  }
  std::stable_sort(lines.begin(), lines.end(),
                   [](const auto& a, const auto& b) { return a.at.looks > b.at.looks; });
  if (lines.size() > kMostSyncLines) lines.resize(kMostSyncLines);
  return lines;
}

std::vector<ReportStacks> StacksOf(const StackCounts& counts, const ProcessTrace& process,
                                   const LabelRoles& roles) {
  std::map<std::pair<bool, OperationIndex>, StackTree> trees;
  for (const auto& [place, count] : counts) {
    const auto [tree, is_new] = trees.try_emplace({place.started, place.operation}, process);
    tree->second.Add(place.frame, count);
  }
  std::vector<ReportStacks> all;
  for (auto& [key, tree] : trees) {
    all.push_back(tree.Take(roles.operations()[key.second], /*start_up=*/!key.first));
  }
  std::stable_sort(all.begin(), all.end(), [](const ReportStacks& a, const ReportStacks& b) {
    if (a.start_up != b.start_up) return a.start_up;
    return a.looks > b.looks;
  });
  return all;
}

}  // namespace gpubound
