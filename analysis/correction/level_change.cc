// SPDX-License-Identifier: Apache-2.0
//
// Iteratively reweighted least squares with three unknowns: level, drift, change. No state.
#include "analysis/correction/level_change.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "analysis/base/estimate.h"
#include "analysis/correction/huber.h"

namespace gpubound {
namespace {

constexpr size_t kBlocks = 20;      // on a side, and up to twice as many
constexpr double kMostAlike = 0.8;  // beyond that neighbours are no measurements of their own

using Vector = std::array<double, 3>;
using Matrix = std::array<Vector, 3>;

// The mean of some iterations in a row.
struct Block {
  Vector row;  // 1, time, 0 before and 1 behind
  double length_ns = 0;
  bool first = false;  // of its side
};

// Of |size| iterations each.
void AddBlocks(const std::vector<TimedLength>& of, size_t first, size_t count, size_t size,
               double behind, std::vector<Block>* blocks) {
  for (size_t begin = first; begin + size <= first + count; begin += size) {
    Block block{{1, 0, behind}, 0, begin == first};
    for (size_t i = begin; i < begin + size; ++i) {
      block.row[1] += of[i].at_ns / static_cast<double>(size);
      block.length_ns += of[i].length_ns / static_cast<double>(size);
    }
    blocks->push_back(block);
  }
}

// So that the three unknowns are of one size: time runs from about -1 to 1, 0 between the sides.
void ScaleTime(double between_ns, std::vector<Block>* blocks) {
  double farthest = 1;
  for (const Block& block : *blocks) {
    farthest = std::max(farthest, std::abs(block.row[1] - between_ns));
  }
  for (Block& block : *blocks) block.row[1] = (block.row[1] - between_ns) / farthest;
}

// By Gauss and Jordan; false where it has none.
bool Invert(Matrix from, Matrix* inverse) {
  *inverse = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  for (size_t column = 0; column < 3; ++column) {
    size_t pivot = column;
    for (size_t row = column + 1; row < 3; ++row) {
      if (std::abs(from[row][column]) > std::abs(from[pivot][column])) pivot = row;
    }
    if (from[pivot][column] == 0) return false;
    std::swap(from[column], from[pivot]);
    std::swap((*inverse)[column], (*inverse)[pivot]);
    const double scale = from[column][column];
    for (size_t i = 0; i < 3; ++i) {
      from[column][i] /= scale;
      (*inverse)[column][i] /= scale;
    }
    for (size_t row = 0; row < 3; ++row) {
      const double times = row == column ? 0 : from[row][column];
      for (size_t i = 0; i < 3; ++i) {
        from[row][i] -= times * from[column][i];
        (*inverse)[row][i] -= times * (*inverse)[column][i];
      }
    }
  }
  return true;
}

double Dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

void AddSquare(const Vector& row, double weight, Matrix* sum) {
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = 0; j < 3; ++j) (*sum)[i][j] += weight * row[i] * row[j];
  }
}

class Fit {
 public:
  explicit Fit(const std::vector<Block>& blocks) : blocks_(blocks) {}

  bool Solve() {
    if (!Refit()) return false;
    for (int round = 0; round < kMostHuberRounds; ++round) {
      const double limit = LimitOfResiduals();
      if (limit <= 0) break;  // most blocks lie on the lines
      limit_ = limit;
      const double before = found_[2];
      if (!Refit()) return false;
      if (std::abs(found_[2] - before) <= kHuberSettled * std::abs(before)) break;
    }
    return true;
  }
  const Vector& found() const { return found_; }

  double ErrorOfChange() const {
    Matrix moves = {};
    Matrix varies = {};
    for (const Block& block : blocks_) {
      const double residual = Residual(block);
      if (std::abs(residual) <= limit_) AddSquare(block.row, 1, &moves);
      const double pull = Weight(residual) * residual;
      AddSquare(block.row, pull * pull, &varies);
    }
    Matrix inverse;
    if (!Invert(moves, &inverse)) return HUGE_VAL;
    Vector of_change = {};
    for (size_t i = 0; i < 3; ++i) of_change[i] = Dot(inverse[2], varies[i]);
    const auto count = static_cast<double>(blocks_.size());
    const double variance = Dot(of_change, inverse[2]) * count / (count - 3);
    return std::sqrt(std::max(0.0, variance) * Alike());
  }

 private:
  double Residual(const Block& block) const { return block.length_ns - Dot(block.row, found_); }
  double Weight(double residual) const { return HuberWeight(residual, limit_); }
  double LimitOfResiduals() const {
    std::vector<double> sizes;
    for (const Block& block : blocks_) sizes.push_back(std::abs(Residual(block)));
    return HuberLimit(std::move(sizes));
  }
  bool Refit() {
    Matrix squares = {};
    Vector products = {};
    for (const Block& block : blocks_) {
      const double weight = Weight(Residual(block));
      AddSquare(block.row, weight, &squares);
      for (size_t i = 0; i < 3; ++i) products[i] += weight * block.row[i] * block.length_ns;
    }
    Matrix inverse;
    if (!Invert(squares, &inverse)) return false;
    for (size_t i = 0; i < 3; ++i) found_[i] = Dot(inverse[i], products);
    return true;
  }
  // How many times as large a variance is when each block resembles the one before.
  double Alike() const {
    double products = 0;
    double squares = 0;
    double before = 0;
    for (const Block& block : blocks_) {
      const double pull = Weight(Residual(block)) * Residual(block);
      if (!block.first) products += pull * before;
      squares += pull * pull;
      before = pull;
    }
    if (squares <= 0) return 1;
    const double alike = std::clamp(products / squares, 0.0, kMostAlike);
    return (1 + alike) / (1 - alike);
  }

  const std::vector<Block>& blocks_;
  Vector found_ = {};
  double limit_ = HUGE_VAL;
};

}  // namespace

LevelChange FitLevelChange(const std::vector<TimedLength>& before,
                           const std::vector<TimedLength>& behind) {
  LevelChange change;
  const size_t shorter = std::min(before.size(), behind.size());
  if (shorter < kFewestOnASide) return change;
  const size_t size = std::max<size_t>(1, shorter / kBlocks);
  const size_t count = shorter / size * size;
  std::vector<Block> blocks;
  AddBlocks(before, before.size() - count, count, size, 0, &blocks);
  AddBlocks(behind, 0, count, size, 1, &blocks);
  ScaleTime((before.back().at_ns + behind.front().at_ns) / 2, &blocks);
  Fit fit(blocks);
  if (!fit.Solve()) return change;
  change.before_ns = fit.found()[0];
  change.behind_ns = fit.found()[0] + fit.found()[2];
  change.standard_error_ns =
      fit.ErrorOfChange() * StudentQuantile(static_cast<double>(blocks.size() - 3)) / kNormal975;
  change.used = count;
  return change;
}

}  // namespace gpubound
