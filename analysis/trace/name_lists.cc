// SPDX-License-Identifier: Apache-2.0
//
// Matches names against embedded pattern lists. The embedded text comes from embed_text.cmake.
#include "analysis/trace/name_lists.h"

#include <algorithm>

#include "analysis/base/demangle.h"
#include "analysis/trace/name_lists_data.h"

namespace gpubound {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string LowerOf(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), Lower);
  return lower;
}

// Whole-string match where '*' stands for any run of characters. Backtracks to the last star only,
// which is enough, so the cost is bounded by the product of the lengths.
bool Glob(std::string_view pattern, std::string_view name) {
  size_t p = 0;
  size_t n = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = n;
    } else if (p < pattern.size() && pattern[p] == name[n]) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

// Whether an identifier of |name| begins at |at|: after a return type or a namespace, or in a
// mangled name after the length that precedes each identifier.
bool BeginsAnIdentifier(std::string_view name, size_t at) {
  const char before = name[at - 1];
  if (before == ' ' || before == ':') return true;
  return name.starts_with("_z") && before >= '0' && before <= '9';
}

}  // namespace

NameList::NameList(std::string_view text) {
  while (!text.empty()) {
    const size_t newline = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, newline);
    text.remove_prefix(std::min(newline + 1, text.size()));
    while (!line.empty() && (line.back() == ' ' || line.back() == '\r')) line.remove_suffix(1);
    if (line.empty() || line == "#" || line.starts_with("# ")) continue;
    Pattern pattern;
    // One that begins with anything matches at the front, if it does at all.
    pattern.anchored = line.front() == '^' || line.front() == '*';
    if (line.front() == '^') line.remove_prefix(1);
    pattern.text = LowerOf(line);
    patterns_.push_back(std::move(pattern));
  }
}

bool NameList::Matches(std::string_view name) const {
  const std::string lower = LowerOf(name);
  const std::string_view head = HeadOfName(lower);
  return std::any_of(patterns_.begin(), patterns_.end(), [&](const Pattern& pattern) {
    if (Glob(pattern.text, lower)) return true;
    if (pattern.anchored) return false;
    for (size_t at = 1; at < head.size(); ++at) {
      if (BeginsAnIdentifier(head, at) && Glob(pattern.text, std::string_view(lower).substr(at))) {
        return true;
      }
    }
    return false;
  });
}

const NameList& CommKernels() {
  static const NameList list(kCommKernelsText);
  return list;
}

const NameList& LibraryDomains() {
  static const NameList list(kLibraryDomainsText);
  return list;
}

const NameList& LibraryRangeNames() {
  static const NameList list(kLibraryRangesText);
  return list;
}

const NameList& CheckpointNames() {
  static const NameList list(kCheckpointNamesText);
  return list;
}

const NameList& CompileNames() {
  static const NameList list(kCompileNamesText);
  return list;
}

const NameList& SimulationNames() {
  static const NameList list(kSimulationNamesText);
  return list;
}

const NameList& WeightSyncNames() {
  static const NameList list(kWeightSyncNamesText);
  return list;
}

const NameList& RewardNames() {
  static const NameList list(kRewardNamesText);
  return list;
}

}  // namespace gpubound
