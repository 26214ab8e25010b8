// SPDX-License-Identifier: Apache-2.0
//
// Which random traces a test is about: as many as the suite asks for, or the one that the environment names.
#ifndef GPUBOUND_TESTS_ORACLE_SEEDS_H_
#define GPUBOUND_TESTS_ORACLE_SEEDS_H_

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace gpubound::oracle {

// Seeds first, first + 1, ...: a range to iterate over.
class Seeds {
 public:
  class Iterator {
   public:
    explicit Iterator(uint64_t seed) : seed_(seed) {}
    uint64_t operator*() const { return seed_; }
    Iterator& operator++() { return ++seed_, *this; }
    bool operator!=(const Iterator& other) const { return seed_ != other.seed_; }

   private:
    uint64_t seed_;
  };

  // Of the |whole| number GPUBOUND_ORACLE_PERCENT per cent, a quarter where that is not set, and never
  // fewer than a hundred; GPUBOUND_ORACLE_SEED alone where that is set (docs/testing.md).
  explicit Seeds(uint64_t whole, uint64_t first = 1) : first_(first) {
    if (const char* one = std::getenv("GPUBOUND_ORACLE_SEED"); one != nullptr) {
      first_ = std::strtoull(one, nullptr, 10);
      count_ = 1;
      return;
    }
    const char* text = std::getenv("GPUBOUND_ORACLE_PERCENT");
    const uint64_t percent = text == nullptr ? 25 : std::strtoull(text, nullptr, 10);
    count_ = std::max(whole * percent / 100, std::min<uint64_t>(whole, 100));
  }

  Iterator begin() const { return Iterator(first_); }
  Iterator end() const { return Iterator(first_ + count_); }
  uint64_t size() const { return count_; }
  // Of one trace nobody expects that it has everything.
  bool is_one() const { return count_ == 1; }

  std::string InWords() const {
    return "seeds " + std::to_string(first_) + " to " + std::to_string(first_ + count_ - 1);
  }

 private:
  uint64_t first_;
  uint64_t count_ = 0;
};

// For the message of a failure.
inline std::string ToReproduce(uint64_t seed) {
  return "reproduce with GPUBOUND_ORACLE_SEED=" + std::to_string(seed);
}

}  // namespace gpubound::oracle

#endif  // GPUBOUND_TESTS_ORACLE_SEEDS_H_
