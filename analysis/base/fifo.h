// SPDX-License-Identifier: Apache-2.0
//
// A queue of plain values in one piece of memory, for the few thousand records that wait between
// two stages. One object, one caller.
//
//   values_      first_              next_        end_
//     |..gone......|====waiting========|..free......|
#ifndef GPUBOUND_ANALYSIS_BASE_FIFO_H_
#define GPUBOUND_ANALYSIS_BASE_FIFO_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

namespace gpubound {

template <typename Value>
class Fifo {
 public:
  static_assert(std::is_trivially_copyable_v<Value>);

  bool empty() const { return first_ == next_; }
  size_t size() const { return static_cast<size_t>(next_ - first_); }
  const Value& front() const { return *first_; }
  std::span<const Value> waiting() const { return {first_, next_}; }
  // |value| is none of the queue's own.
  void push(const Value& value) { *Add() = value; }
  // One more behind the last one, whose value is not set.
  Value* Add() {
    if (next_ == end_) [[unlikely]]
      MakeRoom();
    return next_++;
  }
  void pop() {
    if (++first_ == next_) clear();
  }
  // Takes those off that lie before |first|, which is one of waiting() or their end.
  void PopUntil(const Value* first) {
    first_ += first - first_;
    if (first_ == next_) clear();
  }
  void clear() { first_ = next_ = values_.get(); }

 private:
  // Where most is gone already, by moving what waits to the front.
  [[gnu::noinline]] void MakeRoom() {
    const size_t waiting = size();
    const auto capacity = static_cast<size_t>(end_ - values_.get());
    if (2 * waiting <= capacity && capacity != 0) {
      std::copy(first_, next_, values_.get());
    } else {
      const size_t larger = std::max<size_t>(16, 2 * capacity);
      std::unique_ptr<Value[]> values = std::make_unique_for_overwrite<Value[]>(larger);
      std::copy(first_, next_, values.get());
      values_ = std::move(values);
      end_ = values_.get() + larger;
    }
    first_ = values_.get();
    next_ = first_ + waiting;
  }

  std::unique_ptr<Value[]> values_;
  Value* first_ = nullptr;
  Value* next_ = nullptr;
  Value* end_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_FIFO_H_
