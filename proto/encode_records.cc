// SPDX-License-Identifier: Apache-2.0
//
// Records into columns. All families share begin, duration and correlation; each
// adds what it has. Thread rule: that of ChunkEncoder.
#include <algorithm>
#include <bit>

#include "proto/encoder_buffers.h"

namespace gpubound {
namespace {

using Elision = VarintColumn::Elision;

// Columns 0, 1, 2 of every family.
class CommonColumns {
 public:
  CommonColumns(EncoderBuffers* buffers, const ClockConversion& conversion)
      : buffers_(buffers),
        times_{.cursor = ClockCursor(conversion),
               .starts = buffers->blocks[0],
               .durations = buffers->blocks[1],
               .correlations = buffers->blocks[2]} {}

  // Empties the first |columns_in_all| columns; times count from the first record. False: out of
  // memory.
  template <typename Record>
  bool Begin(std::span<const Record> records, size_t columns_in_all) {
    for (size_t i = 0; i < columns_in_all; ++i) {
      const Elision elision = i == 0 ? Elision::kNever : Elision::kAllEqual;
      if (!buffers_->columns[i].Begin(buffers_->codec, elision, records.size())) return false;
    }
    if (records.empty()) return true;
    base_ns_ = times_.cursor.ToMonotonic(records[0].start_ns);
    times_.previous_start = static_cast<uint64_t>(base_ns_);
    return true;
  }

  // Fills the first three blocks.
  template <typename Record>
  void Take(std::span<const Record> block) {
    static_assert(offsetof(Record, start_ns) == 0 && offsetof(Record, end_ns) == 8);
    buffers_->loops->take_times(&times_,
                                {reinterpret_cast<const std::byte*>(block.data()), sizeof(Record),
                                 offsetof(Record, correlation), block.size()});
  }

  void Finish(size_t record_count, EncodedChunk* row, ChunkColumns* columns) const {
    row->sequence_count = record_count;
    row->event_count = record_count;
    row->inverted_records = times_.inverted;
    if (record_count == 0) return;
    row->min_ns = times_.min_ns;
    row->max_ns = times_.max_ns;
    columns->base_ns = base_ns_;
    columns->first_clock = times_.first_clock;
    columns->last_clock = times_.last_clock;
  }

 private:
  EncoderBuffers* buffers_;
  RecordTimes times_;
  int64_t base_ns_ = 0;
};

// Runs |take| over the records a block at a time, after |common| took its share, and packs the
// first |column_count| columns of the block.
template <typename Record, typename Take>
void InBlocks(EncoderBuffers* buffers, CommonColumns* common, std::span<const Record> records,
              size_t column_count, Take take) {
  const Record* end = records.data() + records.size();
  while (!records.empty()) {
    const size_t count = std::min(records.size(), kBlockValues);
    const std::span<const Record> block = records.first(count);
    PrefetchBytes(block.data() + count, end, kBlockValues * sizeof(Record));
    common->Take(block);
    take(block);
    for (size_t c = 0; c < column_count; ++c) {
      buffers->columns[c].Add(buffers->blocks[c], count);
    }
    records = records.subspan(count);
  }
}

// Packs one value per element of |items| into |column|, block by block through blocks[block].
template <typename Item, typename Value>
bool AddTable(EncoderBuffers* buffers, VarintColumn* column, std::span<const Item> items,
              Value value) {
  if (!column->Begin(buffers->codec, Elision::kNever, items.size())) return false;
  uint64_t* block = buffers->blocks[kMaxColumns - 1];
  while (!items.empty()) {
    const size_t count = std::min(items.size(), kBlockValues);
    for (size_t i = 0; i < count; ++i) block[i] = value(items[i]);
    column->Add(block, count);
    items = items.subspan(count);
  }
  return true;
}

// Adds the packed columns as fields 1.., and the values of the elided ones as fields 12...
void AddFields(EncoderBuffers* buffers, size_t column_count, ChunkColumns* columns) {
  for (size_t c = 0; c < column_count; ++c) {
    columns->Add(static_cast<uint32_t>(c + 1), buffers->columns[c]);
  }
  for (size_t c = 1; c < column_count; ++c) {
    columns->AddCommon(static_cast<uint32_t>(c + 11), buffers->columns[c]);
  }
}

}  // namespace

bool EncodeApiColumns(EncoderBuffers* buffers, std::span<const ApiRecord> records,
                      const ClockConversion& conversion, EncodedChunk* row,
                      ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 4) || !buffers->calls.Reset(records.size())) return false;
  InBlocks(buffers, &common, records, 4, [&](std::span<const ApiRecord> block) {
    uint64_t* call = buffers->blocks[3];
    for (const ApiRecord& record : block) {
      *call++ = buffers->calls.NumberOf({Raw(record.label), record.tid, record.result});
    }
  });
  common.Finish(records.size(), row, columns);
  columns->body_field = 17;
  AddFields(buffers, 4, columns);
  const std::span<const CallKey> calls = buffers->calls.keys();
  VarintColumn* table = buffers->columns + 4;
  if (!AddTable(buffers, &table[0], calls, [](const CallKey& c) -> uint64_t { return c.label; }) ||
      !AddTable(buffers, &table[1], calls, [](const CallKey& c) -> uint64_t { return c.tid; }) ||
      !AddTable(buffers, &table[2], calls, [](const CallKey& c) -> uint64_t {
        return static_cast<uint32_t>(ZigZag(c.result));
      })) {
    return false;
  }
  for (uint32_t i = 0; i < 3; ++i) columns->Add(5 + i, table[i]);
  return true;
}

