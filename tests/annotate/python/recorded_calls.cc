// SPDX-License-Identifier: Apache-2.0
//
// The fake collector as a library that Python tests name in GPUBOUND_LIBRARY, with a way for ctypes
// to read what was called.
#include <algorithm>
#include <cstring>
#include <string>

#include "tests/annotate/fake_collector.h"

extern "C" __attribute__((visibility("default"))) void set_recording_ended(int ended) {
  gpubound::FakeCollector::SetEnded(ended != 0);
}

// With |capacity| 0, takes the calls since the last time and returns the length of their text, one
// call per line; else copies that text into |buffer|, cut to |capacity|.
extern "C" __attribute__((visibility("default"))) size_t take_recorded_calls(char* buffer,
                                                                             size_t capacity) {
  static std::string text;
  if (capacity == 0) {
    text.clear();
    for (const std::string& call : gpubound::FakeCollector::Take()) text += call + "\n";
    return text.size();
  }
  std::memcpy(buffer, text.data(), std::min(text.size(), capacity));
  return text.size();
}
