// SPDX-License-Identifier: Apache-2.0
//
// Reads a file, and decompresses it with zlib where it begins as gzip does. What a damaged stream
// gives before its damage is given, its last bytes before a wrong checksum included: gzread() drops
// them. One object, one thread.
#include "analysis/import/import_source.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <utility>

namespace gpubound {
namespace {

constexpr size_t kBufferBytes = 64 << 10;

// So much at once stays in a processor's own cache until it is looked at.
constexpr size_t kLargestRead = 256 << 10;

constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr int kGzipWindowBits = 15 + 16;  // the largest window; a header and trailer of gzip

Error CannotRead(const std::string& path, const std::string& found) {
  return {"reading the trace to import", path, found, "a readable file",
          "Check the path, and that you may read it."};
}

class GzipSource : public ByteSource {
 public:
  GzipSource(std::unique_ptr<FileSource> file, std::string path)
      : file_(std::move(file)), path_(std::move(path)) {
    if (inflateInit2(&stream_, kGzipWindowBits) != Z_OK) Fail("no memory to decompress it");
  }
  ~GzipSource() override { inflateEnd(&stream_); }
  GzipSource(const GzipSource&) = delete;
  GzipSource& operator=(const GzipSource&) = delete;

  Result<size_t> Read(char* to, size_t capacity) override {
    const size_t wanted = std::min(capacity, kLargestRead);
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(wanted);
    while (stream_.avail_out > 0 && !error_ && !ended_) Step();
    const size_t count = wanted - stream_.avail_out;
    if (count == 0 && error_) return *error_;
    return count;
  }

 private:
  // What is wrong stays so.
  void Fail(const std::string& what) {
    error_ = Error{"reading the trace to import", path_,
                   "a compressed stream that is damaged or cut short (" + what + ")",
                   "a complete gzip file", "Copy the file again, or check it with `gzip -t`."};
  }

  void Step() {
    if (stream_.avail_in == 0 && !Fill()) return;
    if (between_ && !BeginStream()) return;
    const int code = inflate(&stream_, Z_NO_FLUSH);
    if (code == Z_STREAM_END) {
      between_ = true;
    } else if (code != Z_OK && code != Z_BUF_ERROR) {
      Fail(stream_.msg != nullptr ? stream_.msg : zError(code));
    }
  }

  // Reads on behind what is there. False at the end of the file.
  bool Fill() {
    const Result<size_t> count = file_->Read(input_.data(), input_.size());
    if (!count.ok()) {
      error_ = count.error();
      return false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
    stream_.avail_in = static_cast<uInt>(*count);
    if (*count > 0) return true;
    ended_ = between_;
    if (!ended_) Fail("unexpected end of file");
    return false;
  }

  // Behind a stream: the next one follows, or zeros that fill a block of some medium. False where
  // all of them were passed over.
  bool BeginStream() {
    while (stream_.avail_in > 0 && *stream_.next_in == '\0') {
      ++stream_.next_in;
      --stream_.avail_in;
    }
    if (stream_.avail_in == 0) return false;
    between_ = false;
    return inflateReset(&stream_) == Z_OK;
  }

  std::unique_ptr<FileSource> file_;
  const std::string path_;
  std::array<char, kBufferBytes> input_;
  z_stream stream_{};
  bool between_ = false;  // behind a whole stream
  bool ended_ = false;
  std::optional<Error> error_;
};

}  // namespace

Result<std::unique_ptr<FileSource>> FileSource::Open(const std::string& path) {
  const int file = path == kStandardInput ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                          : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return CannotRead(path, std::generic_category().message(errno));
  std::unique_ptr<FileSource> source(
      new FileSource(path, file));  // NOLINT: the constructor is private
  struct stat status {};
  if (fstat(file, &status) == 0 && S_ISDIR(status.st_mode)) return CannotRead(path, "a directory");
  while (source->head_bytes_ < kHeadBytes) {
    const Result<size_t> count = source->ReadFile(source->head_.data() + source->head_bytes_,
                                                  kHeadBytes - source->head_bytes_);
    if (!count.ok()) return count.error();
    if (*count == 0) break;
    source->head_bytes_ += *count;
  }
  return source;
}

FileSource::~FileSource() { close(file_); }

bool FileSource::IsRegular() const {
  struct stat status {};
  return fstat(file_, &status) == 0 && S_ISREG(status.st_mode);
}

Result<size_t> FileSource::ReadFile(char* to, size_t capacity) {
  ssize_t count = 0;
  do {
    count = read(file_, to, std::min(capacity, kLargestRead));
  } while (count < 0 && errno == EINTR);
  if (count < 0) return CannotRead(path_, std::generic_category().message(errno));
  return static_cast<size_t>(count);
}

Result<size_t> FileSource::Read(char* to, size_t capacity) {
  if (head_taken_ == head_bytes_) return ReadFile(to, capacity);
  const size_t count = head().substr(head_taken_).copy(to, capacity);
  head_taken_ += count;
  return count;
}

std::unique_ptr<ByteSource> TextOf(std::unique_ptr<FileSource> file, const std::string& path) {
  if (!file->head().starts_with(kGzipMagic)) return file;
  return std::make_unique<GzipSource>(std::move(file), path);
}

}  // namespace gpubound
