// SPDX-License-Identifier: Apache-2.0
//
// The environment variables of env_vars.h as typed values, read once per process record. A value
// that cannot be used is replaced by its default and said on stderr; nothing here ever fails.
// Immutable after construction, so any thread may read.
#ifndef GPUBOUND_LIBPROFILER_SETTINGS_H_
#define GPUBOUND_LIBPROFILER_SETTINGS_H_

#include <cstdint>
#include <string>

#include "proto/live_format.h"
#include "proto/schema.h"
#include "proto/step_range.h"

namespace gpubound {

struct Settings {
  std::string run_directory;  // GPUBOUND_RUN; empty: choose the default name
  bool disabled = false;
  uint64_t end_ns = 0;  // CLOCK_MONOTONIC; 0: the recording ends with the process
  StepRange steps;      // the iterations to record
  uint32_t live_pages = kLiveDefaultPages;
  uint32_t flush_ms = 1000;
  uint64_t segment_bytes = uint64_t{1} << 30;
  uint32_t max_labels = 65536;
  uint32_t stacks_per_second = 100;  // 0: none
  ChunkCompression compression = ChunkCompression::kNone;
};

// Reads the environment of this process.
Settings ReadSettings();

// The value of the variable called |name| or, where it is unset, the one that it had when the
// program began, or its default in env_vars.h.
const char* EnvValue(const char* name);

// The same as a switch (SwitchOf); any other word is said and replaced by the default.
bool EnvSwitch(const char* name);

// The same as a number from |low| to |high|; any other value is said and replaced by the default.
uint64_t EnvNumber(const char* name, uint64_t low, uint64_t high);

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_SETTINGS_H_
