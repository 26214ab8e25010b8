// SPDX-License-Identifier: Apache-2.0
//
// Reads through zlib, which hands plain files on as they are. One object, one thread.
#include "analysis/import_source.h"

#include <errno.h>
#include <zlib.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

namespace gpubound {
namespace {

constexpr unsigned kBufferBytes = 64 << 10;

// Where compressed data is damaged, zlib gives nothing of what one call had decompressed until
// there.
constexpr size_t kLargestRead = 64 << 10;

Error CannotRead(const std::string& path, const std::string& found) {
  return {"reading the trace to import", path, found, "a readable file",
          "Check the path, and that you may read it."};
}

class GzipSource : public ByteSource {
 public:
  GzipSource(std::string path, gzFile file) : path_(std::move(path)), file_(file) {}
  ~GzipSource() override { gzclose_r(file_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> Read(char* to, size_t capacity) override {
    const auto wanted = static_cast<unsigned>(std::min(capacity, kLargestRead));
    const int count = gzread(file_, to, wanted);
    int code = Z_OK;
    std::string_view message = gzerror(file_, &code);
    if (message.starts_with(path_ + ": ")) message.remove_prefix(path_.size() + 2);
    // A stream that stops in the middle gives its bytes first and this at the end.
    if (count > 0 || (count == 0 && code == Z_OK)) return static_cast<size_t>(count);
    if (code == Z_ERRNO) return CannotRead(path_, std::generic_category().message(errno));
    return Error{
        "reading the trace to import", path_,
        std::string("a compressed stream that is damaged or cut short (").append(message) + ")",
        "a complete gzip file", "Copy the file again, or check it with `gzip -t`."};
  }

 private:
  const std::string path_;
  gzFile file_;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> OpenText(const std::string& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return CannotRead(path, "a directory");
  gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) return CannotRead(path, std::generic_category().message(errno));
  gzbuffer(file, kBufferBytes);
  return std::unique_ptr<ByteSource>(std::make_unique<GzipSource>(path, file));
}

}  // namespace gpubound
