// SPDX-License-Identifier: Apache-2.0
//
// Follows the pointers.
#include "libprofiler/python/interpreter_stacks.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

#include "libprofiler/python/line_table.h"

namespace gpubound {
namespace {

constexpr size_t kMostInterpreters = 64;
constexpr size_t kMostCodes = 65'536;    // kept in memory; then all are forgotten
constexpr size_t kMostTextBytes = 4096;  // of a name
constexpr size_t kMostTableBytes = 65'536;
constexpr Address kTag = 7;  // the bits of a pointer that may be none of its address

// struct pthread is the C library's own, and where it keeps the number of the thread differs by
// version: this thread's tells. 0: not found.
size_t FindTidInPthread() {
  constexpr size_t kSearched = 1024;
  const auto* const own = reinterpret_cast<const std::byte*>(pthread_self());
  const auto tid = static_cast<uint32_t>(syscall(SYS_gettid));
  for (size_t offset = 0; offset < kSearched; offset += sizeof(tid)) {
    if (ValueAt<uint32_t>(own, offset) == tid) return offset;
  }
  return 0;
}

void AppendUtf8(uint32_t character, std::string* text) {
  const auto append = [text](uint32_t byte) { text->push_back(static_cast<char>(byte)); };
  if (character < 0x80) return append(character);
  if (character < 0x800) {
    append(0xc0 | character >> 6);
  } else {
    if (character < 0x10000) {
      append(0xe0 | character >> 12);
    } else {
      append(0xf0 | (character >> 18 & 7));
      append(0x80 | (character >> 12 & 0x3f));
    }
    append(0x80 | (character >> 6 & 0x3f));
  }
  append(0x80 | (character & 0x3f));
}

}  // namespace

std::unique_ptr<InterpreterStacks> InterpreterStacks::Create(const InterpreterAddress& address,
                                                             FrameTable* frames) {
  const OwnMemory memory;
  if (address.runtime == 0 || address.code_type == 0 || !memory.IsAllowed()) return nullptr;
  std::byte runtime[kDescriptionBytes];
  if (!memory.Read(address.runtime, runtime, sizeof(runtime))) return nullptr;
  const std::optional<InterpreterLayout> layout = LayoutOf(address.minor, runtime);
  if (!layout) return nullptr;
  return std::unique_ptr<InterpreterStacks>(new InterpreterStacks(*layout, address, frames));
}

InterpreterStacks::InterpreterStacks(const InterpreterLayout& layout,
                                     const InterpreterAddress& address, FrameTable* frames)
    : layout_(layout), address_(address), frames_(frames) {
  if (layout_.thread_tid == 0) pthread_tid_ = FindTidInPthread();
  thread_bytes_ = std::max({layout_.thread_next, layout_.thread_pthread, layout_.thread_tid,
                            layout_.thread_frame}) +
                  sizeof(uint64_t);
}

std::optional<uint32_t> InterpreterStacks::TidOf(const std::byte* thread_state) const {
  if (layout_.thread_tid != 0) {
    return static_cast<uint32_t>(ValueAt<uint64_t>(thread_state, layout_.thread_tid));
  }
  uint32_t tid = 0;
  const auto pthread = ValueAt<Address>(thread_state, layout_.thread_pthread);
  if (pthread_tid_ == 0 || !memory_.Read(pthread + pthread_tid_, &tid)) return std::nullopt;
  return tid;
}

void InterpreterStacks::ListThreads(std::vector<Thread>* threads) {
  threads->clear();
  std::byte state[512];
  if (thread_bytes_ > sizeof(state)) return;
  Address interpreter = 0;
  memory_.Read(address_.runtime + layout_.runtime_interpreters, &interpreter);
  for (size_t i = 0; interpreter != 0 && i < kMostInterpreters; ++i) {
    Address thread = 0;
    Address next = 0;
    if (!memory_.Read(interpreter + layout_.interpreter_threads, &thread) ||
        !memory_.Read(interpreter + layout_.interpreter_next, &next)) {
      return;
    }
    for (size_t seen = 0; thread != 0 && seen < kMostThreads; ++seen) {
      if (!memory_.Read(thread, state, thread_bytes_)) break;
      const std::optional<uint32_t> tid = TidOf(state);
      if (tid && *tid != 0) threads->push_back({*tid, thread});
      thread = ValueAt<Address>(state, layout_.thread_next);
    }
    interpreter = next;
  }
}

// 0: it is in none.
bool InterpreterStacks::ReadInnermost(Address state, Address* frame) const {
  if (!memory_.Read(state + layout_.thread_frame, frame)) return false;
  if (!layout_.cframe_frame || *frame == 0) return true;
  return memory_.Read(*frame + *layout_.cframe_frame, frame);
}

// Null: it is not there. Valid until the next call.
const std::byte* InterpreterStacks::FrameAt(Address frame) {
  constexpr Address kPage = 4096;
  constexpr size_t kInFront = 3584;  // callers lie in front of those that they call
  const size_t bytes = layout_.frame_bytes;
  // An address that was torn may be any, also one whose end is past the last.
  const auto is_in_window = [&] {
    const Address from_begin = frame - window_.begin;
    return frame >= window_.begin && from_begin <= window_.bytes &&
           window_.bytes - from_begin >= bytes;
  };
  if (!is_in_window()) {
    window_.begin = std::max<Address>(frame - std::min<Address>(frame, kInFront),
                                      (frame & ~(kPage - 1)) - std::min<Address>(frame, kPage));
    window_.bytes = static_cast<size_t>(frame + bytes - window_.begin);
    if (window_.bytes > sizeof(window_.memory) ||
        !memory_.Read(window_.begin, window_.memory, window_.bytes)) {
      window_.begin = frame;
      window_.bytes = bytes;
      if (!memory_.Read(frame, window_.memory, bytes)) {
        window_.bytes = 0;
        return nullptr;
      }
    }
  }
  return window_.memory + (frame - window_.begin);
}

bool InterpreterStacks::ReadFrames(Address innermost) {
  stack_.clear();
  window_.bytes = 0;
  Address at = innermost;
  // Frames of the interpreter's own are not counted: they come at most with each of the others.
  for (size_t seen = 0; at != 0 && stack_.size() < kMostDepth; ++seen) {
    if (seen > 2 * kMostDepth) return false;
    const std::byte* const frame = FrameAt(at);
    if (frame == nullptr) return false;
    const bool is_own =
        layout_.frame_owner && ValueAt<uint8_t>(frame, *layout_.frame_owner) >= kOwnedByInterpreter;
    if (!is_own) {
      ReadFrame read{};
      read.code = ValueAt<Address>(frame, layout_.frame_code);
      if (layout_.code_is_tagged) read.code &= ~kTag;
      if (layout_.code_instructions == 0) {
        read.position = static_cast<uint64_t>(ValueAt<int32_t>(frame, layout_.frame_position));
      } else {
        read.position = ValueAt<uint64_t>(frame, layout_.frame_position);
      }
      if (layout_.frame_bytecode_index != 0) {
        read.copy = ValueAt<uint32_t>(frame, layout_.frame_bytecode_index);
      }
      stack_.push_back(read);
    }
    const auto caller = ValueAt<Address>(frame, layout_.frame_caller);
    if (caller == at) return false;
    at = caller;
  }
  return true;
}

// The code objects of the stack: each has to be one.
bool InterpreterStacks::ReadCodes() {
  codes_.clear();
  for (const ReadFrame& frame : stack_) codes_.push_back(frame.code);
  objects_.resize(codes_.size() * layout_.code_bytes);
  if (!memory_.ReadEach(codes_, layout_.code_bytes, objects_.data())) return false;
  for (size_t i = 0; i < codes_.size(); ++i) {
    const std::byte* const object = objects_.data() + i * layout_.code_bytes;
    if (ValueAt<Address>(object, layout_.object_type) != address_.code_type) return false;
  }
  return true;
}

// Texts of a code object are compact: their characters follow the header.
std::optional<std::string> InterpreterStacks::ReadText(Address text) const {
  std::byte header[128];
  if (layout_.compact_bytes > sizeof(header) || !memory_.Read(text, header, layout_.ascii_bytes)) {
    return std::nullopt;
  }
  const uint32_t state = ValueAt<uint32_t>(header, layout_.text_state) >> layout_.text_kind_bit;
  const size_t width = state & 7;
  const bool is_compact = (state & 8) != 0;
  const bool is_ascii = (state & 16) != 0;
  const auto length = ValueAt<int64_t>(header, layout_.text_length);
  if (!is_compact || (width != 1 && width != 2 && width != 4) || length < 0) return std::nullopt;
  const size_t count = std::min(static_cast<size_t>(length), kMostTextBytes / width);
  std::byte characters[kMostTextBytes];
  const Address data = text + (is_ascii ? layout_.ascii_bytes : layout_.compact_bytes);
  if (count != 0 && !memory_.Read(data, characters, count * width)) return std::nullopt;
  std::string utf8;
  utf8.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    uint32_t character = 0;
    std::memcpy(&character, characters + i * width, width);
    AppendUtf8(character, &utf8);
  }
  return utf8;
}

