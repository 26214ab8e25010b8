// SPDX-License-Identifier: Apache-2.0
//
// Tells the thread sanitizer of a recorded program what it cannot see. This library is built
// without it: the sanitizer knows the mutexes and the memory that we use, since it stands in for
// the C library, but not the atomics through which one thread hands another what it made.
// The annotations are those of sanitizer/tsan_interface.h (GCC, Clang); without the sanitizer they
// do nothing.
#ifndef GPUBOUND_LIBPROFILER_THREAD_SANITIZER_H_
#define GPUBOUND_LIBPROFILER_THREAD_SANITIZER_H_

#include <cstdint>

extern "C" {
[[gnu::weak]] void AnnotateIgnoreReadsBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreReadsEnd(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesBegin(const char* file, int line);
[[gnu::weak]] void AnnotateIgnoreWritesEnd(const char* file, int line);
[[gnu::weak]] void AnnotateHappensBefore(const char* file, int line, uintptr_t address);
[[gnu::weak]] void AnnotateHappensAfter(const char* file, int line, uintptr_t address);
}

namespace gpubound {

inline bool SanitizerNeedsWords() noexcept {
#ifdef __SANITIZE_THREAD__
  return false;  // ours: it sees everything
#else
  return &AnnotateIgnoreReadsBegin != nullptr && &AnnotateIgnoreReadsEnd != nullptr &&
         &AnnotateIgnoreWritesBegin != nullptr && &AnnotateIgnoreWritesEnd != nullptr &&
         &AnnotateHappensBefore != nullptr && &AnnotateHappensAfter != nullptr;
#endif
}

// While one lives, the sanitizer looks at nothing that this thread does.
class UnseenBySanitizer {
 public:
  UnseenBySanitizer() {
    if (!SanitizerNeedsWords()) return;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~UnseenBySanitizer() {
    if (!SanitizerNeedsWords()) return;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
  UnseenBySanitizer(const UnseenBySanitizer&) = delete;
  UnseenBySanitizer& operator=(const UnseenBySanitizer&) = delete;
};

// What this thread did before the first comes before what another does after the second.
inline void SayReleased(const void* atomic) noexcept {
  if (!SanitizerNeedsWords()) return;
  AnnotateHappensBefore(__FILE__, __LINE__, reinterpret_cast<uintptr_t>(atomic));
}
inline void SayAcquired(const void* atomic) noexcept {
  if (!SanitizerNeedsWords()) return;
  AnnotateHappensAfter(__FILE__, __LINE__, reinterpret_cast<uintptr_t>(atomic));
}

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_THREAD_SANITIZER_H_
