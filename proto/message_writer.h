// SPDX-License-Identifier: Apache-2.0
//
// protozero's writer over a ByteBuffer: the framing of Chunk messages. protozero's own buffers
// throw when they cannot grow; this one was reserved by the caller and neither grows nor throws.
//
// Thread rule: one thread at a time per buffer. Included by the encoder alone.
#ifndef GPUBOUND_PROTO_MESSAGE_WRITER_H_
#define GPUBOUND_PROTO_MESSAGE_WRITER_H_

#include <cstddef>
#include <cstring>
#include <protozero/basic_pbf_writer.hpp>

#include "proto/byte_buffer.h"

namespace protozero {

template <>
struct buffer_customization<gpubound::ByteBuffer> {
  static std::size_t size(const gpubound::ByteBuffer* buffer) noexcept { return buffer->size(); }
  static void append(gpubound::ByteBuffer* buffer, const char* data, std::size_t count) noexcept {
    buffer->Append(data, count);
  }
  static void push_back(gpubound::ByteBuffer* buffer, char byte) noexcept {
    buffer->Append(&byte, 1);
  }
  static void reserve_additional(gpubound::ByteBuffer* /*buffer*/, std::size_t /*size*/) noexcept {}

  // What follows serves submessages of unknown length, which the encoder does not write.
  static void append_zeros(gpubound::ByteBuffer* buffer, std::size_t count) noexcept {
    for (; count != 0; --count) push_back(buffer, '\0');
  }
  static void resize(gpubound::ByteBuffer* buffer, std::size_t size) noexcept {
    buffer->SetSize(size);
  }
  static void erase_range(gpubound::ByteBuffer* buffer, std::size_t from, std::size_t to) noexcept {
    std::memmove(buffer->data() + from, buffer->data() + to, buffer->size() - to);
    buffer->SetSize(buffer->size() - (to - from));
  }
  static char* at_pos(gpubound::ByteBuffer* buffer, std::size_t position) noexcept {
    return reinterpret_cast<char*>(buffer->data()) + position;
  }
};

}  // namespace protozero

namespace gpubound {

using MessageWriter = protozero::basic_pbf_writer<ByteBuffer>;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_MESSAGE_WRITER_H_