bool InterpreterStacks::ReadTable(Address bytes, std::vector<uint8_t>* table) const {
  int64_t size = 0;
  if (!memory_.Read(bytes + layout_.bytes_size, &size) || size < 0) return false;
  table->resize(std::min(static_cast<size_t>(size), kMostTableBytes));
  return table->empty() || memory_.Read(bytes + layout_.bytes_data, table->data(), table->size());
}

// Another code object may have come to lie where one was.
bool InterpreterStacks::Refresh(Address code, const std::byte* object, Code* known) {
  const auto file = ValueAt<Address>(object, layout_.code_file);
  const auto name = ValueAt<Address>(object, layout_.code_name);
  const auto lines = ValueAt<Address>(object, layout_.code_lines);
  const auto first_line = ValueAt<int32_t>(object, layout_.code_first_line);
  if (known->function != FunctionId{} && known->file == file && known->name == name &&
      known->lines == lines && known->first_line == first_line) {
    return true;
  }
  *known = Code();
  const std::optional<std::string> file_text = ReadText(file);
  const std::optional<std::string> name_text = ReadText(name);
  if (!file_text || !name_text || !ReadTable(lines, &known->table)) {
    known_codes_.erase(code);
    return false;
  }
  known->file = file;
  known->name = name;
  known->lines = lines;
  known->first_line = first_line;
  known->function = frames_->InternFunction(*file_text, *name_text);
  return true;
}

