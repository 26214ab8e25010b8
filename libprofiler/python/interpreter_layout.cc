// SPDX-License-Identifier: Apache-2.0
//
// The tables.
#include "libprofiler/python/interpreter_layout.h"

#include <algorithm>
#include <cstring>

namespace gpubound {
namespace {

// What 3.9 and 3.10 have in common.
InterpreterLayout LayoutWithFrameObjects() {
  InterpreterLayout layout;
  layout.runtime_interpreters = 32;
  layout.interpreter_next = 0;
  layout.interpreter_threads = 8;
  layout.thread_next = 8;
  layout.thread_pthread = 176;
  layout.thread_frame = 24;
  layout.frame_caller = 24;
  layout.frame_code = 32;
  layout.frame_bytes = 112;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_lines = 120;
  layout.code_first_line = 40;
  layout.code_bytes = 128;
  layout.ascii_bytes = 48;
  layout.compact_bytes = 72;
  return layout;
}

InterpreterLayout LayoutOf39() {
  InterpreterLayout layout = LayoutWithFrameObjects();
  layout.frame_position = 104;
  layout.lines = LineTable::kLnotab;
  return layout;
}

InterpreterLayout LayoutOf310() {
  InterpreterLayout layout = LayoutWithFrameObjects();
  layout.frame_position = 96;
  layout.position_bytes = 2;
  layout.lines = LineTable::kRanges;
  return layout;
}

InterpreterLayout LayoutOf311() {
  InterpreterLayout layout;
  layout.runtime_interpreters = 40;
  layout.interpreter_next = 0;
  layout.interpreter_threads = 16;
  layout.thread_next = 8;
  layout.thread_pthread = 152;
  layout.thread_tid = 160;
  layout.thread_frame = 56;
  layout.cframe_frame = 8;
  layout.frame_code = 32;
  layout.frame_caller = 48;
  layout.frame_position = 56;
  layout.frame_bytes = 72;
  layout.code_file = 112;
  layout.code_name = 128;
  layout.code_lines = 136;
  layout.code_first_line = 72;
  layout.code_instructions = 184;
  layout.code_bytes = 144;
  layout.ascii_bytes = 48;
  layout.compact_bytes = 72;
  return layout;
}

InterpreterLayout LayoutOf312() {
  InterpreterLayout layout = LayoutOf311();
  layout.interpreter_threads = 72;
  layout.thread_pthread = 136;
  layout.thread_tid = 144;
  layout.cframe_frame = 0;
  layout.frame_code = 0;
  layout.frame_caller = 8;
  layout.frame_owner = 70;
  layout.code_first_line = 68;
  layout.code_instructions = 192;
  layout.ascii_bytes = 40;
  layout.compact_bytes = 56;
  return layout;
}

// Reads the interpreter's description: numbers of eight bytes in sections, each of which begins with
// the size of a structure.
class Description {
 public:
  explicit Description(std::span<const std::byte> bytes) : bytes_(bytes) {}

  uint64_t Next() {
    uint64_t value = 0;
    if (at_ + sizeof(value) > bytes_.size()) {
      ends_early_ = true;
      return 0;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(value));
    at_ += sizeof(value);
    return value;
  }
  void Skip(size_t numbers) { at_ += numbers * sizeof(uint64_t); }

  // An offset into a structure of |size| bytes.
  size_t Offset(uint64_t size) {
    const uint64_t offset = Next();
    if (offset >= size) ends_early_ = true;
    return static_cast<size_t>(offset);
  }
  bool is_sound() const { return !ends_early_; }

