// SPDX-License-Identifier: Apache-2.0
//
// Writes the state of the engine down and reads it again (docs/long_runs.md). A class says once
// what its state is, and the same member serves both ways:
//
//   void Visit(StateArchive& archive) { archive.All(begun_ns_, open_); }
//
// Numbers are zigzag varints, strings and lists come after their length. Reading never goes beyond
// the bytes: what does not fit sets failed(), and what was read by then is to be thrown away. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_BASE_STATE_ARCHIVE_H_
#define GPUBOUND_ANALYSIS_BASE_STATE_ARCHIVE_H_

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/base/fifo.h"
#include "analysis/base/plain_list.h"

namespace gpubound {

__extension__ typedef unsigned __int128 UnsignedInt128;

class StateArchive {
 public:
  // Writes, to be taken by Take().
  StateArchive() = default;
  // Reads |bytes|, which outlive the object.
  explicit StateArchive(std::string_view bytes) : reads_(true), rest_(bytes) {}

  bool reads() const { return reads_; }
  bool failed() const { return failed_; }
  // Nothing is left to read, and nothing was wrong.
  bool done() const { return !failed_ && rest_.empty(); }
  void Fail() { failed_ = true, rest_ = {}; }
  std::string Take() { return std::move(written_); }

  // How many operations and phases there are: what is read as an index of one lies below.
  void SetLimits(size_t operations, size_t phases) {
    operations_ = operations;
    phases_ = phases;
  }
  size_t operations() const { return operations_; }
  size_t phases() const { return phases_; }

  template <typename... Values>
  void All(Values&... values) {
    (Value(values), ...);
  }

  // A number that will be an index below |limit|.
  template <typename Index>
  void IndexBelow(size_t limit, Index& index) {
    Value(index);
    if (reads_ && static_cast<uint64_t>(index) >= limit) Fail(), index = Index{};
  }

  // A list of which the object knows how long it is at least: elements beyond those that were
  // written stay as they are.
  template <typename Element>
  void Grown(std::vector<Element>& list) {
    const size_t count = Count(list.size());
    if (list.size() < count) list.resize(count);
    for (size_t i = 0; i < count && !failed_; ++i) Value(list[i]);
  }

  // A list of which an element is written as what sets it apart from the one before it (at first
  // from Element{}): difference(archive, before, element).
  template <typename Element, typename Difference>
  void Chained(std::vector<Element>& list, Difference&& difference) {
    list.resize(Count(list.size()));
    Element before{};
    for (size_t i = 0; i < list.size() && !failed_; ++i) {
      difference(*this, before, list[i]);
      before = list[i];
    }
  }

 private:
  template <typename Number>
    requires std::integral<Number> || std::is_enum_v<Number>
  void Value(Number& value) {
    if (reads_) {
      value = static_cast<Number>(ReadNumber());
    } else {
      WriteNumber(static_cast<int64_t>(value));
    }
  }
  void Value(double& value) {
    auto bits = std::bit_cast<uint64_t>(value);
    Value(bits);
    value = std::bit_cast<double>(bits);
  }
  void Value(UnsignedInt128& value) {
    auto low = static_cast<uint64_t>(value);
    auto high = static_cast<uint64_t>(value >> 64);
    All(low, high);
    value = static_cast<UnsignedInt128>(high) << 64 | low;
  }
  void Value(std::string& text);
  void Value(std::vector<bool>& bits) {
    bits.resize(Count(bits.size()));
    for (size_t i = 0; i < bits.size() && !failed_; ++i) {
      bool bit = bits[i];
      Value(bit);
      bits[i] = bit;
    }
  }
  template <typename Element>
  void Value(std::vector<Element>& list) {
    list.resize(Count(list.size()));
    for (size_t i = 0; i < list.size() && !failed_; ++i) Value(list[i]);
  }
  template <typename Element, size_t kSize>
  void Value(std::array<Element, kSize>& list) {
    for (Element& element : list) Value(element);
  }
  template <typename First, typename Second>
  void Value(std::pair<First, Second>& pair) {
    All(pair.first, pair.second);
  }
  template <typename Element>
  void Value(PlainList<Element>& list) {
    std::vector<Element> elements(list.begin(), list.end());
    Value(elements);
    if (!reads_) return;
    list.clear();
    for (const Element& element : elements) list.push_back(element);
  }
  template <typename Element>
  void Value(Fifo<Element>& queue) {
    std::vector<Element> waiting(queue.waiting().begin(), queue.waiting().end());
    Value(waiting);
    if (!reads_) return;
    queue.clear();
    for (const Element& element : waiting) queue.push(element);
  }
  template <typename Object>
    requires requires(Object& object, StateArchive& archive) { object.Visit(archive); }
  void Value(Object& object) {
    object.Visit(*this);
  }

  // The length of a list: |size| where it is written. Every element is a byte at least.
  size_t Count(size_t size);
  int64_t ReadNumber();
  void WriteNumber(int64_t value);

  const bool reads_ = false;
  bool failed_ = false;
  size_t operations_ = 0;
  size_t phases_ = 0;
  std::string_view rest_;
  std::string written_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_STATE_ARCHIVE_H_
