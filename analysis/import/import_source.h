// SPDX-License-Identifier: Apache-2.0
//
// The bytes of a trace to import, plain or compressed with gzip, one block after the other. They
// are read once, from begin to end, so that they may come through a pipe. One object, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_IMPORT_SOURCE_H_
#define GPUBOUND_ANALYSIS_IMPORT_IMPORT_SOURCE_H_

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/base/status.h"

namespace gpubound {

inline constexpr char kStandardInput[] = "/dev/stdin";

// What an importer reads.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  // Up to |capacity| bytes into |to|; 0 at the end. An error says what is wrong with the file; it
  // comes behind all bytes that could be read, and again where it is asked again.
  virtual Result<size_t> Read(char* to, size_t capacity) = 0;
};

// A file as it is.
class FileSource : public ByteSource {
 public:
  // The file, FIFO or device at |path|; standard input is read on from where it stands.
  static Result<std::unique_ptr<FileSource>> Open(const std::string& path);
  ~FileSource() override;
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  // What it begins with, up to kHeadBytes. Read() gives them too.
  static constexpr size_t kHeadBytes = 16;
  std::string_view head() const { return {head_.data(), head_bytes_}; }

  // Whether it can be read in any order, by its path too: a pipe cannot.
  bool IsRegular() const;

  Result<size_t> Read(char* to, size_t capacity) override;

 private:
  FileSource(std::string path, int file) : path_(std::move(path)), file_(file) {}
  Result<size_t> ReadFile(char* to, size_t capacity);

  const std::string path_;
  const int file_;
  std::array<char, kHeadBytes> head_{};
  size_t head_bytes_ = 0;
  size_t head_taken_ = 0;  // of them, by Read()
};

// The text in |file|. Whether it is compressed is told by its content, not its name; several
// compressed streams one after the other are one text. |path| is for errors.
std::unique_ptr<ByteSource> TextOf(std::unique_ptr<FileSource> file, const std::string& path);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_IMPORT_SOURCE_H_
