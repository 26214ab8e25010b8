// SPDX-License-Identifier: Apache-2.0
//
// Numbers distinct keys in the order of their first appearance, for the columns that refer to a
// value by its position. A hash table that is emptied in constant time, so that one chunk costs
// what its own keys cost.
//
// Thread rule: one thread at a time per object. Never throws.
#ifndef GPUBOUND_PROTO_DISTINCT_TABLE_H_
#define GPUBOUND_PROTO_DISTINCT_TABLE_H_

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "proto/byte_buffer.h"

namespace gpubound {

// Key: trivially copyable, comparable, with `uint64_t Hash() const` whose high bits are well mixed.
template <typename Key>
class DistinctTable {
 public:
  // Forgets all keys and makes room for |max_keys|. False: out of memory.
  bool Reset(size_t max_keys) {
    const size_t slots = std::bit_ceil(2 * max_keys + 16);
    if (slots > slot_count_) {
      if (!slots_.Reserve(slots * sizeof(uint64_t)) || !keys_.Reserve(slots / 2 * sizeof(Key))) {
        return false;
      }
      slot_count_ = slots;
      hash_shift_ = 64 - std::countr_zero(slots);
      generation_ = UINT32_MAX;  // the slots hold anything: start over
    }
    if (++generation_ == 0) {
      std::memset(slots_.data(), 0, slot_count_ * sizeof(uint64_t));
      generation_ = 1;
    }
    size_ = 0;
    return true;
  }

  // The number of |key|; new keys get the next one.
  uint32_t NumberOf(const Key& key) {
    auto* slots = reinterpret_cast<uint64_t*>(slots_.data());
    auto* keys = reinterpret_cast<Key*>(keys_.data());
    for (size_t i = key.Hash() >> hash_shift_;; i = (i + 1) & (slot_count_ - 1)) {
      const uint64_t slot = slots[i];
      const auto number = static_cast<uint32_t>(slot);
      if (slot >> 32 != generation_) {
        slots[i] = uint64_t{generation_} << 32 | size_;
        keys[size_] = key;
        return size_++;
      }
      if (keys[number] == key) return number;
    }
  }

  std::span<const Key> keys() const { return {reinterpret_cast<const Key*>(keys_.data()), size_}; }

 private:
  ByteBuffer slots_;  // uint64_t: generation << 32 | number
  ByteBuffer keys_;
  size_t slot_count_ = 0;
  int hash_shift_ = 0;
  uint32_t generation_ = 0;  // of the slots in use, never 0
  uint32_t size_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_DISTINCT_TABLE_H_
