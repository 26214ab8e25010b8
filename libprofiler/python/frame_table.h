// SPDX-License-Identifier: Apache-2.0
//
// The stacks that were seen, as a tree: a frame is a function, the line that it is at, and the
// frame that called it. A stack is known by its innermost frame. Rows refer to earlier rows only.
//
// Bounded: beyond kMostFrames what is new counts as its caller, and functions beyond
// kMostFunctions are one; the former is counted. One writer, the flusher's thread; the rows are
// copied by whoever drains. One lock, of the interner's rank.
#ifndef GPUBOUND_LIBPROFILER_PYTHON_FRAME_TABLE_H_
#define GPUBOUND_LIBPROFILER_PYTHON_FRAME_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "libprofiler/row_journal.h"
#include "proto/event_model.h"

namespace gpubound {

struct FunctionRow {
  FunctionId id{};
  std::string file;
  std::string name;
};

struct FrameRow {
  FrameId id{};
  FrameId caller{};  // none: the outermost
  FunctionId function{};
  uint32_t line = 0;  // 0: not known
};

// Where a reader of the table stands.
struct FrameTablePositions {
  size_t functions = 0, frames = 0;
};

struct FrameTableRows {
  std::vector<FunctionRow> functions;
  std::vector<FrameRow> frames;
  bool empty() const { return functions.empty() && frames.empty(); }
  void clear() { *this = FrameTableRows(); }
};

class FrameTable {
 public:
  static constexpr size_t kMostFunctions = 32'768;
  static constexpr size_t kMostFrames = 131'072;

  FunctionId InternFunction(std::string_view file, std::string_view name);
  FrameId InternFrame(FrameId caller, FunctionId function, uint32_t line);

  void CopyRowsSince(FrameTablePositions* positions, FrameTableRows* out);

  // Frames that did not fit.
  uint64_t overflowed() const { return overflowed_; }

 private:
  struct Key {
    FrameId caller;
    FunctionId function;
    uint32_t line;
    friend bool operator==(const Key&, const Key&) = default;
  };
  struct KeyHash {
    size_t operator()(const Key& key) const {
      uint64_t hash = uint64_t{Raw(key.caller)} << 32 | Raw(key.function);
      hash = (hash ^ uint64_t{key.line} * 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd;
      return static_cast<size_t>(hash ^ hash >> 29);
    }
  };

  std::unordered_map<std::string, FunctionId> function_ids_;  // by file, NUL, name
  std::unordered_map<Key, FrameId, KeyHash> frame_ids_;
  uint64_t overflowed_ = 0;

  std::mutex mutex_;  // of what follows
  RowJournal<FunctionRow> functions_;
  RowJournal<FrameRow> frames_;
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_FRAME_TABLE_H_
