// SPDX-License-Identifier: Apache-2.0
//
// A rule for each family of operators. Inputs are where PyTorch's schemas have them. No state.
#include "analysis/trace/op_cost.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/whole_number.h"

namespace gpubound {
namespace {

using Shape = std::vector<double>;  // products of them are beyond what an integer holds

std::vector<std::string_view> Split(std::string_view text, std::string_view between) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = std::min(text.find(between), text.size());
    parts.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + between.size(), text.size()));
  }
  return parts;
}

// Empty where it is no tensor's.
Shape ShapeOf(std::string_view text) {
  Shape shape;
  for (const std::string_view part : Split(text, "x")) {
    const std::optional<int64_t> size = ParseInt(part);
    if (!size) return {};
    shape.push_back(static_cast<double>(*size));
  }
  return shape;
}

double Product(const Shape& shape, size_t begin, size_t end) {
  return std::accumulate(shape.begin() + static_cast<std::ptrdiff_t>(begin),
                         shape.begin() + static_cast<std::ptrdiff_t>(end), 1.0,
                         std::multiplies<>());
}
double Product(const Shape& shape) { return Product(shape, 0, shape.size()); }

std::optional<double> BytesOfType(std::string_view type) {
  struct Known {
    std::string_view type;
    double bytes;
  };
  constexpr Known kKnown[] = {{"float", 4},         {"double", 8},        {"Half", 2},
                              {"BFloat16", 2},      {"int", 4},           {"long", 8},
                              {"long int", 8},      {"short", 2},         {"short int", 2},
                              {"signed char", 1},   {"unsigned char", 1}, {"bool", 1},
                              {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1},   {"Float8_e4m3fnuz", 1}};
  const auto* const found = std::find_if(std::begin(kKnown), std::end(kKnown),
                                         [type](const Known& one) { return one.type == type; });
  return found == std::end(kKnown) ? std::nullopt : std::optional(found->bytes);
}

// A call, with what the rules ask of it.
class Call {
 public:
  explicit Call(const Op& op) : values_(Split(op.values, "; ")), types_(Split(op.types, ", ")) {
    for (const std::string_view dims : Split(op.dims, ", ")) inputs_.push_back(ShapeOf(dims));
  }

  size_t rank(size_t input) const { return input < inputs_.size() ? inputs_[input].size() : 0; }
  const Shape& input(size_t index) const { return inputs_[index]; }

  // The numbers of input |index|: "[2, 2]", or "1" for all |count|; empty where it has none.
  std::vector<double> Numbers(size_t index, size_t count) const {
    std::vector<double> numbers;
    if (index >= values_.size()) return numbers;
    std::string_view text = values_[index];
    if (text.starts_with('[')) text = text.substr(1, text.size() - 2);
    for (const std::string_view part : Split(text, ", ")) {
      const std::optional<int64_t> number = ParseInt(part);
      if (!number) return {};
      numbers.push_back(static_cast<double>(*number));
    }
    if (numbers.size() == 1) numbers.resize(count, numbers.front());
    return numbers.size() == count ? numbers : std::vector<double>();
  }
  std::string_view value(size_t index) const {
    return index < values_.size() ? values_[index] : std::string_view();
  }

  OpCost Cost(double flops, std::initializer_list<size_t> inputs, double written) const {
    OpCost cost{flops, std::nullopt};
    double bytes = 0;
    for (const size_t index : inputs) {
      if (rank(index) == 0) continue;
      const auto of_type = index < types_.size() ? BytesOfType(types_[index]) : std::nullopt;
      if (!of_type) return cost;
      bytes += *of_type * Product(inputs_[index]);
      if (index == *inputs.begin()) bytes += *of_type * written;
    }
    cost.bytes = bytes;
    return cost;
  }

 private:
  std::vector<std::string_view> values_;
  std::vector<std::string_view> types_;
  std::vector<Shape> inputs_;
};

using Cost = std::optional<OpCost>;

