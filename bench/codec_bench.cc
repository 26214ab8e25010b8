// SPDX-License-Identifier: Apache-2.0
//
// codec_bench [--events N] [--repeat N] [--dir DIR]
//
// CPU per event, bytes per event and decoding speed of chunks, plain and compressed, and of plain
// SQLite rows, interleaved in one run; medians. Chunks go through the collector's own sink. CPU is
// that of the whole process from opening the database to sealing it, kernel time included, and
// bytes are those of the sealed file.
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/codec_database.h"
#include "bench/codec_stream.h"
#include "bench/median.h"
#include "libprofiler/sqlite_sink.h"
#include "libprofiler/trace_writer.h"
#include "proto/chunk_decoder.h"
#include "proto/chunk_encoder.h"
#include "proto/varint.h"

namespace gpubound {
namespace {

double CpuNs() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

double Least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

struct Result {
  double cpu_ns = 0;
  double bytes = 0;
  double body_bytes = 0;
};

// The pages of a stream as the flusher meets them: just written by other threads, in a small pool
// that is used again and again. Filling the pool stands for that writing and is not counted.
class PagePool {
 public:
  explicit PagePool(const BenchStream& stream) : stream_(stream), pages_(kPages) {}

  // Encodes every page of |family| (kNone: of any) and hands the chunk to |use|. Returns CPU ns.
  template <typename Use>
  double EncodeAll(EventFamily family, ChunkEncoder* encoder, Use use) {
    double cpu_ns = 0;
    for (size_t next = 0; next < stream_.pages.size();) {
      size_t filled = 0;
      for (; next < stream_.pages.size() && filled < kPages; ++next) {
        const BenchPage& page = stream_.pages[next];
        if (family == EventFamily::kNone || page.family == family) Fill(&pages_[filled++], page);
      }
      const double begin = CpuNs();
      for (size_t i = 0; i < filled; ++i) {
        const EncodedChunk chunk = Encode(pages_[i], encoder);
        if (!chunk.ok) Fail("encode", nullptr);
        use(chunk);
      }
      cpu_ns += CpuNs() - begin;
    }
    return cpu_ns;
  }

 private:
  static constexpr size_t kPages = 32;

  static void Fill(BenchPage* to, const BenchPage& from) {
    to->family = from.family;
    to->thread = from.thread;
    to->base_ticks = from.base_ticks;
    to->slots.assign(from.slots.begin(), from.slots.end());
    to->api.assign(from.api.begin(), from.api.end());
    to->device.assign(from.device.begin(), from.device.end());
  }

  EncodedChunk Encode(const BenchPage& page, ChunkEncoder* encoder) const {
    const ChunkMeta meta{.thread = page.thread, .first_sequence = 0, .dropped_before = 0};
    switch (page.family) {
      case EventFamily::kThread:
        return encoder->EncodeThread(meta, page.base_ticks, {}, page.slots, stream_.ticks_to_ns);
      case EventFamily::kApi:
        return encoder->EncodeApi(meta, page.api, stream_.source_to_ns);
      default:
        return encoder->EncodeDevice(meta, page.device, stream_.source_to_ns);
    }
  }

