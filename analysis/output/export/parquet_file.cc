// SPDX-License-Identifier: Apache-2.0
//
// Numbers of fields and values are those of Parquet's parquet.thrift; the comment behind each is
// its name there. One object, one thread.
#include "analysis/output/export/parquet_file.h"

#include <errno.h>

#include <algorithm>
#include <bit>
#include <span>

#include "analysis/base/byte_column.h"
#include "analysis/base/utf8.h"
#include "analysis/output/export/thrift_writer.h"

namespace gpubound {
namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr int32_t kVersion = 2;

// The format's numbers.
constexpr int32_t kDataPage = 0;
constexpr int32_t kDictionaryPage = 2;
constexpr int32_t kPlain = 0;
constexpr int32_t kRunLength = 3;
constexpr int32_t kByDictionary = 8;
constexpr int32_t kZstd = 6;
constexpr int32_t kOptional = 1;
constexpr int32_t kUtf8 = 0;

int32_t PhysicalType(ColumnType type) {
  switch (type) {
    case ColumnType::kInteger:
      return 2;  // INT64
    case ColumnType::kReal:
      return 5;  // DOUBLE
    case ColumnType::kText:
      break;
  }
  return 6;  // BYTE_ARRAY
}

// The bytes of a number, lowest first.
template <typename Number>
std::string_view BytesOf(const Number& number) {
  static_assert(std::endian::native == std::endian::little);
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

// More different texts than that are no dictionary: it would be read for each of its few uses.
constexpr size_t kMostTexts = size_t{1} << 15;
constexpr size_t kMostTextBytes = size_t{1} << 20;

std::string PlainText(std::string_view text) {
  return std::string(BytesOf(static_cast<uint32_t>(text.size()))).append(text);
}

void PutSchema(const std::vector<ColumnInfo>& columns, ThriftWriter* metadata) {
  metadata->BeginList(2, ThriftWriter::Type::kStruct, columns.size() + 1);  // schema
  metadata->BeginStructElement();
  metadata->Binary(4, "row");                              // name
  metadata->I32(5, static_cast<int32_t>(columns.size()));  // num_children
  metadata->EndStruct();
  for (const ColumnInfo& column : columns) {
    metadata->BeginStructElement();
    metadata->I32(1, PhysicalType(column.type));  // type
    metadata->I32(3, kOptional);                  // repetition_type
    metadata->Binary(4, column.name);             // name
    if (column.type == ColumnType::kText) {
      metadata->I32(6, kUtf8);    // converted_type
      metadata->BeginStruct(10);  // logicalType
      metadata->BeginStruct(1);   // STRING
      metadata->EndStruct();
      metadata->EndStruct();
    }
    metadata->EndStruct();
  }
}

}  // namespace

void ParquetFile::Values::Add(const Cell& cell, ColumnType type, std::string* scratch) {
  const bool present = !std::holds_alternative<std::monostate>(cell);
  if (runs_.empty() || runs_.back().present != present) runs_.push_back({present, 0});
  ++runs_.back().length;
  if (!present) {
    ++chunk_.nulls;
    return;
  }
  const auto* integer = std::get_if<int64_t>(&cell);
  const auto* real = std::get_if<double>(&cell);
  if (type == ColumnType::kInteger) {
    const int64_t value = integer != nullptr ? *integer : 0;
    values_ += BytesOf(value);
    chunk_.least = std::min(chunk_.least, value);
    chunk_.most = std::max(chunk_.most, value);
  } else if (type == ColumnType::kReal) {
    values_ += BytesOf(real != nullptr ? *real : static_cast<double>(*integer));
  } else {
    AddText(ValidUtf8(std::get<std::string_view>(cell), scratch));
  }
}

void ParquetFile::Values::AddText(std::string_view text) {
  if (has_many_) {
    values_ += PlainText(text);
    return;
  }
  auto found = known_.find(text);
  if (found == known_.end()) {
    found = known_.emplace(text, static_cast<uint32_t>(known_.size())).first;
    values_ += PlainText(text);
  }
  numbers_.push_back(found->second);
  if (known_.size() > kMostTexts || values_.size() > kMostTextBytes) GiveUpDictionary();
}

// All texts one after the other, as those to come.
void ParquetFile::Values::GiveUpDictionary() {
  std::vector<std::string_view> texts(known_.size());
  for (const auto& [text, number] : known_) texts[number] = text;
  values_.clear();
  for (const uint32_t number : numbers_) values_ += PlainText(texts[number]);
  known_.clear();
  numbers_.clear();
  has_many_ = true;
}

// One run of numbers of so many bits as the largest takes, lowest bits first, in groups of eight.
std::string ParquetFile::Values::PackedNumbers() const {
  const auto bits = static_cast<int>(std::max<size_t>(1, std::bit_width(known_.size() - 1)));
  const size_t groups = (numbers_.size() + 7) / 8;
  std::string packed(1, static_cast<char>(bits));
  AppendVarint(groups << 1 | 1, &packed);
  const size_t end = packed.size() + groups * static_cast<size_t>(bits);
  uint64_t open = 0;
  int open_bits = 0;
  for (const uint32_t number : numbers_) {
    open |= uint64_t{number} << open_bits;
    for (open_bits += bits; open_bits >= 8; open_bits -= 8, open >>= 8) {
      packed += static_cast<char>(open & 0xff);
    }
  }
  if (open_bits > 0) packed += static_cast<char>(open);
  packed.resize(end);
  return packed;
}

ParquetFile::Values::Pages ParquetFile::Values::TakePages() {
  std::string runs;
  for (const Run& run : runs_) {
    AppendVarint(run.length << 1, &runs);  // the lowest bit would say that they are packed
    runs += static_cast<char>(run.present ? 1 : 0);
  }
  Pages pages;
  pages.values = BytesOf(static_cast<uint32_t>(runs.size()));
  pages.values += runs;
  if (numbers_.empty()) {
    pages.values += values_;
  } else {
    pages.values += PackedNumbers();
    pages.dictionary = std::move(values_);
    pages.dictionary_size = known_.size();
  }
  *this = Values();
  return pages;
}

ParquetFile::ParquetFile(const std::vector<ColumnInfo>& columns, OutputFile* file, Limits limits)
    : columns_(columns), file_(file), limits_(limits), values_(columns.size()) {
  Write(kMagic);
}

void ParquetFile::Write(std::string_view bytes) {
  file_->Write(bytes);
  written_ += static_cast<int64_t>(bytes.size());
}

void ParquetFile::AddRow(const RowCursor& row) {
  size_t bytes = 0;
  for (size_t column = 0; column < columns_.size(); ++column) {
    values_[column].Add(row.At(column), columns_[column].type, &scratch_);
    bytes += values_[column].bytes();
  }
  ++rows_;
  if (static_cast<size_t>(rows_) >= limits_.rows || bytes >= limits_.bytes) EndRowGroup();
}

void ParquetFile::EndRowGroup() {
  if (rows_ == 0) return;
  RowGroup& group = groups_.emplace_back();
  group.rows = rows_;
  for (Values& values : values_) group.chunks.push_back(WriteColumn(&values));
  rows_ = 0;
}

// How many bytes it was before compression, with its header.
int64_t ParquetFile::WritePage(int32_t type, std::string_view page, int32_t values,
                               int32_t encoding) {
  if (!compressor_.Compress(ChunkCompression::kZstd, std::as_bytes(std::span(page)), 0,
                            &compressed_)) {
    file_->Fail(ENOMEM);
  }
  ThriftWriter header;
  header.I32(1, type);                                      // type
  header.I32(2, static_cast<int32_t>(page.size()));         // uncompressed_page_size
  header.I32(3, static_cast<int32_t>(compressed_.size()));  // compressed_page_size
  header.BeginStruct(type == kDictionaryPage ? 7 : 5);      // dictionary_ or data_page_header
  header.I32(1, values);                                    // num_values
  header.I32(2, encoding);                                  // encoding
  if (type == kDataPage) {
    header.I32(3, kRunLength);  // definition_level_encoding
    header.I32(4, kRunLength);  // repetition_level_encoding
  }
  header.EndStruct();
  header.EndStruct();
  Write(header.bytes());
  Write({reinterpret_cast<const char*>(compressed_.data()), compressed_.size()});
  return static_cast<int64_t>(header.bytes().size() + page.size());
}

ParquetFile::Chunk ParquetFile::WriteColumn(Values* values) {
  Chunk chunk = values->chunk();
  const Values::Pages pages = values->TakePages();
  chunk.offset = written_;
  chunk.has_dictionary = pages.dictionary_size > 0;
  if (chunk.has_dictionary) {
    chunk.raw_bytes += WritePage(kDictionaryPage, pages.dictionary,
                                 static_cast<int32_t>(pages.dictionary_size), kPlain);
  }
  chunk.values_offset = written_;
  chunk.raw_bytes += WritePage(kDataPage, pages.values, static_cast<int32_t>(rows_),
                               chunk.has_dictionary ? kByDictionary : kPlain);
  chunk.stored_bytes = written_ - chunk.offset;
  return chunk;
}

std::string ParquetFile::Metadata(const Properties& properties) const {
  using Type = ThriftWriter::Type;
  int64_t rows = 0;
  for (const RowGroup& group : groups_) rows += group.rows;
  ThriftWriter metadata;
  metadata.I32(1, kVersion);  // version
  PutSchema(columns_, &metadata);
  metadata.I64(3, rows);                                 // num_rows
  metadata.BeginList(4, Type::kStruct, groups_.size());  // row_groups
  for (const RowGroup& group : groups_) {
    int64_t raw_bytes = 0;
    metadata.BeginStructElement();
    metadata.BeginList(1, Type::kStruct, group.chunks.size());  // columns
    for (size_t column = 0; column < columns_.size(); ++column) {
      const Chunk& chunk = group.chunks[column];
      raw_bytes += chunk.raw_bytes;
      metadata.BeginStructElement();
      metadata.I64(2, chunk.offset);                                    // file_offset
      metadata.BeginStruct(3);                                          // meta_data
      metadata.I32(1, PhysicalType(columns_[column].type));             // type
      metadata.BeginList(2, Type::kI32, chunk.has_dictionary ? 3 : 2);  // encodings
      metadata.I32Element(kPlain);
      metadata.I32Element(kRunLength);
      if (chunk.has_dictionary) metadata.I32Element(kByDictionary);
      metadata.BeginList(3, Type::kBinary, 1);  // path_in_schema
      metadata.BinaryElement(columns_[column].name);
      metadata.I32(4, kZstd);                                    // codec
      metadata.I64(5, group.rows);                               // num_values
      metadata.I64(6, chunk.raw_bytes);                          // total_uncompressed_size
      metadata.I64(7, chunk.stored_bytes);                       // total_compressed_size
      metadata.I64(9, chunk.values_offset);                      // data_page_offset
      if (chunk.has_dictionary) metadata.I64(11, chunk.offset);  // dictionary_page_offset
      metadata.BeginStruct(12);                                  // statistics
      metadata.I64(3, chunk.nulls);                              // null_count
      if (chunk.least <= chunk.most) {
        metadata.Binary(5, BytesOf(chunk.most));   // max_value
        metadata.Binary(6, BytesOf(chunk.least));  // min_value
      }
      metadata.EndStruct();
      metadata.EndStruct();
      metadata.EndStruct();
    }
    metadata.I64(2, raw_bytes);   // total_byte_size
    metadata.I64(3, group.rows);  // num_rows
    metadata.EndStruct();
  }
  metadata.BeginList(5, Type::kStruct, properties.size());  // key_value_metadata
  for (const auto& [key, value] : properties) {
    metadata.BeginStructElement();
    metadata.Binary(1, key);
    metadata.Binary(2, value);
    metadata.EndStruct();
  }
  metadata.Binary(6, "gpubound version " GPUBOUND_VERSION);  // created_by
  metadata.BeginList(7, Type::kStruct, columns_.size());     // column_orders, which limits need
  for (size_t column = 0; column < columns_.size(); ++column) {
    metadata.BeginStructElement();
    metadata.BeginStruct(1);  // TYPE_ORDER
    metadata.EndStruct();
    metadata.EndStruct();
  }
  metadata.EndStruct();
  return metadata.bytes();
}

void ParquetFile::Finish(const Properties& properties) {
  EndRowGroup();
  const std::string metadata = Metadata(properties);
  Write(metadata);
  Write(BytesOf(static_cast<uint32_t>(metadata.size())));
  Write(kMagic);
}

}  // namespace gpubound
