// SPDX-License-Identifier: Apache-2.0
//
// Sets of small numbers as bits, and how many of many sets each number was in. The bits of the
// counts of 64 numbers lie across words, one word for each binary place, so that a set is counted
// by some two operations a word:
//
//   set           1 0 1 1
//   lowest bits   0 1 1 0      their sums 1 1 0 1, carried 0 0 1 0
//   next bits     1 0 0 1      their sums 1 0 1 1
//
// Plain values. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_PROCESSES_MEMBER_COUNTS_H_
#define GPUBOUND_ANALYSIS_PROCESSES_MEMBER_COUNTS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpubound {

class BitSet {
 public:
  // False: it was there already.
  bool Add(size_t number) {
    if (number / 64 >= words_.size()) words_.resize(number / 64 + 1);
    uint64_t& word = words_[number / 64];
    const uint64_t bit = uint64_t{1} << (number % 64);
    const bool is_new = (word & bit) == 0;
    word |= bit;
    return is_new;
  }
  void Add(const BitSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    for (size_t w = 0; w < other.words_.size(); ++w) words_[w] |= other.words_[w];
  }
  bool Has(size_t number) const {
    return number / 64 < words_.size() && (words_[number / 64] >> (number % 64) & 1) != 0;
  }
  // Its memory stays.
  void Clear() { std::fill(words_.begin(), words_.end(), 0); }
  std::span<const uint64_t> words() const { return words_; }

 private:
  std::vector<uint64_t> words_;
};

class MemberCounts {
 public:
  void Count(const BitSet& set) {
    const std::span<const uint64_t> words = set.words();
    for (size_t w = 0; w < words.size(); ++w) {
      uint64_t carry = words[w];
      for (size_t place = 0; carry != 0; ++place) {
        if (place == places_.size()) places_.emplace_back();
        std::vector<uint64_t>& bits = places_[place];
        if (bits.size() < words.size()) bits.resize(words.size());
        const uint64_t both = bits[w] & carry;
        bits[w] ^= carry;
        carry = both;
      }
    }
  }
  uint64_t count(size_t number) const {
    uint64_t sum = 0;
    for (size_t place = 0; place < places_.size(); ++place) {
      const std::vector<uint64_t>& bits = places_[place];
      if (number / 64 >= bits.size()) continue;
      sum |= (bits[number / 64] >> (number % 64) & 1) << place;
    }
    return sum;
  }

 private:
  std::vector<std::vector<uint64_t>> places_;  // by binary place, words of 64 numbers
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PROCESSES_MEMBER_COUNTS_H_
