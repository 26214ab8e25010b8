// SPDX-License-Identifier: Apache-2.0
//
// Columns of device-source records back into records. All families share begin, duration and
// correlation; each adds what it has.
#include <bit>

#include "proto/chunk_body.h"

namespace gpubound {
namespace {

constexpr uint64_t kUint32Limit = uint64_t{1} << 32;

// Values are checked a block at a time: all of them or-ed together have to fit the mask.
bool AllBelow(const uint64_t* values, size_t count, uint64_t power_of_two) {
  uint64_t all = 0;
  for (size_t i = 0; i < count; ++i) all |= values[i];
  return all < power_of_two;
}

// The columns of a body that go record by record, read in blocks. `first_code_field` is the one
// behind correlation.
class RecordColumns {
 public:
  explicit RecordColumns(DecoderScratch* scratch)
      : scratch_(scratch),
        body_(&scratch->body),
        start_(body_->Column(1)),
        duration_(body_->Column(2, 12)),
        correlation_(body_->Column(3, 13)),
        start_ns_(static_cast<uint64_t>(body_->base_ns())) {}

  // Sizes the arrays that all families have. False: the chunk promises more than it can hold.
  template <typename Events>
  bool Begin(Events* events) {
    if (body_->sequence_count() != body_->event_count()) {
      return body_->Fail(ChunkError::kStructure, nullptr, "records and sequence numbers differ");
    }
    if (body_->event_count() > start_.size_bytes()) return body_->FailColumn(start_);
    size_ = static_cast<size_t>(body_->event_count());
    events->start_ns.resize(size_);
    events->end_ns.resize(size_);
    events->correlation.resize(size_);
    return true;
  }
  size_t size() const { return size_; }

  // Runs |take|(first record, count) per block, after the block's common columns are done; it
  // returns false to stop.
  template <typename Events, typename Take>
  bool ForEachBlock(Events* events, Take take) {
    for (size_t done = 0; done < size_;) {
      const size_t count = std::min(size_ - done, kReadBlock);
      if (!ReadCommon(count, events->start_ns.data() + done, events->end_ns.data() + done,
                      events->correlation.data() + done) ||
          !take(done, count)) {
        return false;
      }
      done += count;
    }
    return CheckEnd(start_) && CheckEnd(duration_) && CheckEnd(correlation_);
  }

  // The next |count| values of a family's own column, each below |power_of_two|.
  bool Read(ColumnReader* column, size_t count, uint64_t power_of_two, uint64_t* values) {
    if (!column->Read(count, values)) return body_->FailColumn(*column);
    if (power_of_two != 0 && !AllBelow(values, count, power_of_two)) {
      return body_->FailLimit(*column, power_of_two, "a value is out of range");
    }
    return true;
  }

  bool CheckEnd(const ColumnReader& column) {
    if (column.AtEnd()) return true;
    return body_->Fail(ChunkError::kStructure, column.field_begin(),
                       "a column has more values than the chunk has events");
  }

  // All values of |column| into |table|.
  bool ReadTable(ColumnReader column, uint64_t power_of_two, std::vector<uint64_t>* table) {
    const size_t count = CountVarints(column.begin(), column.end());
    table->resize(count + kUnpackSlackValues);
    if (!Read(&column, count, power_of_two, table->data())) return false;
    if (!column.AtEnd()) return body_->FailColumn(column);
    table->resize(count);
    return true;
  }

 private:
  bool ReadCommon(size_t count, int64_t* start_ns, int64_t* end_ns, uint32_t* correlation) {
    uint64_t* starts = scratch_->blocks[0];
    uint64_t* durations = scratch_->blocks[1];
    uint64_t* correlations = scratch_->blocks[2];
    if (!Read(&start_, count, 0, starts) || !Read(&duration_, count, 0, durations) ||
        !Read(&correlation_, count, kUint32Limit, correlations)) {
      return false;
    }
    bool sound = true;
    // Not the members: for all that a compiler knows, the arrays may be what holds them.
    uint64_t now_ns = start_ns_;
    uint32_t previous_correlation = previous_correlation_;
    for (size_t i = 0; i < count; ++i) {
      now_ns += static_cast<uint64_t>(UnZigZag(starts[i]));
      const auto begin_ns = static_cast<int64_t>(now_ns);
      const auto then_ns = static_cast<int64_t>(now_ns + durations[i]);
      start_ns[i] = begin_ns;
      end_ns[i] = then_ns;
      sound &= then_ns >= begin_ns && durations[i] <= INT64_MAX;
      previous_correlation += static_cast<uint32_t>(UnZigZag(correlations[i])) + 1;
      correlation[i] = previous_correlation;
    }
    start_ns_ = now_ns;
    previous_correlation_ = previous_correlation;
    if (sound) return true;
    return body_->Fail(ChunkError::kStructure, duration_.field_begin(),
                       "a record ends outside the range of the timeline");
  }

