// SPDX-License-Identifier: Apache-2.0
//
// Tarjan's algorithm with a stack of its own. No state.
#include "analysis/base/strong_components.h"

#include <algorithm>
#include <limits>

namespace gpubound {
namespace {

constexpr size_t kNone = std::numeric_limits<size_t>::max();

class Finder {
 public:
  explicit Finder(const std::vector<std::vector<size_t>>& next)
      : next_(next), number_(next.size(), kNone), low_(next.size()), found_(next.size(), kNone) {}

  std::vector<size_t> Run() {
    for (size_t node = 0; node < next_.size(); ++node) {
      if (number_[node] == kNone) Visit(node);
    }
    return std::move(found_);
  }

 private:
  struct Step {
    size_t node;
    size_t edge = 0;
  };

  void Enter(size_t node) {
    number_[node] = low_[node] = entered_++;
    open_.push_back(node);
    path_.push_back({node});
  }

  void Visit(size_t first) {
    Enter(first);
    while (!path_.empty()) {
      const size_t node = path_.back().node;
      if (path_.back().edge < next_[node].size()) {
        const size_t to = next_[node][path_.back().edge++];
        if (number_[to] == kNone) {
          Enter(to);
        } else if (found_[to] == kNone) {
          low_[node] = std::min(low_[node], number_[to]);
        }
        continue;
      }
      if (low_[node] == number_[node]) Close(node);
      path_.pop_back();
      if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    }
  }

  void Close(size_t node) {
    while (found_[node] == kNone) {
      found_[open_.back()] = components_;
      open_.pop_back();
    }
    ++components_;
  }

  const std::vector<std::vector<size_t>>& next_;
  std::vector<size_t> number_;  // in the order of entering
  std::vector<size_t> low_;     // the least number that is reached from there
  std::vector<size_t> found_;   // the component
  std::vector<size_t> open_;    // entered, and in no component yet
  std::vector<Step> path_;
  size_t entered_ = 0;
  size_t components_ = 0;
};

}  // namespace

std::vector<size_t> StrongComponents(const std::vector<std::vector<size_t>>& next) {
  return Finder(next).Run();
}

}  // namespace gpubound
