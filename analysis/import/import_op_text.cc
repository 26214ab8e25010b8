// SPDX-License-Identifier: Apache-2.0
//
// Goes through the text once. Whatever it is, something short comes out. No state.
#include "analysis/import/import_op_text.h"

#include <algorithm>
#include <vector>

namespace gpubound {
namespace {

constexpr size_t kMostInputs = 16;
constexpr size_t kLongestInput = 80;  // bytes; of a list of tensors

// "[3, 224]" -> "3x224", "[[2], [3, 4]]" -> "(2;3x4)".
std::string ShapeOf(std::string_view json) {
  std::string text;
  int depth = 0;
  for (const char c : json) {
    if (c == '[' && depth++ > 0 && text.empty()) text += '(';
    if (c == ']') --depth;
    if (c == ',' && !text.empty()) text += depth == 1 && text.front() == '(' ? ';' : 'x';
    if (c >= '0' && c <= '9') text += c;
    if (text.size() > kLongestInput) return text.substr(0, kLongestInput) + "..";
  }
  if (text == "(") return "";
  return text.starts_with('(') ? text + ')' : text;
}

// "\"c10::BFloat16\"" -> "BFloat16".
std::string OpText(std::string_view json) {
  const size_t begin = json.find('"');
  if (begin == std::string_view::npos) return "";
  std::string_view text = json.substr(begin + 1, json.rfind('"') - begin - 1);
  constexpr std::string_view kNamespace = "c10::";
  if (text.starts_with(kNamespace)) text.remove_prefix(kNamespace.size());
  return std::string(text.substr(0, kLongestInput));
}

// The elements of a JSON array, as they are written.
std::vector<std::string_view> Elements(std::string_view json) {
  std::vector<std::string_view> elements;
  int depth = 0;
  bool quoted = false;
  size_t begin = 0;
  for (size_t at = 0; at < json.size() && elements.size() < kMostInputs; ++at) {
    const char c = json[at];
    if (c == '"' && json[at - (at > 0 ? 1 : 0)] != '\\') quoted = !quoted;
    if (quoted) continue;
    if (c == '[' && ++depth == 1) begin = at + 1;
    const bool ends = (c == ',' && depth == 1) || (c == ']' && --depth == 0);
    if (!ends) continue;
    const std::string_view element = json.substr(begin, at - begin);
    if (element.find_first_not_of(" \n\t") != std::string_view::npos) elements.push_back(element);
    begin = at + 1;
    if (depth == 0) break;
  }
  return elements;
}

template <typename Convert>
std::vector<std::string> Converted(std::string_view json, Convert convert) {
  std::vector<std::string> texts;
  for (const std::string_view element : Elements(json)) texts.push_back(convert(element));
  return texts;
}

std::string Joined(const std::vector<std::string>& texts, size_t count, const char* between) {
  std::string joined;
  for (size_t i = 0; i < std::min(count, texts.size()); ++i) {
    joined += (i == 0 ? "" : between) + (texts[i].empty() ? "-" : texts[i]);
  }
  return joined;
}

}  // namespace

bool NeedsValues(std::string_view name) {
  return name.find("conv") != std::string_view::npos ||
         name.find("attention") != std::string_view::npos;
}

Op MakeOp(std::string_view name, const OpInputs& inputs) {
  const std::vector<std::string> dims = Converted(inputs.dims, ShapeOf);
  size_t count = dims.size();
  while (count > 0 && dims[count - 1].empty()) --count;
  Op op;
  op.name = name;
  op.dims = Joined(dims, count, ", ");
  op.types = Joined(Converted(inputs.types, OpText), count, ", ");
  if (count > 0 && NeedsValues(name)) {
    op.values = Joined(Converted(inputs.values, OpText), kMostInputs, "; ");
  }
  return op;
}

}  // namespace gpubound