  DecoderScratch* scratch_;
  ChunkBody* body_;
  ColumnReader start_;
  ColumnReader duration_;
  ColumnReader correlation_;
  uint64_t start_ns_;
  uint32_t previous_correlation_ = 0;
  size_t size_ = 0;
};

}  // namespace

bool DecodeApiColumns(DecoderScratch* scratch, ApiEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader call_column = body->Column(4, 14);
  std::vector<uint64_t>* tables = scratch->tables;
  if (!columns.Begin(events) || !columns.ReadTable(body->Column(5), kMaxLabels, &tables[0]) ||
      !columns.ReadTable(body->Column(6), kUint32Limit, &tables[1]) ||
      !columns.ReadTable(body->Column(7), kUint32Limit, &tables[2])) {
    return false;
  }
  const size_t call_count = tables[0].size();
  if (tables[1].size() != call_count || tables[2].size() != call_count) {
    return body->Fail(ChunkError::kStructure, body->FieldBegin(5),
                      "the columns of distinct calls differ in length");
  }
  events->tid.resize(columns.size());
  events->label.resize(columns.size());
  events->result.resize(columns.size());
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    uint64_t* calls = scratch->blocks[3];
    if (!columns.Read(&call_column, count, 0, calls)) return false;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t call = calls[i];
      if (call >= call_count) [[unlikely]] {
        return body->FailLimit(call_column, call_count, "a call that is not in the chunk's list");
      }
      events->label[done + i] = static_cast<LabelId>(tables[0][call]);
      events->tid[done + i] = static_cast<uint32_t>(tables[1][call]);
      events->result[done + i] = static_cast<int32_t>(UnZigZag(tables[2][call]));
    }
    return true;
  });
  return ok && columns.CheckEnd(call_column);
}

bool DecodeDeviceColumns(DecoderScratch* scratch, DeviceEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader item_column = body->Column(4, 14);
  ColumnReader bytes_column = body->Column(6, 15);
  ColumnReader graph_column = body->Column(7, 16);
  ColumnReader node_column = body->Column(8, 17);
  std::vector<uint64_t>& streams = scratch->tables[0];
  if (!columns.Begin(events) || !columns.ReadTable(body->Column(5), kUint32Limit, &streams)) {
    return false;
  }
  const size_t stream_count = streams.size();
  const int stream_bits = stream_count == 0 ? 0 : std::bit_width(stream_count - 1);
  const uint64_t stream_mask = (uint64_t{1} << stream_bits) - 1;
  events->stream.resize(columns.size());
  events->work.resize(columns.size());
  events->detail.clear();
  uint64_t previous_node = 0;
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    uint64_t* items = scratch->blocks[3];
    if (!columns.Read(&item_column, count, 0, items)) return false;
    size_t details = 0;
    for (size_t i = 0; i < count; ++i) {
      const uint64_t item = items[i] >> 1;
      const uint64_t stream = item & stream_mask;
      const uint64_t work = item >> stream_bits;
      if (stream >= stream_count || work >= kUint32Limit) [[unlikely]] {
        const size_t index = done + i;
        return body->Fail(ChunkError::kStructure,
                          item_column.Find([index](size_t at, uint64_t) { return at == index; }),
                          "a stream that is not in the chunk's list, or a work id out of range");
      }
      events->stream[done + i] = static_cast<StreamId>(streams[stream]);
      events->work[done + i] = static_cast<WorkId>(work);
      details += items[i] & 1;
    }
    if (details == 0) return true;
    uint64_t* bytes = scratch->blocks[4];
    uint64_t* graphs = scratch->blocks[5];
    uint64_t* nodes = scratch->blocks[6];
    if (!columns.Read(&bytes_column, details, 0, bytes) ||
        !columns.Read(&graph_column, details, kUint32Limit, graphs) ||
        !columns.Read(&node_column, details, 0, nodes)) {
      return false;
    }
    events->detail.resize(columns.size());
    for (size_t i = 0, detail = 0; i < count; ++i) {
      if ((items[i] & 1) == 0) continue;
      previous_node += static_cast<uint64_t>(UnZigZag(nodes[detail]));
      events->detail[done + i] = {bytes[detail], previous_node,
                                  static_cast<uint32_t>(graphs[detail])};
      ++detail;
    }
    return true;
  });
  return ok && columns.CheckEnd(item_column) && columns.CheckEnd(bytes_column) &&
         columns.CheckEnd(graph_column) && columns.CheckEnd(node_column);
}