// Matrices [batch,] m x k and [batch,] k x n, which are inputs |a| and |a| + 1; |added| is another.
Cost Product(const Call& call, size_t a, size_t rank, size_t added) {
  if (call.rank(a) != rank || call.rank(a + 1) != rank) return std::nullopt;
  const Shape& left = call.input(a);
  const double columns = call.input(a + 1).back();
  const double rows = Product(left, 0, rank - 1);
  return call.Cost(2 * rows * left.back() * columns, {a, a + 1, added}, rows * columns);
}

Cost Linear(const Call& call) {
  if (call.rank(0) == 0 || call.rank(1) != 2) return std::nullopt;
  const double rows = Product(call.input(0), 0, call.rank(0) - 1);
  return call.Cost(2 * rows * Product(call.input(1)), {0, 1, 2}, rows * call.input(1).front());
}

// |first|: of the input that is a matrix.
Cost MatrixVector(const Call& call, size_t first) {
  if (call.rank(first) != 2 || call.rank(first + 1) != 1) return std::nullopt;
  const Shape& matrix = call.input(first);
  return call.Cost(2 * Product(matrix), {first, first + 1}, matrix.front());
}

// Where a convolution has its numbers.
struct Convolution {
  std::string_view name;
  size_t stride;
  size_t padding;
  size_t dilation;
  size_t transposed;  // 0: it is not
};
constexpr Convolution kConvolutions[] = {{"aten::convolution", 3, 4, 5, 6},
                                         {"aten::_convolution", 3, 4, 5, 6},
                                         {"aten::convolution_overrideable", 3, 4, 5, 6},
                                         {"aten::cudnn_convolution", 3, 2, 4, 0},
                                         {"aten::cudnn_convolution_relu", 3, 4, 5, 0},
                                         {"aten::miopen_convolution", 4, 3, 5, 0},
                                         {"aten::_conv_depthwise2d", 4, 5, 6, 0},
                                         {"aten::conv_depthwise3d", 4, 5, 6, 0},
                                         {"aten::conv1d", 3, 4, 5, 0},
                                         {"aten::conv2d", 3, 4, 5, 0},
                                         {"aten::conv3d", 3, 4, 5, 0}};

// Each place of the output, or of a transposed one of the input, meets all of the weights.
Cost Convolve(const Call& call, const Convolution& where) {
  const size_t rank = call.rank(0);
  if (rank < 3 || call.rank(1) != rank) return std::nullopt;
  const Shape& input = call.input(0);
  const Shape& weight = call.input(1);
  if (where.transposed != 0 && call.value(where.transposed) == "True") {
    const double flops = 2 * input[0] * Product(input, 2, rank) * Product(weight);
    OpCost cost = call.Cost(flops, {0, 1}, 0);
    cost.bytes.reset();  // of the output the size is not known
    return cost;
  }
  const std::vector<double> stride = call.Numbers(where.stride, rank - 2);
  const std::vector<double> padding = call.Numbers(where.padding, rank - 2);
  const std::vector<double> dilation = call.Numbers(where.dilation, rank - 2);
  if (stride.empty() || padding.empty() || dilation.empty()) return std::nullopt;
  double places = input[0];
  for (size_t i = 0; i + 2 < rank; ++i) {
    if (stride[i] < 1) return std::nullopt;
    const double reach = input[i + 2] + 2 * padding[i] - dilation[i] * (weight[i + 2] - 1) - 1;
    if (reach < 0) return std::nullopt;
    places *= static_cast<double>(static_cast<int64_t>(reach / stride[i])) + 1;
  }
  return call.Cost(2 * places * Product(weight), {0, 1, 2}, places * weight[0]);
}

// aten::convolution_backward(grad_output, input, weight, bias_sizes, stride, padding, dilation,
// transposed, output_padding, groups, output_mask): each gradient costs as much as the way forward.
Cost ConvolveBackward(const Call& call) {
  constexpr size_t kTransposed = 7;
  constexpr size_t kMask = 10;
  const size_t rank = call.rank(0);
  if (rank < 3 || call.rank(1) != rank || call.rank(2) != rank) return std::nullopt;
  const std::vector<std::string_view> mask = Split(call.value(kMask), ", ");
  if (mask.size() < 2) return std::nullopt;
  const double gradients = (mask[0] == "[True" ? 1 : 0) + (mask[1] == "True" ? 1 : 0);
  const Shape& places = call.input(call.value(kTransposed) == "True" ? 1 : 0);
  const double forward = 2 * places[0] * Product(places, 2, rank) * Product(call.input(2));
  const double written = (mask[0] == "[True" ? Product(call.input(1)) : 0) +
                         (mask[1] == "True" ? Product(call.input(2)) : 0);
  return call.Cost(gradients * forward, {0, 1, 2}, written);
}

