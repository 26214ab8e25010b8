// SPDX-License-Identifier: Apache-2.0
//
// No state.
#include "analysis/parts/part_file.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>

#include "analysis/base/folder_entries.h"
#include "analysis/base/in_parallel.h"
#include "analysis/base/write_all.h"
#include "analysis/parts/message_codec.h"
#include "analysis/parts/part_check.h"
#include "analysis/parts/part_fields.h"
#include "analysis/reader/run_files.h"
#include "proto/compress.h"
#include "proto/crc32c.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHeader = kPartMagic.size() + 4;
constexpr uint64_t kMostRawBytes = uint64_t{1} << 32;
constexpr uint64_t kMostKeyBytes = 4096;

std::span<const std::byte> BytesOf(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

void Append(uint64_t number, int bytes, std::string* text) {
  for (int i = 0; i < bytes; ++i) text->push_back(static_cast<char>(number >> (8 * i)));
}

// Takes fields from the front of a text; |ok| is false once one is not there.
class Fields {
 public:
  explicit Fields(std::string_view text) : rest_(text) {}
  bool ok() const { return ok_; }
  bool empty() const { return rest_.empty(); }
  std::string_view Bytes(uint64_t count) {
    if (count > rest_.size()) ok_ = false;
    if (!ok_) return {};
    const std::string_view bytes = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return bytes;
  }
  uint64_t Number(int bytes) {
    uint64_t number = 0;
    int shift = 0;
    for (const char byte : Bytes(static_cast<uint64_t>(bytes))) {
      number |= uint64_t{static_cast<unsigned char>(byte)} << shift;
      shift += 8;
    }
    return number;
  }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

Error Unreadable(const std::string& path, const std::string& found, const std::string& expected,
                 const std::string& remedy) {
  return {"reading parts of a run", path, found, expected, remedy};
}
constexpr char kMakeAgain[] = "Make the part again with gpubound part, or copy it again.";

Error Damaged(const std::string& path) {
  return Unreadable(path, "damaged bytes", "the checksum that they were written with", kMakeAgain);
}

// The text of a file that begins as one of parts does; of others no more than their begin.
Result<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Unreadable(path, std::generic_category().message(errno), "a file made by gpubound part",
                      "Check the name, and that you may read it.");
  }
  std::string text(kHeader, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.starts_with(kPartMagic)) text.append(std::istreambuf_iterator<char>(file), {});
  return text;
}

std::vector<std::string> FilesOf(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return {path};
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : EntriesOf(path)) {
    if (entry.path().extension() == kPartSuffix) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Error Unwritable(const std::string& path, int error) {
  return {"writing parts of a run", path, std::generic_category().message(error), "",
          "Make room or check permissions, then try again."};
}

}  // namespace

bool HoldsParts(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored)) return BeginsAsPart(path);
  const std::vector<std::string> files = FilesOf(path);
  return std::any_of(files.begin(), files.end(), BeginsAsPart);
}

StoredPart StorePart(const MachinePart& part) {
  const std::string raw = EncodeMessage(part);
  ByteBuffer body;
  Compressor compressor;
  StoredPart stored;
  stored.machine = KeyOf(part);
  stored.made_realtime_ns = part.made_realtime_ns;
  stored.raw_bytes = raw.size();
  if (compressor.Compress(ChunkCompression::kZstd, BytesOf(raw), 0, &body)) {
    stored.bytes.assign(reinterpret_cast<const char*>(body.data()), body.size());
  }
  return stored;
}

std::vector<StoredPart> StoreParts(const std::vector<MachinePart>& parts) {
  std::vector<StoredPart> stored;
  for (const MachinePart& part : parts) stored.push_back(StorePart(part));
  return MergeParts(std::move(stored));
}

Result<MachinePart> LoadPart(const StoredPart& stored, const std::string& path) {
  ByteBuffer raw;
  Decompressor decompressor;
  if (stored.raw_bytes > kMostRawBytes ||
      !decompressor.Decompress(ChunkCompression::kZstd, BytesOf(stored.bytes), stored.raw_bytes,
                               &raw)) {
    return Damaged(path);
  }
  MachinePart part;
  try {
    DecodeMessage({reinterpret_cast<const char*>(raw.data()), raw.size()}, &part);
  } catch (const std::exception& error) {
    return Unreadable(path, std::string("a part that is damaged (") + error.what() + ")",
                      "what gpubound part writes", kMakeAgain);
  }
  if (!IsSound(part)) {
    return Unreadable(path, "a part that contradicts itself", "what gpubound part writes",
                      kMakeAgain);
  }
  return part;
}

