// SPDX-License-Identifier: Apache-2.0
//
// Compares numbers. One object, one thread.
#include "analysis/reader/writer_sequence.h"

#include <algorithm>

namespace gpubound {

WriterSequence::Step WriterSequence::To(const ChunkRow& row, int64_t begin_ns) {
  const std::pair writer(row.family, row.thread);
  if (writer != writer_) {
    writer_ = writer;
    decoded_until_ = 0;
    last_end_ns_ = begin_ns;
  }
  const uint64_t from = begins_anywhere_ ? row.first_sequence : 0;
  uint64_t& covered = coverage_.try_emplace(writer, from).first->second;
  const uint64_t next = row.first_sequence + row.sequence_count;
  Step step;
  if (next <= covered && row.sequence_count != 0) {
    step.repeated = true;
    return step;
  }
  const SummedWriter* summed = WriterInSums(row);
  const uint64_t known = std::max(covered, summed == nullptr ? 0 : summed->gone_until);
  if (row.first_sequence > known) step.missing = row.first_sequence - known;
  covered = std::max(covered, next);
  const bool follows_gone = summed != nullptr && row.first_sequence == summed->gone_until;
  const bool follows = row.first_sequence <= decoded_until_;
  step.gap = !follows && !follows_gone;
  step.thinned = !follows && summed != nullptr && summed->gone_until > decoded_until_;
  step.after_ns = last_end_ns_;
  return step;
}

void WriterSequence::Decoded(const ChunkRow& row) {
  decoded_until_ = row.first_sequence + row.sequence_count;
  last_end_ns_ = std::max(last_end_ns_, row.max_ns);
}

uint64_t WriterSequence::LateEvents(const ChunkRow& row) const {
  if (sums_ == nullptr || row.min_ns >= sums_->until_ns) return 0;
  const SummedWriter* summed = WriterInSums(row);
  return summed != nullptr && row.first_sequence < summed->seen_until ? 0 : row.event_count;
}

std::vector<uint32_t> WriterSequence::ThinnedTails() const {
  std::vector<uint32_t> threads;
  if (sums_ == nullptr) return threads;
  for (const SummedWriter& writer : sums_->writers) {
    if (writer.family != EventFamily::kThread) continue;
    const auto stored = coverage_.find(std::pair(writer.family, writer.thread));
    const uint64_t until = stored == coverage_.end() ? 0 : stored->second;
    if (writer.gone_until > until) threads.push_back(writer.thread);
  }
  return threads;
}

Coverage WriterSequence::Stored() const {
  Coverage stored = coverage_;
  if (sums_ == nullptr) return stored;
  for (const SummedWriter& writer : sums_->writers) {
    uint64_t& covered = stored[std::pair(writer.family, writer.thread)];
    covered = std::max(covered, writer.gone_until);
  }
  return stored;
}

const SummedWriter* WriterSequence::WriterInSums(const ChunkRow& row) const {
  if (sums_ == nullptr) return nullptr;
  for (const SummedWriter& writer : sums_->writers) {
    if (writer.family == row.family && writer.thread == row.thread) return &writer;
  }
  return nullptr;
}

}  // namespace gpubound
