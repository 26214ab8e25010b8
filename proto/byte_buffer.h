// SPDX-License-Identifier: Apache-2.0
//
// A growing byte array that never throws: the encoder runs in somebody's program, where running out
// of memory is a false and not an exception. Also the output of protozero's writers
// (message_writer.h).
//
// Thread rule: one thread at a time per object.
#ifndef GPUBOUND_PROTO_BYTE_BUFFER_H_
#define GPUBOUND_PROTO_BYTE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

namespace gpubound {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  ~ByteBuffer() { std::free(data_); }
  ByteBuffer(const ByteBuffer&) = delete;
  ByteBuffer& operator=(const ByteBuffer&) = delete;

  uint8_t* data() { return data_; }
  const uint8_t* data() const { return data_; }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  std::span<const std::byte> bytes() const {
    return {reinterpret_cast<const std::byte*>(data_), size_};
  }
  void Clear() { size_ = 0; }

  // Room for |capacity| bytes in all. Content is kept. False: out of memory, nothing changed.
  bool Reserve(size_t capacity) {
    if (capacity <= capacity_) return true;
    void* grown = std::realloc(data_, capacity);
    if (grown == nullptr) return false;
    data_ = static_cast<uint8_t*>(grown);
    capacity_ = capacity;
    return true;
  }

  // Declares |size| bytes, written through data() within the capacity, to be the content.
  void SetSize(size_t size) { size_ = size; }

  // Appends within the capacity; what does not fit is left out (the caller reserved too little).
  void Append(const void* bytes, size_t count) {
    if (count > capacity_ - size_) count = capacity_ - size_;
    if (count != 0) std::memcpy(data_ + size_, bytes, count);
    size_ += count;
  }

 private:
  uint8_t* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_BYTE_BUFFER_H_
