// SPDX-License-Identifier: Apache-2.0
//
// The stacks of the Python threads of this process, read from the interpreter's memory while they
// run: without the GIL, a signal, or stopping anybody. Every pointer on the way is read by the
// kernel (own_memory.h), so what has gone meanwhile is an answer.
//
// A thread goes on while its stack is read, so what was read may be torn: then a code object is
// none, or the chain of callers has no end, and the stack counts as torn. The frames of 3.11 and
// later lie one after the other and are read in one go of some microseconds; a frame that was left
// meanwhile is then seen as it was.
//
// One thread.
#ifndef GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_STACKS_H_
#define GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_STACKS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "libprofiler/process_info.h"
#include "libprofiler/python/frame_table.h"
#include "libprofiler/python/interpreter_layout.h"
#include "libprofiler/python/own_memory.h"

namespace gpubound {

class InterpreterStacks {
 public:
  // A Python thread.
  struct Thread {
    uint32_t tid = 0;
    Address state = 0;  // its PyThreadState
  };

  static constexpr size_t kMostThreads = 1024;
  static constexpr size_t kMostDepth = 256;  // frames further out than that are left out

  // Null: that version's layout is not known, or the kernel does not let us read. |frames| outlives
  // the object.
  static std::unique_ptr<InterpreterStacks> Create(const InterpreterAddress& address,
                                                   FrameTable* frames);

  // The threads of all interpreters, whose states are lists that change while they are read: what
  // can be followed of them.
  void ListThreads(std::vector<Thread>* threads);

  // The innermost frame of |thread|. Absent: what was read is torn. None: it is in no frame of the
  // program's, as after its last one.
  std::optional<FrameId> StackOf(const Thread& thread);

 private:
  // What a stack's frame is at: read, not looked up yet.
  struct ReadFrame {
    Address code;
    uint64_t position;
    uint32_t copy;  // of the bytecode
  };
  // What is known of a code object, as long as it is the same.
  struct Code {
    Address file = 0;
    Address name = 0;
    Address lines = 0;
    int32_t first_line = 0;
    FunctionId function{};
    std::vector<uint8_t> table;
    std::unordered_map<int64_t, uint32_t> line_at;  // by position
  };
  // A piece of memory that was read in one go.
  struct Window {
    Address begin = 0;
    size_t bytes = 0;
    std::byte memory[4096 + 512];
  };

  InterpreterStacks(const InterpreterLayout& layout, const InterpreterAddress& address,
                    FrameTable* frames);
  std::optional<uint32_t> TidOf(const std::byte* thread_state) const;
  bool ReadInnermost(Address state, Address* frame) const;
  const std::byte* FrameAt(Address frame);
  bool ReadFrames(Address innermost);
  bool ReadCodes();
  bool Refresh(Address code, const std::byte* object, Code* known);
  std::optional<std::string> ReadText(Address text) const;
  bool ReadTable(Address bytes, std::vector<uint8_t>* table) const;
  int64_t PositionOf(const ReadFrame& frame) const;
  uint32_t LineAt(const ReadFrame& frame, Code* code) const;

  const InterpreterLayout layout_;
  const InterpreterAddress address_;
  const OwnMemory memory_;
  FrameTable* const frames_;
  size_t pthread_tid_ = 0;  // where a pthread has its thread's number; 0: not known
  size_t thread_bytes_ = 0;
  Window window_;
  std::vector<ReadFrame> stack_;    // innermost first
  std::vector<Address> codes_;      // of them
  std::vector<std::byte> objects_;  // what was read there
  std::unordered_map<Address, Code> known_codes_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_INTERPRETER_STACKS_H_