  const BenchStream& stream_;
  std::vector<BenchPage> pages_;
};

Result WriteChunks(const BenchStream& stream, ChunkCompression compression,
                   const std::string& path) {
  // Transactions and checkpoints as in a process that makes fewer than some 300,000 events a
  // second; beyond that the collector puts the checkpoints off to the end of the segment.
  constexpr int kChunksPerTransaction = 24;
  Result result;
  PagePool pool(stream);
  double begin = CpuNs();
  ChunkEncoder encoder(compression);
  SqliteSink sink;
  if (!sink.Open(path, /*network=*/false)) Fail(sink.error().c_str(), nullptr);
  sink.Begin();
  result.cpu_ns = CpuNs() - begin;
  int pending = 0;
  result.cpu_ns += pool.EncodeAll(EventFamily::kNone, &encoder, [&](const EncodedChunk& chunk) {
    result.body_bytes += static_cast<double>(chunk.body.size());
    sink.PutChunk(chunk);
    if (++pending < kChunksPerTransaction) return;
    pending = 0;
    sink.Commit();
    sink.CheckpointIfLarger(kIdleLogBytes, kIdleLogTransactions);
    sink.Begin();
  });
  begin = CpuNs();
  if (!sink.Commit()) Fail(sink.error().c_str(), nullptr);
  sink.Seal();
  result.cpu_ns += CpuNs() - begin;
  result.bytes = static_cast<double>(std::filesystem::file_size(path));
  std::filesystem::remove(path);
  return result;
}

// One row per event: what a recorder without chunks would write. Ends are joined to their begins by
// the caller's stack in a real one; here each pair of slots is one row.
Result WriteRows(const BenchStream& stream, const std::string& path, double* read_ns) {
  Result result;
  const double begin = CpuNs();
  Database db(path, 4096);
  db.Run(
      "CREATE TABLE event(id INTEGER PRIMARY KEY, family INT, thread INT, start_ns INT,"
      "duration_ns INT, label INT, correlation INT, stream INT, detail INT)");
  sqlite3_stmt* insert = db.Prepare("INSERT INTO event VALUES(NULL,?,?,?,?,?,?,?,?)");
  db.Run("BEGIN");
  uint64_t rows = 0;
  const auto put = [&](EventFamily family, uint32_t thread, int64_t start, int64_t end,
                       uint32_t label, uint32_t correlation, uint32_t device_stream,
                       int64_t detail) {
    sqlite3_bind_int64(insert, 1, static_cast<int64_t>(family));
    sqlite3_bind_int64(insert, 2, thread);
    sqlite3_bind_int64(insert, 3, start);
    sqlite3_bind_int64(insert, 4, end - start);
    sqlite3_bind_int64(insert, 5, label);
    sqlite3_bind_int64(insert, 6, correlation);
    sqlite3_bind_int64(insert, 7, device_stream);
    sqlite3_bind_int64(insert, 8, detail);
    db.Step(insert);
    if (++rows % 10'000 == 0) db.Run("COMMIT; BEGIN");
  };
  ClockCursor ticks(stream.ticks_to_ns);
  ClockCursor source(stream.source_to_ns);
  for (const BenchPage& page : stream.pages) {
    for (size_t i = 0; i + 1 < page.slots.size(); i += 2) {
      put(page.family, page.thread, ticks.ToMonotonic(page.base_ticks + TicksOf(page.slots[i])),
          ticks.ToMonotonic(page.base_ticks + TicksOf(page.slots[i + 1])),
          Raw(LabelOf(page.slots[i])), 0, 0, 0);
    }
    for (const ApiRecord& r : page.api) {
      put(page.family, r.tid, source.ToMonotonic(r.start_ns), source.ToMonotonic(r.end_ns),
          Raw(r.label), r.correlation, 0, r.result);
    }
    for (const DeviceRecord& r : page.device) {
      put(page.family, page.thread, source.ToMonotonic(r.start_ns), source.ToMonotonic(r.end_ns),
          Raw(r.work), r.correlation, Raw(r.stream), static_cast<int64_t>(r.bytes));
    }
  }
  db.Run("COMMIT");
  db.Run("PRAGMA wal_checkpoint(TRUNCATE)");
  result.cpu_ns = CpuNs() - begin;

  const double read_begin = CpuNs();
  sqlite3_stmt* select = db.Prepare(
      "SELECT family,thread,start_ns,duration_ns,label,correlation,stream,detail FROM event");
  int64_t sum = 0;
  while (sqlite3_step(select) == SQLITE_ROW) {
    for (int column = 0; column < 8; ++column) sum += sqlite3_column_int64(select, column);
  }
  *read_ns = CpuNs() - read_begin;
  if (sum == 0) Fail("read", db.handle());
  db.Close();
  result.bytes = db.Bytes();
  db.Remove();
  return result;
}

// Chunks in memory, as a reader has them after reading their rows.
struct StoredChunk {
  ChunkRow row;
  std::vector<std::byte> body;
};

std::vector<StoredChunk> EncodeAll(const BenchStream& stream, ChunkCompression compression) {
  ChunkEncoder encoder(compression);
  std::vector<StoredChunk> chunks;
  PagePool(stream).EncodeAll(EventFamily::kNone, &encoder, [&](const EncodedChunk& chunk) {
    chunks.push_back({chunk, {chunk.body.begin(), chunk.body.end()}});
  });
  for (StoredChunk& chunk : chunks) chunk.row.body = chunk.body;
  return chunks;
}

double DecodeNs(const std::vector<StoredChunk>& chunks) {
  ChunkDecoder decoder;
  ThreadEvents thread;
  ApiEvents api;
  DeviceEvents device;
  const double begin = CpuNs();
  for (const StoredChunk& chunk : chunks) {
    ChunkStatus status;
    switch (chunk.row.family) {
      case EventFamily::kThread:
        status = decoder.Decode(chunk.row, &thread);
        break;
      case EventFamily::kApi:
        status = decoder.Decode(chunk.row, &api);
        break;
      default:
        status = decoder.Decode(chunk.row, &device);
    }
    if (!status.ok()) Fail(status.what, nullptr);
  }
  return CpuNs() - begin;
}

// Encoding alone, of the pages of one family.
double EncodeNs(const BenchStream& stream, EventFamily family, ChunkEncoder* encoder) {
  return PagePool(stream).EncodeAll(family, encoder, [](const EncodedChunk&) {});
}

struct Series {
  std::vector<double> ns;
  double Print(const char* what, double events, double bytes, double body_bytes) const {
    std::printf("  %-34s %9.2f %9.2f", what, Median(ns) / events, Least(ns) / events);
    if (bytes != 0) std::printf(" %9.2f", bytes / events);
    if (body_bytes != 0) std::printf(" %9.2f", body_bytes / events);
    std::printf("\n");
    return Median(ns) / events;
  }
  void PrintRate(const char* what, double events) const {
    std::printf("  %-34s %9.1f %9.1f\n", what, 1e3 * events / Median(ns), 1e3 * events / Least(ns));
  }
};

int Main(uint32_t events, int repeat, const std::string& dir) {
  const BenchStream stream = MakeBenchStream(events / 3, 1);
  const BenchStream rows_stream = MakeBenchStream(events / 30, 1);
  const BenchStream scopes = MakeScopeStream(events / 3, 1);
  const std::string path = dir + "/codec_bench." + std::to_string(getpid()) + ".db";
  const std::vector<StoredChunk> plain_chunks = EncodeAll(stream, ChunkCompression::kNone);
  const std::vector<StoredChunk> packed_chunks = EncodeAll(stream, ChunkCompression::kZstd);
  Series plain, packed, rows, decode_plain, decode_packed, read_rows, scope, encode_all;
  Series families[3];
  constexpr EventFamily kFamilies[] = {EventFamily::kThread, EventFamily::kApi,
                                       EventFamily::kDevice};
  Result plain_result, packed_result, rows_result;
  ChunkEncoder encoder;
  for (int i = 0; i < repeat; ++i) {
    plain_result = WriteChunks(stream, ChunkCompression::kNone, path);
    plain.ns.push_back(plain_result.cpu_ns);
    packed_result = WriteChunks(stream, ChunkCompression::kZstd, path);
    packed.ns.push_back(packed_result.cpu_ns);
    double read_ns = 0;
    rows_result = WriteRows(rows_stream, path, &read_ns);
    rows.ns.push_back(rows_result.cpu_ns);
    read_rows.ns.push_back(read_ns);
    decode_plain.ns.push_back(DecodeNs(plain_chunks));
    decode_packed.ns.push_back(DecodeNs(packed_chunks));
    scope.ns.push_back(EncodeNs(scopes, EventFamily::kNone, &encoder));
    encode_all.ns.push_back(EncodeNs(stream, EventFamily::kNone, &encoder));
    for (int f = 0; f < 3; ++f) {
      families[f].ns.push_back(EncodeNs(stream, kFamilies[f], &encoder));
    }
  }
  const auto n = static_cast<double>(stream.events);
  const auto row_count = static_cast<double>(rows_stream.events);
  std::printf("%.0f events (1/3 scopes, 1/3 API calls, 1/3 kernels), %d repetitions, varints: %s\n",
              n, repeat, BestVarintCodec().name);
  std::printf("\n  %-34s %9s %9s %9s %9s\n", "written to SQLite", "CPU ns", "least", "bytes",
              "body");
  plain.Print("chunks, plain", n, plain_result.bytes, plain_result.body_bytes);
  packed.Print("chunks, compressed", n, packed_result.bytes, packed_result.body_bytes);
  rows.Print("one row per event", row_count, rows_result.bytes, 0);
  std::printf("\n  %-34s %9s %9s\n", "encoded only", "CPU ns", "least");
  encode_all.Print("the stream", n, 0, 0);
  families[0].Print("  scopes of it", n / 3, 0, 0);
  families[1].Print("  API calls of it", n / 3, 0, 0);
  families[2].Print("  kernels of it", n / 3, 0, 0);
  scope.Print("scopes of one name, 40 ns long", static_cast<double>(scopes.events), 0, 0);
  std::printf("\n  %-34s %9s %9s\n", "read", "M ev/s", "best");
  decode_plain.PrintRate("chunks, plain", n);
  decode_packed.PrintRate("chunks, compressed", n);
  read_rows.PrintRate("one row per event", row_count);
  return 0;
}

}  // namespace
}  // namespace gpubound

int main(int argc, char** argv) {
  uint32_t events = 4'500'000;
  int repeat = 5;
  std::string dir = "/tmp";
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--events") events = static_cast<uint32_t>(std::atoi(argv[i + 1]));
    if (option == "--repeat") repeat = std::max(1, std::atoi(argv[i + 1]));
    if (option == "--dir") dir = argv[i + 1];
  }
  return gpubound::Main(std::max(events, 3000u), repeat, dir);
}