int64_t InterpreterStacks::PositionOf(const ReadFrame& frame) const {
  if (layout_.code_instructions == 0) {
    return static_cast<int64_t>(frame.position) * static_cast<int64_t>(layout_.position_bytes);
  }
  Address begin = frame.code + layout_.code_instructions;
  // Free-threaded: a thread has a copy of its own, which a table of the code object points to.
  if (layout_.code_copies != 0 && frame.copy != 0) {
    Address table = 0;
    int64_t copies = 0;
    if (!memory_.Read(frame.code + layout_.code_copies, &table) || table == 0 ||
        !memory_.Read(table, &copies) || int64_t{frame.copy} >= copies ||
        !memory_.Read(table + sizeof(copies) + frame.copy * sizeof(begin), &begin)) {
      return -1;
    }
  }
  return static_cast<int64_t>(frame.position - begin);
}

uint32_t InterpreterStacks::LineAt(const ReadFrame& frame, Code* code) const {
  const int64_t position = PositionOf(frame);
  const auto [found, is_new] = code->line_at.try_emplace(position, 0);
  if (is_new) {
    found->second = LineOf(layout_.lines, code->table,
                           static_cast<uint32_t>(std::max(code->first_line, 0)), position);
  }
  return found->second;
}

std::optional<FrameId> InterpreterStacks::StackOf(const Thread& thread) {
  Address innermost = 0;
  if (!ReadInnermost(thread.state, &innermost)) return std::nullopt;
  if (!ReadFrames(innermost) || !ReadCodes()) return std::nullopt;
  if (known_codes_.size() > kMostCodes) known_codes_.clear();
  FrameId caller{};
  for (size_t i = stack_.size(); i-- > 0;) {
    Code& code = known_codes_[stack_[i].code];
    if (!Refresh(stack_[i].code, objects_.data() + i * layout_.code_bytes, &code)) {
      return std::nullopt;
    }
    caller = frames_->InternFrame(caller, code.function, LineAt(stack_[i], &code));
  }
  return caller;
}

}  // namespace gpubound
