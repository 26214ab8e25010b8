// SPDX-License-Identifier: Apache-2.0
//
// A list of plain values that is filled and emptied over and over, as stages do with what they hand
// on. To append is a comparison and a store, which compilers put where it is asked for; of a
// std::vector they mostly make a call. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_BASE_PLAIN_LIST_H_
#define GPUBOUND_ANALYSIS_BASE_PLAIN_LIST_H_

#include <algorithm>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

namespace gpubound {

template <typename Value>
class PlainList {
 public:
  static_assert(std::is_trivially_copyable_v<Value>);

  PlainList() = default;
  PlainList(PlainList&& other) noexcept { *this = std::move(other); }
  PlainList& operator=(PlainList&& other) noexcept {
    values_ = std::move(other.values_);
    next_ = std::exchange(other.next_, nullptr);
    end_ = std::exchange(other.end_, nullptr);
    return *this;
  }

  // |value| may be one of the list's own.
  void push_back(const Value& value) {
    if (next_ == end_) [[unlikely]] {
      const Value copy = value;
      Grow(std::max<size_t>(16, 2 * size()));
      *next_++ = copy;
      return;
    }
    *next_++ = value;
  }
  // One more behind the last one, whose value is not set.
  Value* Add() {
    if (next_ == end_) [[unlikely]]
      Grow(std::max<size_t>(16, 2 * size()));
    return next_++;
  }
  void pop_back() { --next_; }
  // Room for |more| values behind the last one. They belong to the list once AddUntil() says how
  // far it was filled.
  Value* Room(size_t more) {
    if (static_cast<size_t>(end_ - next_) < more) Grow(std::max(size() + more, 2 * size()));
    return next_;
  }
  void AddUntil(Value* end) { next_ = end; }
  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    next_ = std::remove_if(begin(), end(), predicate);
  }
  // Keeps its memory.
  void clear() { next_ = values_.get(); }

  bool empty() const { return next_ == values_.get(); }
  size_t size() const { return static_cast<size_t>(next_ - values_.get()); }
  Value* data() { return values_.get(); }
  const Value* data() const { return values_.get(); }
  Value* begin() { return data(); }
  Value* end() { return next_; }
  const Value* begin() const { return data(); }
  const Value* end() const { return next_; }
  Value& operator[](size_t index) { return values_[index]; }
  const Value& operator[](size_t index) const { return values_[index]; }
  Value& front() { return values_[0]; }
  const Value& front() const { return values_[0]; }
  Value& back() { return next_[-1]; }
  const Value& back() const { return next_[-1]; }

 private:
  [[gnu::noinline]] void Grow(size_t capacity) {
    const size_t count = size();
    std::unique_ptr<Value[]> larger = std::make_unique_for_overwrite<Value[]>(capacity);
    std::copy_n(values_.get(), count, larger.get());
    values_ = std::move(larger);
    next_ = values_.get() + count;
    end_ = values_.get() + capacity;
  }

  std::unique_ptr<Value[]> values_;
  Value* next_ = nullptr;
  Value* end_ = nullptr;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_PLAIN_LIST_H_