 private:
  std::span<const std::byte> bytes_;
  size_t at_ = 0;
  bool ends_early_ = false;
};

constexpr char kCookie[] = "xdebugpy";

std::optional<InterpreterLayout> LayoutDescribed(int minor, std::span<const std::byte> runtime) {
  constexpr uint64_t kLargest = 1 << 20;  // of any structure
  if (runtime.size() < sizeof(kCookie) || std::memcmp(runtime.data(), kCookie, 8) != 0) {
    return std::nullopt;
  }
  const bool is_314 = minor >= 14;
  Description from(runtime);
  from.Skip(1);
  const uint64_t version = from.Next();
  if (version >> 24 != 3 || (version >> 16 & 0xff) != static_cast<uint64_t>(minor)) {
    return std::nullopt;
  }
  const bool free_threaded = from.Next() != 0;
  InterpreterLayout layout;

  uint64_t size = from.Next();  // the runtime
  from.Skip(1);                 // finalizing
  layout.runtime_interpreters = from.Offset(size);

  size = from.Next();  // an interpreter
  from.Skip(1);        // id
  layout.interpreter_next = from.Offset(size);
  layout.interpreter_threads = from.Offset(size);
  from.Skip(is_314 ? 12 : 9);  // from the main thread or the collector to the lock's holder, and on

  size = from.Next();  // a thread
  from.Skip(1);        // the one before
  layout.thread_next = from.Offset(size);
  from.Skip(1);  // its interpreter
  layout.thread_frame = from.Offset(size);
  layout.thread_pthread = from.Offset(size);
  layout.thread_tid = from.Offset(size);
  from.Skip(2);  // its stack of frames, its status

  size = from.Next();  // a frame
  layout.frame_caller = from.Offset(size);
  layout.frame_code = from.Offset(size);
  layout.frame_position = from.Offset(size);
  from.Skip(1);  // locals
  layout.frame_owner = from.Offset(size);
  if (is_314) {
    from.Skip(1);  // the stack pointer
    const size_t index = static_cast<size_t>(from.Next());
    if (free_threaded) layout.frame_bytecode_index = index;
  }
  layout.frame_bytes = std::max({layout.frame_caller, layout.frame_code, layout.frame_position,
                                 *layout.frame_owner, layout.frame_bytecode_index}) +
                       sizeof(uint64_t);
  layout.code_is_tagged = is_314;
  if (is_314 && free_threaded) layout.text_kind_bit = 8;

  size = from.Next();  // a code object
  layout.code_file = from.Offset(size);
  from.Skip(1);  // its name
  layout.code_name = from.Offset(size);
  layout.code_lines = from.Offset(size);
  layout.code_first_line = from.Offset(size);
  from.Skip(3);  // arguments and locals
  layout.code_instructions = static_cast<size_t>(from.Next());
  if (layout.code_instructions > kLargest) return std::nullopt;
  if (is_314) {
    const size_t copies = static_cast<size_t>(from.Next());
    if (free_threaded) layout.code_copies = copies;
  }
  layout.code_bytes = std::max({layout.code_file, layout.code_name, layout.code_lines,
                                layout.code_first_line, layout.code_copies}) +
                      sizeof(uint64_t);

  size = from.Next();  // any object
  layout.object_type = from.Offset(size);
  from.Skip(4);              // a type
  from.Skip(3 + 3);          // a tuple, a list
  if (is_314) from.Skip(4);  // a set
  from.Skip(3 + 2 + 3);      // a dictionary, a float, an integer
  size = from.Next();        // bytes
  layout.bytes_size = from.Offset(size);
  layout.bytes_data = from.Offset(size + 1);
  size = from.Next();  // a text
  layout.text_state = from.Offset(size);
  layout.text_length = from.Offset(size);
  layout.ascii_bytes = from.Offset(size);
  layout.compact_bytes = layout.ascii_bytes + 16;
  if (!from.is_sound() || layout.frame_bytes > kLargest || layout.code_bytes > 1024) {
    return std::nullopt;
  }
  return layout;
}

}  // namespace

std::optional<InterpreterLayout> LayoutOf(int minor, std::span<const std::byte> runtime) {
  static_assert(sizeof(void*) == 8);
  switch (minor) {
    case 9:
      return LayoutOf39();
    case 10:
      return LayoutOf310();
    case 11:
      return LayoutOf311();
    case 12:
      return LayoutOf312();
    case 13:
    case 14:
      return LayoutDescribed(minor, runtime);
    default:
      return std::nullopt;
  }
}

}  // namespace gpubound
