// SPDX-License-Identifier: Apache-2.0
//
// Records in the order in which they come, as many as there are: blocks of them lie in memory until
// a budget that several logs share is used up, or that of all logs of the program, and in a file
// without a name from then on. Written once, read as often as wanted.
//
// One object, one thread; once it is finished, each reader needs a buffer of its own and no more,
// whatever its thread.
#ifndef GPUBOUND_ANALYSIS_BASE_RECORD_LOG_H_
#define GPUBOUND_ANALYSIS_BASE_RECORD_LOG_H_

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analysis/base/log_memory.h"
#include "analysis/base/spill_file.h"
#include "analysis/base/status.h"

namespace gpubound {

// Where the blocks of logs go. Outlives them. The first failure is kept; what was read or written
// since then is void.
class LogSpace {
 public:
  explicit LogSpace(std::string folder, size_t memory_bytes = size_t{256} << 20,
                    LogMemory* shared = &LogMemory::OfThisProgram())
      : file_(std::move(folder)), most_(memory_bytes), shared_(*shared) {}
  ~LogSpace() { shared_.GiveBack(taken_); }
  LogSpace(const LogSpace&) = delete;
  LogSpace& operator=(const LogSpace&) = delete;

  bool TakeMemory(size_t bytes) {
    if (bytes > most_ - taken_ || !shared_.Take(bytes)) return false;
    taken_ += bytes;
    return true;
  }
  uint64_t Write(const void* bytes, size_t count) {
    const uint64_t offset = file_.size();
    Note(file_.Append(bytes, count));
    return offset;
  }
  void Read(uint64_t offset, void* to, size_t count) { Note(file_.Read(offset, to, count)); }
  // Once nobody reads.
  const std::optional<Error>& error() const { return error_; }

 private:
  void Note(const Status& status) {
    if (status.ok()) return;
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_) error_ = status.error();
  }
  SpillFile file_;
  const size_t most_;
  LogMemory& shared_;
  size_t taken_ = 0;
  std::mutex mutex_;
  std::optional<Error> error_;
};

template <typename Record>
class RecordLog {
 public:
  static_assert(std::is_trivially_copyable_v<Record>);
  static constexpr size_t kBlock = 4096;

  explicit RecordLog(LogSpace* space) : space_(space) {}

  // The block that is being filled has at most kBlock records.
  std::vector<Record>& open_block() { return open_; }
  bool full() const { return open_.size() >= kBlock; }
  // Ends the block; the next record begins another one. Without records it does nothing.
  void Seal() {
    if (open_.empty()) return;
    Block& block = blocks_.emplace_back();
    block.count = open_.size();
    block.first = open_.front();
    if (space_->TakeMemory(open_.size() * sizeof(Record))) {
      block.records.assign(open_.begin(), open_.end());
    } else {
      block.offset = space_->Write(open_.data(), open_.size() * sizeof(Record));
    }
    open_.clear();
  }

  size_t blocks() const { return blocks_.size(); }
  size_t SizeOf(size_t block) const { return blocks_[block].count; }
  const Record& FirstOf(size_t block) const { return blocks_[block].first; }
  // Valid as long as the log and |buffer|, whose content is replaced.
  std::span<const Record> Read(size_t block, std::vector<Record>* buffer) const {
    const Block& from = blocks_[block];
    if (!from.records.empty()) return from.records;
    buffer->resize(from.count);
    space_->Read(from.offset, buffer->data(), from.count * sizeof(Record));
    return *buffer;
  }

 private:
  struct Block {
    std::vector<Record> records;  // empty: they are in the file
    uint64_t offset = 0;
    size_t count = 0;
    Record first{};
  };
  LogSpace* space_;
  std::vector<Record> open_;
  std::vector<Block> blocks_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_BASE_RECORD_LOG_H_