Result<std::vector<StoredPart>> UnpackParts(std::string_view text, const std::string& path) {
  if (!text.starts_with(kPartMagic)) {
    return Unreadable(path, "something else", "a file made by gpubound part",
                      "Give files that gpubound part or gpubound merge wrote.");
  }
  Fields fields(text.substr(kPartMagic.size()));
  const uint64_t version = fields.Number(4);
  if (fields.ok() && version != kPartVersion) {
    return Unreadable(path, "format version " + std::to_string(version),
                      "format version " + std::to_string(kPartVersion),
                      "Make and read all parts with the same gpubound.");
  }
  std::vector<StoredPart> parts;
  while (fields.ok() && !fields.empty()) {
    StoredPart& part = parts.emplace_back();
    const uint64_t key_bytes = fields.Number(4);
    part.machine = fields.Bytes(std::min(key_bytes, kMostKeyBytes + 1));
    part.made_realtime_ns = static_cast<int64_t>(fields.Number(8));
    part.raw_bytes = fields.Number(8);
    const uint64_t stored_bytes = fields.Number(8);
    const uint64_t checksum = fields.Number(4);
    part.bytes = fields.Bytes(stored_bytes);
    if (key_bytes > kMostKeyBytes || Crc32c(BytesOf(part.bytes)) != checksum) return Damaged(path);
  }
  if (!fields.ok()) return Damaged(path);
  return parts;
}

Result<std::vector<StoredPart>> ReadParts(const std::string& path) {
  std::vector<StoredPart> parts;
  for (const std::string& file : FilesOf(path)) {
    const Result<std::string> text = ReadFile(file);
    if (!text.ok()) return text.error();
    Result<std::vector<StoredPart>> of_file = UnpackParts(*text, file);
    if (!of_file.ok()) return of_file.error();
    std::move(of_file->begin(), of_file->end(), std::back_inserter(parts));
  }
  return MergeParts(std::move(parts));
}

std::vector<StoredPart> MergeParts(std::vector<StoredPart> parts) {
  const auto key = [](const StoredPart& part) {
    return std::tie(part.machine, part.made_realtime_ns, part.bytes);
  };
  std::sort(parts.begin(), parts.end(),
            [&key](const StoredPart& a, const StoredPart& b) { return key(a) < key(b); });
  std::vector<StoredPart> merged;
  for (StoredPart& part : parts) {
    if (!merged.empty() && merged.back().machine == part.machine) {
      merged.back() = std::move(part);  // made later
    } else {
      merged.push_back(std::move(part));
    }
  }
  return merged;
}

Result<std::vector<MachinePart>> LoadParts(const std::vector<StoredPart>& stored,
                                           const std::string& path) {
  std::vector<Result<MachinePart>> loaded(stored.size(), Error{});
  ForEachInParallel(stored.size(), [&](size_t p) { loaded[p] = LoadPart(stored[p], path); });
  std::vector<MachinePart> parts;
  for (Result<MachinePart>& part : loaded) {
    if (!part.ok()) return part.error();
    parts.push_back(std::move(*part));
  }
  return parts;
}

std::string PackParts(const std::vector<StoredPart>& parts) {
  std::string text(kPartMagic);
  Append(kPartVersion, 4, &text);
  for (const StoredPart& part : parts) {
    Append(part.machine.size(), 4, &text);
    text += part.machine;
    Append(static_cast<uint64_t>(part.made_realtime_ns), 8, &text);
    Append(part.raw_bytes, 8, &text);
    Append(part.bytes.size(), 8, &text);
    Append(Crc32c(BytesOf(part.bytes)), 4, &text);
    text += part.bytes;
  }
  return text;
}

Status WriteParts(const std::string& path, const std::vector<StoredPart>& parts) {
  const std::string text = PackParts(parts);
  if (path == "-") {
    const int error = WriteAll(STDOUT_FILENO, text);
    return error == 0 ? Status(Ok{}) : Status(Unwritable("stdout", error));
  }
  const int error = ReplaceFile(path, text);
  return error == 0 ? Status(Ok{}) : Status(Unwritable(path, error));
}

}  // namespace gpubound