bool DecodeSyncColumns(DecoderScratch* scratch, SyncEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader own[] = {body->Column(4, 14), body->Column(5, 15), body->Column(6, 16),
                        body->Column(7, 17)};
  if (!columns.Begin(events)) return false;
  events->type.resize(columns.size());
  events->context.resize(columns.size());
  events->stream.resize(columns.size());
  events->event.resize(columns.size());
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    ValueBlock* values = scratch->blocks + 3;
    for (size_t c = 0; c < 4; ++c) {
      if (!columns.Read(&own[c], count, c < 3 ? kUint32Limit : 0, values[c])) return false;
    }
    for (size_t i = 0; i < count; ++i) {
      events->type[done + i] = static_cast<uint32_t>(values[0][i]);
      events->context[done + i] = static_cast<uint32_t>(values[1][i]);
      events->stream[done + i] = static_cast<uint32_t>(values[2][i]);
      events->event[done + i] = values[3][i];
    }
    return true;
  });
  return ok && columns.CheckEnd(own[0]) && columns.CheckEnd(own[1]) && columns.CheckEnd(own[2]) &&
         columns.CheckEnd(own[3]);
}

bool DecodeOverheadColumns(DecoderScratch* scratch, OverheadEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader tid_column = body->Column(4, 14);
  ColumnReader label_column = body->Column(5, 15);
  if (!columns.Begin(events)) return false;
  events->tid.resize(columns.size());
  events->label.resize(columns.size());
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    uint64_t* tids = scratch->blocks[3];
    uint64_t* labels = scratch->blocks[4];
    if (!columns.Read(&tid_column, count, kUint32Limit, tids) ||
        !columns.Read(&label_column, count, kMaxLabels, labels)) {
      return false;
    }
    for (size_t i = 0; i < count; ++i) {
      events->tid[done + i] = static_cast<uint32_t>(tids[i]);
      events->label[done + i] = static_cast<LabelId>(labels[i]);
    }
    return true;
  });
  return ok && columns.CheckEnd(tid_column) && columns.CheckEnd(label_column);
}

bool DecodeCpuTimeColumns(DecoderScratch* scratch, CpuTimeEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader own[] = {body->Column(4, 14), body->Column(5, 15), body->Column(6, 16)};
  if (!columns.Begin(events)) return false;
  events->tid.resize(columns.size());
  events->on_cpu_ns.resize(columns.size());
  events->ready_ns.resize(columns.size());
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    ValueBlock* values = scratch->blocks + 3;
    for (size_t c = 0; c < 3; ++c) {
      if (!columns.Read(&own[c], count, c == 0 ? kUint32Limit : 0, values[c])) return false;
    }
    for (size_t i = 0; i < count; ++i) {
      events->tid[done + i] = static_cast<uint32_t>(values[0][i]);
      events->on_cpu_ns[done + i] = values[1][i];
      events->ready_ns[done + i] = values[2][i];
    }
    return true;
  });
  return ok && columns.CheckEnd(own[0]) && columns.CheckEnd(own[1]) && columns.CheckEnd(own[2]);
}

bool DecodeStackColumns(DecoderScratch* scratch, StackEvents* events) {
  ChunkBody* body = &scratch->body;
  RecordColumns columns(scratch);
  ColumnReader own[] = {body->Column(4, 14), body->Column(5, 15), body->Column(6, 16),
                        body->Column(7, 17)};
  if (!columns.Begin(events)) return false;
  events->tid.resize(columns.size());
  events->frame.resize(columns.size());
  events->looks.resize(columns.size());
  events->runnable.resize(columns.size());
  const bool ok = columns.ForEachBlock(events, [&](size_t done, size_t count) {
    ValueBlock* values = scratch->blocks + 3;
    for (size_t c = 0; c < 4; ++c) {
      if (!columns.Read(&own[c], count, kUint32Limit, values[c])) return false;
    }
    for (size_t i = 0; i < count; ++i) {
      events->tid[done + i] = static_cast<uint32_t>(values[0][i]);
      events->frame[done + i] = static_cast<FrameId>(values[1][i]);
      events->looks[done + i] = static_cast<uint32_t>(values[2][i]);
      events->runnable[done + i] = static_cast<uint32_t>(values[3][i]);
    }
    return true;
  });
  return ok && columns.CheckEnd(own[0]) && columns.CheckEnd(own[1]) && columns.CheckEnd(own[2]) &&
         columns.CheckEnd(own[3]);
}

}  // namespace gpubound