bool EncodeDeviceColumns(EncoderBuffers* buffers, std::span<const DeviceRecord> records,
                         const ClockConversion& conversion, EncodedChunk* row,
                         ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 8) || !buffers->streams.Reset(records.size()) ||
      !buffers->stream_numbers.Reserve(records.size() * sizeof(uint32_t))) {
    return false;
  }
  auto* numbers = reinterpret_cast<uint32_t*>(buffers->stream_numbers.data());
  for (size_t i = 0; i < records.size(); ++i) {
    if (i % kBlockValues == 0) {
      PrefetchBytes(records.data() + i + kBlockValues, records.data() + records.size(),
                    kBlockValues * sizeof(DeviceRecord));
    }
    numbers[i] = buffers->streams.NumberOf({Raw(records[i].stream)});
  }
  const std::span<const StreamKey> streams = buffers->streams.keys();
  const int stream_bits = streams.empty() ? 0 : std::bit_width(streams.size() - 1);

  uint64_t previous_node = 0;
  InBlocks(buffers, &common, records, 4, [&](std::span<const DeviceRecord> block) {
    uint64_t* item = buffers->blocks[3];
    size_t details = 0;
    for (const DeviceRecord& record : block) {
      const bool has_detail = (record.bytes | record.graph | record.graph_node) != 0;
      const uint64_t placed = uint64_t{Raw(record.work)} << stream_bits | *numbers++;
      *item++ = placed << 1 | (has_detail ? 1 : 0);
      if (!has_detail) continue;
      buffers->blocks[5][details] = record.bytes;
      buffers->blocks[6][details] = record.graph;
      buffers->blocks[7][details] = ZigZag(static_cast<int64_t>(record.graph_node - previous_node));
      previous_node = record.graph_node;
      ++details;
    }
    for (size_t c = 5; c < 8; ++c) buffers->columns[c].Add(buffers->blocks[c], details);
  });
  common.Finish(records.size(), row, columns);
  if (!AddTable(buffers, &buffers->columns[4], streams,
                [](const StreamKey& key) -> uint64_t { return key.stream; })) {
    return false;
  }
  columns->body_field = 18;
  for (uint32_t c = 0; c < 8; ++c) columns->Add(c + 1, buffers->columns[c]);
  uint32_t field = 12;
  for (size_t c : {1, 2, 3, 5, 6, 7}) columns->AddCommon(field++, buffers->columns[c]);
  return true;
}

bool EncodeSyncColumns(EncoderBuffers* buffers, std::span<const SyncRecord> records,
                       const ClockConversion& conversion, EncodedChunk* row,
                       ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 7)) return false;
  InBlocks(buffers, &common, records, 7, [&](std::span<const SyncRecord> block) {
    for (size_t i = 0; i < block.size(); ++i) {
      buffers->blocks[3][i] = block[i].type;
      buffers->blocks[4][i] = block[i].context;
      buffers->blocks[5][i] = block[i].stream;
      buffers->blocks[6][i] = block[i].event;
    }
  });
  common.Finish(records.size(), row, columns);
  columns->body_field = 19;
  AddFields(buffers, 7, columns);
  return true;
}

bool EncodeOverheadColumns(EncoderBuffers* buffers, std::span<const OverheadRecord> records,
                           const ClockConversion& conversion, EncodedChunk* row,
                           ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 5)) return false;
  InBlocks(buffers, &common, records, 5, [&](std::span<const OverheadRecord> block) {
    for (size_t i = 0; i < block.size(); ++i) {
      buffers->blocks[3][i] = block[i].tid;
      buffers->blocks[4][i] = Raw(block[i].label);
    }
  });
  common.Finish(records.size(), row, columns);
  columns->body_field = 20;
  AddFields(buffers, 5, columns);
  return true;
}

bool EncodeCpuTimeColumns(EncoderBuffers* buffers, std::span<const CpuTimeRecord> records,
                          const ClockConversion& conversion, EncodedChunk* row,
                          ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 6)) return false;
  InBlocks(buffers, &common, records, 6, [&](std::span<const CpuTimeRecord> block) {
    for (size_t i = 0; i < block.size(); ++i) {
      buffers->blocks[3][i] = block[i].tid;
      buffers->blocks[4][i] = block[i].on_cpu_ns;
      buffers->blocks[5][i] = block[i].ready_ns;
    }
  });
  common.Finish(records.size(), row, columns);
  columns->body_field = 21;
  AddFields(buffers, 6, columns);
  return true;
}

bool EncodeStackColumns(EncoderBuffers* buffers, std::span<const StackRecord> records,
                        const ClockConversion& conversion, EncodedChunk* row,
                        ChunkColumns* columns) noexcept {
  CommonColumns common(buffers, conversion);
  if (!common.Begin(records, 7)) return false;
  InBlocks(buffers, &common, records, 7, [&](std::span<const StackRecord> block) {
    for (size_t i = 0; i < block.size(); ++i) {
      buffers->blocks[3][i] = block[i].tid;
      buffers->blocks[4][i] = Raw(block[i].frame);
      buffers->blocks[5][i] = block[i].looks;
      buffers->blocks[6][i] = block[i].runnable;
    }
  });
  common.Finish(records.size(), row, columns);
  columns->body_field = 22;
  AddFields(buffers, 7, columns);
  return true;
}

}  // namespace gpubound
