// SPDX-License-Identifier: Apache-2.0
//
// A queue of plain values in one piece of memory, for the few thousand records that wait between
// two stages. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_FIFO_H_
#define GPUBOUND_ANALYSIS_FIFO_H_

#include <cstddef>
#include <span>
#include <vector>

namespace gpubound {

template <typename Value>
class Fifo {
 public:
  bool empty() const { return first_ == values_.size(); }
  size_t size() const { return values_.size() - first_; }
  const Value& front() const { return values_[first_]; }
  std::span<const Value> waiting() const { return std::span(values_).subspan(first_); }
  void push(const Value& value) { values_.push_back(value); }
  void pop() {
    if (++first_ == values_.size()) {
      values_.clear();
      first_ = 0;
    } else if (first_ >= kWorthMoving && first_ > values_.size() / 2) {
      values_.erase(values_.begin(), values_.begin() + static_cast<std::ptrdiff_t>(first_));
      first_ = 0;
    }
  }

 private:
  static constexpr size_t kWorthMoving = 4096;
  std::vector<Value> values_;
  size_t first_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_FIFO_H_
