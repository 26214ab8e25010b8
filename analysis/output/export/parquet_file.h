// SPDX-License-Identifier: Apache-2.0
//
// A table as a Parquet file. Columns may be null and hold 64-bit integers, doubles or UTF-8 text;
// each has one page of plain values in each row group, compressed by zstd, and integers their
// smallest and largest value, by which readers leave out row groups.
//
//   "PAR1" | row group | row group | ... | metadata (Thrift) | its size, 4 bytes | "PAR1"
//            '- for each column: page header (Thrift), then the page, compressed:
//               size of what follows, 4 bytes | runs of null and not null | values
//
// There is no well-kept writer to link: Arrow's is not in Debian 12, and would be several times the
// size of the tool. tests/exports has Arrow and DuckDB read what is written here.
//
// One object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PARQUET_FILE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PARQUET_FILE_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/output/export/output_file.h"
#include "analysis/output/tables/trace_table.h"
#include "proto/byte_buffer.h"
#include "proto/compress.h"

namespace gpubound {

class ParquetFile {
 public:
  // So many rows, or so many bytes, make a row group.
  struct Limits {
    size_t rows = size_t{1} << 16;
    size_t bytes = size_t{64} << 20;
  };
  using Properties = std::vector<std::pair<std::string, std::string>>;

  // |columns| and |file|, an empty one, outlive the object.
  ParquetFile(const std::vector<ColumnInfo>& columns, OutputFile* file, Limits limits);
  ParquetFile(const std::vector<ColumnInfo>& columns, OutputFile* file)
      : ParquetFile(columns, file, Limits()) {}

  // The row that |row| has come to.
  void AddRow(const RowCursor& row);

  // Call once, last. Where something failed the file says so when it is committed.
  void Finish(const Properties& properties);

 private:
  // Where a column of a row group lies.
  struct Chunk {
    int64_t offset = 0;
    int64_t raw_bytes = 0;  // page headers included; likewise below
    int64_t stored_bytes = 0;
    int64_t nulls = 0;
    int64_t least = std::numeric_limits<int64_t>::max();
    int64_t most = std::numeric_limits<int64_t>::min();
  };
  struct RowGroup {
    int64_t rows = 0;
    std::vector<Chunk> chunks;
  };
  // What a row group has of a column so far.
  class Values {
   public:
    void Add(const Cell& cell, ColumnType type, std::string* scratch);
    // The page before compression. Empties the object.
    std::string TakePage();
    size_t bytes() const { return values_.size(); }
    const Chunk& chunk() const { return chunk_; }  // nulls and limits

   private:
    struct Run {
      bool present;
      uint64_t length;
    };
    std::vector<Run> runs_;
    std::string values_;
    Chunk chunk_;
  };

  void WriteRowGroup();
  Chunk WriteColumn(Values* values);
  void Write(std::string_view bytes);
  std::string Metadata(const Properties& properties) const;

  const std::vector<ColumnInfo>& columns_;
  OutputFile* const file_;
  const Limits limits_;
  std::vector<Values> values_;
  int64_t rows_ = 0;     // of the open row group
  int64_t written_ = 0;  // bytes of the file
  std::string scratch_;
  Compressor compressor_;
  ByteBuffer compressed_;
  std::vector<RowGroup> groups_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_PARQUET_FILE_H_
