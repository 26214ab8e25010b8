// SPDX-License-Identifier: Apache-2.0
//
// Prints each distinct line once. The set of texts said is a fixed array of hashes claimed with
// compare-and-swap: no lock, so that a fork at any moment leaves the child able to speak.
#include "libprofiler/log.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "libprofiler/debug_log.h"
#include "libprofiler/signal_shield.h"

namespace gpubound {
namespace {

constexpr char kPrefix[] = "gpubound: ";
constexpr int kMaxTexts = 64;  // beyond it the recorder falls silent rather than flood
constinit std::atomic<uint64_t> g_said[kMaxTexts] = {};

uint64_t HashOf(const char* text) {
  uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (; *text != '\0'; ++text) {
    hash = (hash ^ static_cast<unsigned char>(*text)) * 0x100000001b3;
  }
  return hash | 1;  // zero marks a free entry
}

bool FirstTime(uint64_t hash) {
  for (std::atomic<uint64_t>& entry : g_said) {
    uint64_t seen = 0;
    if (entry.compare_exchange_strong(seen, hash, std::memory_order_relaxed)) return true;
    if (seen == hash) return false;
  }
  return false;
}

}  // namespace

bool LogOnce(const char* format, ...) noexcept {
  const int saved_errno = errno;
  char line[1024];
  constexpr size_t kPrefixBytes = sizeof(kPrefix) - 1;
  std::memcpy(line, kPrefix, kPrefixBytes);
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(line + kPrefixBytes, sizeof(line) - kPrefixBytes - 1, format, arguments);
  va_end(arguments);
  size_t length = std::strlen(line);
  for (size_t i = kPrefixBytes; i < length; ++i) {
    const unsigned char c = static_cast<unsigned char>(line[i]);
    if (c < 0x20 || c == 0x7f) line[i] = ' ';
  }
  const bool print = FirstTime(HashOf(line));
  if (print) {
    line[length++] = '\n';
    const CancelBlock no_cancel;
    // One write, so that lines of several processes do not mix. Nothing to do when stderr is gone.
    [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line, length);
    line[length - 1] = '\0';
    DebugLog("said on stderr: %s", line + kPrefixBytes);
  }
  errno = saved_errno;
  return print;
}

}  // namespace gpubound
