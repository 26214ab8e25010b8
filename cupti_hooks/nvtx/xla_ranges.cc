// SPDX-License-Identifier: Apache-2.0
//
// Reads STAGE:#KEY=VALUE,KEY=VALUE#.
#include "cupti_hooks/nvtx/xla_ranges.h"

#include <cstddef>

namespace gpubound {
namespace {

constexpr std::string_view kThunk = "Thunk";
constexpr std::string_view kBeginsFields = ":#";

struct XlaText {
  std::string_view stage;   // the whole text where there are no fields
  std::string_view fields;  // without what encloses them
};

XlaText Split(std::string_view text) {
  const size_t at = text.find(kBeginsFields);
  if (at == 0 || at == std::string_view::npos || !text.ends_with('#')) return {text, {}};
  std::string_view fields = text.substr(at + kBeginsFields.size());
  if (!fields.empty()) fields.remove_suffix(1);
  return {text.substr(0, at), fields};
}

// The value of |key|, up to |next|, the key that follows it: values may contain commas.
std::string_view ValueOf(std::string_view fields, std::string_view key, std::string_view next) {
  size_t at = fields.starts_with(key) ? 0 : std::string_view::npos;
  for (size_t from = 0; at == std::string_view::npos; ++from) {
    from = fields.find(key, from);
    if (from == std::string_view::npos) return {};
    if (fields[from - 1] == ',') at = from;
  }
  const std::string_view value = fields.substr(at + key.size());
  return value.substr(0, value.find(next));
}

std::string_view PathOf(const XlaText& text) {
  return text.stage == kThunk ? ValueOf(text.fields, "name=", ",hlo_op=") : std::string_view();
}

bool Separates(char character) { return character == '/' || character == '(' || character == ')'; }

}  // namespace

std::string_view XlaPathOf(std::string_view text) { return PathOf(Split(text)); }

std::string_view TakeInnermost(std::string_view* path) {
  while (!path->empty() && Separates(path->back())) path->remove_suffix(1);
  size_t begin = path->size();
  while (begin > 0 && !Separates((*path)[begin - 1])) --begin;
  const std::string_view innermost = path->substr(begin);
  *path = path->substr(0, begin);
  return innermost;
}

std::string XlaLabelOf(std::string_view text) {
  const XlaText split = Split(text);
  std::string_view what = PathOf(split);
  if (split.stage == kThunk && what.empty()) what = ValueOf(split.fields, "hlo_op=", ",");
  if (split.stage == "XlaModule") what = ValueOf(split.fields, "hlo_module=", ",");
  if (split.stage == "XlaCompile") what = ValueOf(split.fields, "module=", ",");
  std::string label(split.stage);
  return what.empty() ? label : label.append(":").append(what);
}

}  // namespace gpubound
