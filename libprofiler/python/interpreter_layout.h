// SPDX-License-Identifier: Apache-2.0
//
// Where CPython keeps what a stack is made of: offsets within its structures, in bytes, by version.
// From 3.13 on the interpreter tells them itself, at the begin of _PyRuntime (the structure
// _Py_DebugOffsets, made for debuggers); those of 3.9 to 3.12 are a table, of 64-bit builds as their
// headers give them. A build that differs (Py_TRACE_REFS) is noticed when a code object is not one
// (interpreter_stacks.h).
#ifndef GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_LAYOUT_H_
#define GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_LAYOUT_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace gpubound {

// How the position of a frame in its code is kept, and what says the line there.
enum class LineTable : uint8_t {
  kLnotab,     // 3.9: pairs of increments of the position and of the line
  kRanges,     // 3.10: pairs of the length of a range and the step of the line to it
  kLocations,  // from 3.11 on: entries of one to nine bytes (Objects/locations.md of CPython)
};

struct InterpreterLayout {
  // Of _PyRuntime, PyInterpreterState and PyThreadState.
  size_t runtime_interpreters = 0;
  size_t interpreter_next = 0;
  size_t interpreter_threads = 0;
  size_t thread_next = 0;
  size_t thread_pthread = 0;
  size_t thread_tid = 0;  // 0: there is none, and the pthread has to tell
  size_t thread_frame = 0;
  // The thread's frame is that of a C frame, at this offset in it.
  std::optional<size_t> cframe_frame;

  size_t frame_code = 0;
  size_t frame_caller = 0;
  size_t frame_position = 0;
  // Frames with an owner of this number or above are of the interpreter's own.
  std::optional<size_t> frame_owner;
  size_t frame_bytecode_index = 0;  // free-threaded, from 3.14 on: of the thread's copy; else 0
  size_t frame_bytes = 0;           // that have to be read
  bool code_is_tagged = false;      // the lowest bits of the pointer are no address

  size_t code_file = 0;
  size_t code_name = 0;
  size_t code_lines = 0;
  size_t code_first_line = 0;
  size_t code_instructions = 0;  // 0: frame_position is an index; of bytes, or of words of two
  size_t code_copies = 0;        // of the bytecode, by thread; 0: there is one
  size_t code_bytes = 0;
  size_t position_bytes = 1;  // where it is an index: of what it counts
  LineTable lines = LineTable::kLocations;

  size_t object_type = 8;
  size_t bytes_size = 16;
  size_t bytes_data = 32;
  size_t text_length = 16;
  size_t text_state = 32;
  unsigned text_kind_bit = 2;  // of the state: three bits of kind, then compact, then ASCII
  size_t ascii_bytes = 40;     // of the header of a text that is ASCII
  size_t compact_bytes = 56;   // and of one that is not
};

inline constexpr uint8_t kOwnedByInterpreter = 3;  // 3.12; likewise and above, from 3.14 on

// How many bytes of _PyRuntime the interpreter's own description takes at most.
inline constexpr size_t kDescriptionBytes = 1024;

// |minor| of version 3; |runtime|: the begin of _PyRuntime. Absent: that version is not known, or
// what it says of itself cannot be right.
std::optional<InterpreterLayout> LayoutOf(int minor, std::span<const std::byte> runtime);

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_LAYOUT_H_
