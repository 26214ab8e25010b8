// SPDX-License-Identifier: Apache-2.0
//
// Reads the header of a database file: https://www.sqlite.org/fileformat2.html#the_database_header
#include "analysis/segments/database_extent.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "analysis/base/plain_file.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDatabaseMagic("SQLite format 3\0", 16);
constexpr size_t kHeaderBytes = 100;
constexpr size_t kPageSizeAt = 16;
constexpr size_t kChangesAt = 24;
constexpr size_t kPageCountAt = 28;
constexpr size_t kPageCountValidForAt = 92;
constexpr size_t kPageSizeInLogAt = 8;

uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<unsigned char>(byte);
  return value;
}

// 0 for what cannot be one.
uint64_t PageBytes(uint32_t bytes) {
  const bool possible = bytes >= 512 && bytes <= 65536 && (bytes & (bytes - 1)) == 0;
  return possible ? bytes : 0;
}

// As much as is there of the header that begins |path|, else zeros.
std::string HeaderOf(const std::string& path) {
  std::string bytes(kHeaderBytes, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return bytes;
}

}  // namespace

std::optional<DatabaseExtent> ExtentOf(const std::string& path) {
  std::error_code error;
  DatabaseExtent extent;
  extent.found = fs::file_size(path, error);
  if (error) return std::nullopt;
  extent.has_log = HasContent(path + "-wal") || HasContent(path + "-journal");
  const std::string bytes = HeaderOf(path);
  const std::string_view header = bytes;
  uint64_t pages = 0;
  if (header.starts_with(kDatabaseMagic)) {
    const uint32_t page = BigEndian(header.substr(kPageSizeAt, 2));
    extent.page = PageBytes(page == 1 ? 65536 : page);
    // Old writers of SQLite left the count as it was.
    const bool counted = header.substr(kChangesAt, 4) == header.substr(kPageCountValidForAt, 4);
    if (counted) pages = BigEndian(header.substr(kPageCountAt, 4));
  }
  if (extent.page == 0 && extent.found < kHeaderBytes) {
    const std::string log = HeaderOf(path + "-wal");
    extent.page = PageBytes(BigEndian(std::string_view(log).substr(kPageSizeInLogAt, 4)));
  }
  if (extent.page == 0) return std::nullopt;
  const uint64_t begun = (extent.found + extent.page - 1) / extent.page;
  extent.expected = std::max<uint64_t>(pages != 0 ? pages : begun, 1) * extent.page;
  return extent;
}

}  // namespace gpubound