// Where attention has its queries, before keys and values, and what says that each query meets only
// the keys before it.
struct AttentionOp {
  std::string_view name;
  size_t queries;
  bool heads_last;  // batch x length x heads x size, else batch x heads x length x size
  size_t causal;
};
constexpr AttentionOp kAttention[] = {
    {"aten::scaled_dot_product_attention", 0, false, 5},
    {"aten::_scaled_dot_product_flash_attention", 0, false, 4},
    {"aten::_scaled_dot_product_efficient_attention", 0, false, 6},
    {"aten::_scaled_dot_product_cudnn_attention", 0, false, 6},
    {"aten::_flash_attention_forward", 0, true, 8},
    {"aten::_efficient_attention_forward", 0, true, 9},
    {"aten::_scaled_dot_product_flash_attention_backward", 1, false, 11},
    {"aten::_scaled_dot_product_efficient_attention_backward", 1, false, 11},
    {"aten::_scaled_dot_product_cudnn_attention_backward", 1, false, 14},
    {"aten::_flash_attention_backward", 1, true, 11},
    {"aten::_efficient_attention_backward", 1, true, 14}};

// Two products forward, five backward.
Cost Attend(const Call& call, const AttentionOp& where) {
  constexpr size_t kRank = 4;
  const size_t q = where.queries;
  if (call.rank(q) != kRank || call.rank(q + 1) != kRank || call.rank(q + 2) != kRank) {
    return std::nullopt;
  }
  const bool backward = q > 0;
  const Shape& queries = call.input(q);
  const size_t length = where.heads_last ? 1 : 2;
  const double of_keys = queries.back();
  const double of_values = call.input(q + 2).back();
  const double rows = Product(queries, 0, kRank - 1);  // of all heads
  double pairs = rows * call.input(q + 1)[length];
  const std::string_view causal = call.value(where.causal);
  if (causal == "True" || causal == "1" || causal == "2") pairs /= 2;
  const double sizes = backward ? 3 * of_keys + 2 * of_values : of_keys + of_values;
  if (!backward) return call.Cost(2 * pairs * sizes, {q, q + 1, q + 2}, rows * of_values);
  const double written = Product(queries) + Product(call.input(q + 1)) + Product(call.input(q + 2));
  return call.Cost(2 * pairs * sizes, {0, q, q + 1, q + 2}, written);
}

template <typename Rule, size_t kCount>
const Rule* RuleOf(const Rule (&rules)[kCount], std::string_view name) {
  const auto* const found = std::find_if(std::begin(rules), std::end(rules),
                                         [name](const Rule& one) { return one.name == name; });
  return found == std::end(rules) ? nullptr : found;
}

}  // namespace

std::optional<OpCost> CostOf(const Op& op) {
  constexpr size_t kNoInput = SIZE_MAX;
  constexpr std::string_view kAten = "aten::";
  std::string_view name = op.name;
  if (op.dims.empty() || !name.starts_with(kAten)) return std::nullopt;
  const Call call(op);
  if (const Convolution* rule = RuleOf(kConvolutions, name)) return Convolve(call, *rule);
  if (const AttentionOp* rule = RuleOf(kAttention, name)) return Attend(call, *rule);
  name.remove_prefix(kAten.size());
  if (name == "mm") return Product(call, 0, 2, kNoInput);
  if (name == "addmm" || name == "_addmm_activation") return Product(call, 1, 2, 0);
  if (name == "bmm") return Product(call, 0, 3, kNoInput);
  if (name == "baddbmm") return Product(call, 1, 3, 0);
  if (name == "linear") return Linear(call);
  if (name == "mv") return MatrixVector(call, 0);
  if (name == "addmv") return MatrixVector(call, 1);
  if (name == "convolution_backward") return ConvolveBackward(call);
  return std::nullopt;
}

}  // namespace gpubound
