// SPDX-License-Identifier: Apache-2.0
//
// The only way in which the injected half speaks to its user: one line on stderr per distinct text,
// prefixed "gpubound: ". A failure that repeats a million times is said once. Any thread; not from
// a signal handler.
#ifndef GPUBOUND_LIBPROFILER_LOG_H_
#define GPUBOUND_LIBPROFILER_LOG_H_

namespace gpubound {

// Formats and prints unless the same text was printed before. Line feeds and other control
// characters inside the text become spaces. Returns whether it was printed.
bool LogOnce(const char* format, ...) noexcept __attribute__((format(printf, 1, 2)));

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_LOG_H_
