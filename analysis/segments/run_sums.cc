// SPDX-License-Identifier: Apache-2.0
//
// Reads and replaces the file of sums. No state.
#include "analysis/segments/run_sums.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "analysis/base/plain_file.h"
#include "analysis/base/write_all.h"
#include "proto/byte_buffer.h"
#include "proto/compress.h"
#include "proto/crc32c.h"

namespace gpubound {
namespace {

constexpr std::string_view kSumsMagic = "GPBDSUMS";
constexpr size_t kVersionAt = kSumsMagic.size();
constexpr size_t kChecksumAt = kVersionAt + 4;
constexpr size_t kRawSizeAt = kChecksumAt + 4;
constexpr size_t kBodyAt = kRawSizeAt + 8;
// Of compressed data that is longer than what went in.
constexpr uint64_t kMostOverhead = uint64_t{1} << 20;
// Far above what a million calls of hundreds of processes take.
constexpr uint64_t kMostRawBytes = uint64_t{16} << 30;

std::span<const std::byte> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

void Append(uint64_t value, int bytes, std::string* text) {
  for (int i = 0; i < bytes; ++i) text->push_back(static_cast<char>(value >> (8 * i)));
}

uint64_t NumberAt(std::string_view text, size_t at, int bytes) {
  uint64_t value = 0;
  for (int i = 0; i < bytes; ++i) {
    value |= uint64_t{static_cast<uint8_t>(text[at + static_cast<size_t>(i)])} << (8 * i);
  }
  return value;
}

Error Unreadable(const std::string& path, const std::string& found, const std::string& expected) {
  return {"reading the sums of the run", path, found, expected,
          "Detail that was thinned is in this file alone: restore it from a copy. Without it "
          "(move it away) reports are about the detail that is left."};
}

Error Unwritable(const std::string& path, int error) {
  return {"writing the sums of the run", path, std::generic_category().message(error), "",
          "Nothing was removed. Make room or check permissions, then try again."};
}

}  // namespace

const ProcessSums* RunSums::Of(const ProcessIdentity& identity) const {
  for (const ProcessSums& process : processes) {
    if (process.identity == identity) return process.sweep.empty() ? nullptr : &process;
  }
  return nullptr;
}

void RunSums::Visit(StateArchive& archive) {
  archive.All(until_ns, operations, processes, devices, kept);
}

Result<std::shared_ptr<const RunSums>> ReadRunSums(const std::string& folder) {
  const std::string path = folder + "/" + kSumsFile;
  if (IsNoPlainFile(path)) return Unreadable(path, kNoPlainFile, "the run's sums");
  std::ifstream file(path, std::ios::binary);
  std::shared_ptr<RunSums> sums;
  if (!file) {
    if (access(path.c_str(), F_OK) != 0) return std::shared_ptr<const RunSums>();
    return Unreadable(path, "a file that cannot be opened", "the run's sums");
  }
  std::string text(kBodyAt, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  // The rest only of what begins as it should, and is no longer than what it says to hold.
  std::error_code ignored;
  const uintmax_t bytes = std::filesystem::file_size(path, ignored);
  if (text.size() == kBodyAt && text.starts_with(kSumsMagic) &&
      bytes <= kBodyAt + NumberAt(text, kRawSizeAt, 8) + kMostOverhead) {
    text.append(std::istreambuf_iterator<char>(file), {});
  }
  if (text.size() < kBodyAt || !text.starts_with(kSumsMagic)) {
    return Unreadable(path, "something else, or a part of them", "the run's sums");
  }
  const uint64_t version = NumberAt(text, kVersionAt, 4);
  if (version != kSumsVersion) {
    Error error = Unreadable(path, "format version " + std::to_string(version),
                             "format version " + std::to_string(kSumsVersion));
    error.remedy = "Read the run with the gpubound that compacted it.";
    return error;
  }
  const std::string_view checked = std::string_view(text).substr(kRawSizeAt);
  const uint64_t raw_bytes = NumberAt(text, kRawSizeAt, 8);
  ByteBuffer raw;
  Decompressor decompressor;
  const bool sound =
      Crc32c(BytesOf(checked)) == NumberAt(text, kChecksumAt, 4) && raw_bytes <= kMostRawBytes &&
      decompressor.Decompress(ChunkCompression::kZstd, BytesOf(checked.substr(8)), raw_bytes, &raw);
  if (sound) {
    StateArchive archive({reinterpret_cast<const char*>(raw.data()), raw.size()});
    sums = std::make_shared<RunSums>();
    sums->Visit(archive);
    if (archive.done()) return std::shared_ptr<const RunSums>(std::move(sums));
  }
  return Unreadable(path, "damaged bytes", "the checksum that they were written with");
}

Status WriteRunSums(const std::string& folder, RunSums* sums) {
  const std::string path = folder + "/" + kSumsFile;
  StateArchive archive;
  sums->Visit(archive);
  const std::string raw = archive.Take();
  ByteBuffer body;
  Compressor compressor;
  if (!compressor.Compress(ChunkCompression::kZstd, BytesOf(raw), 0, &body)) {
    return Unwritable(path, ENOMEM);
  }
  std::string checked;
  Append(raw.size(), 8, &checked);
  checked.append(reinterpret_cast<const char*>(body.data()), body.size());
  std::string text(kSumsMagic);
  Append(kSumsVersion, 4, &text);
  Append(Crc32c(BytesOf(checked)), 4, &text);
  text += checked;

  const int error = ReplaceFile(path, text);
  return error == 0 ? Status(Ok{}) : Status(Unwritable(path, error));
}

}  // namespace gpubound
