// SPDX-License-Identifier: Apache-2.0
//
// A table as a Parquet file. Columns may be null and hold 64-bit integers, doubles or UTF-8 text;
// each has one page of values in each row group, compressed by zstd, and integers their smallest and
// largest value, by which readers leave out row groups. Text of few different values has a dictionary:
// a page of those before the page of their numbers.
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
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <unordered_map>
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

  // What comes next is in another row group.
  void EndRowGroup();

  // Call once, last. Where something failed the file says so when it is committed.
  void Finish(const Properties& properties);

 private:
  // Where a column of a row group lies.
  struct Chunk {
    int64_t offset = 0;           // of its first page
    int64_t values_offset = 0;    // of that of its values
    bool has_dictionary = false;  // in a page before that
    int64_t raw_bytes = 0;        // page headers included; likewise below
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
    // Pages before compression.
    struct Pages {
      std::string dictionary;  // empty: there is none
      size_t dictionary_size = 0;
      std::string values;
    };
    Pages TakePages();  // empties the object
    size_t bytes() const { return values_.size() + sizeof(uint32_t) * numbers_.size(); }
    const Chunk& chunk() const { return chunk_; }  // nulls and limits

   private:
    struct Run {
      bool present;
      uint64_t length;
    };
    struct TextHash {
      using is_transparent = void;
      size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
    };
    void AddText(std::string_view text);
    void GiveUpDictionary();
    std::string PackedNumbers() const;

    std::vector<Run> runs_;
    std::string values_;  // plain; of text with a dictionary the different ones
    std::unordered_map<std::string, uint32_t, TextHash, std::equal_to<>> known_;
    std::vector<uint32_t> numbers_;  // of texts, as long as there are few different ones
    bool has_many_ = false;
    Chunk chunk_;
  };

  Chunk WriteColumn(Values* values);
  int64_t WritePage(int32_t type, std::string_view page, int32_t values, int32_t encoding);
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
