// SPDX-License-Identifier: Apache-2.0
//
// Parses the environment into Settings.
#include "libprofiler/settings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "libprofiler/env_vars.h"
#include "libprofiler/log.h"
#include "libprofiler/process_info.h"
#include "proto/event_model.h"

namespace gpubound {
namespace {

const EnvVar* FindVar(const char* name) {
  for (const EnvVar& var : kEnvVars) {
    if (std::strcmp(var.name, name) == 0) return &var;
  }
  return nullptr;
}

bool ParseNumber(const char* text, uint64_t* number) {
  if (*text < '0' || *text > '9') return false;  // strtoull would take "-1" and " 1"
  char* end = nullptr;
  errno = 0;
  const unsigned long long parsed = std::strtoull(text, &end, 10);
  if (errno != 0 || *end != '\0') return false;
  *number = parsed;
  return true;
}

}  // namespace

const char* EnvValue(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): read only
  // A program that clears its environment, as daemons do, does not speak of us.
  if (value == nullptr) value = VariableAtStart(name);
  if (value != nullptr && *value != '\0') return value;
  const EnvVar* var = FindVar(name);
  return var == nullptr ? "" : var->default_value;
}

uint64_t EnvNumber(const char* name, uint64_t low, uint64_t high) {
  uint64_t value = 0;
  const char* text = EnvValue(name);
  if (ParseNumber(text, &value) && value >= low && value <= high) return value;
  ParseNumber(FindVar(name)->default_value, &value);
  LogOnce("%s is '%s', expected a number from %llu to %llu; using %llu", name, text,
          static_cast<unsigned long long>(low), static_cast<unsigned long long>(high),
          static_cast<unsigned long long>(value));
  return value;
}

bool EnvSwitch(const char* name) {
  const char* text = EnvValue(name);
  if (const std::optional<bool> value = SwitchOf(text)) return *value;
  const bool value = SwitchOf(FindVar(name)->default_value).value_or(false);
  LogOnce("%s is '%s', expected 1 or 0 (also on, true, yes or off, false, no); using %d", name,
          text, value ? 1 : 0);
  return value;
}

namespace {

ChunkCompression ReadCompression() {
  const char* name = "GPUBOUND_COMPRESSION";
  const char* text = EnvValue(name);
  if (std::strcmp(text, "zstd") == 0) return ChunkCompression::kZstd;
  if (std::strcmp(text, "none") != 0) {
    LogOnce("%s is '%s', expected none or zstd; using none", name, text);
  }
  return ChunkCompression::kNone;
}

uint32_t ReadStacksPerSecond() {
  const char* name = "GPUBOUND_STACKS";
  if (std::strcmp(EnvValue(name), "0") == 0) return 0;
  return static_cast<uint32_t>(EnvNumber(name, kLeastStacksPerSecond, kMostStacksPerSecond));
}

StepRange ReadSteps() {
  const char* name = "GPUBOUND_STEPS";
  const char* text = EnvValue(name);
  if (*text == '\0') return {};
  const std::optional<StepRange> steps = ParseStepRange(text);
  if (!steps) {
    LogOnce("%s is '%s', expected A:B with A below B; recording every iteration", name, text);
  }
  return steps.value_or(StepRange());
}

}  // namespace

Settings ReadSettings() {
  Settings settings;
  settings.run_directory = EnvValue("GPUBOUND_RUN");
  // The shim reads it so too, and loads nothing then.
  settings.disabled = SaysDisabled(EnvValue("GPUBOUND_DISABLE"));
  settings.end_ns = EnvNumber("GPUBOUND_END_NS", 0, uint64_t{1} << 62);
  settings.steps = ReadSteps();
  settings.live_pages = static_cast<uint32_t>(EnvNumber("GPUBOUND_LIVE_PAGES", 16, 16384));
  settings.flush_ms = static_cast<uint32_t>(EnvNumber("GPUBOUND_FLUSH_MS", 10, 1000));
  settings.segment_bytes = EnvNumber("GPUBOUND_SEGMENT_BYTES", 1 << 20, uint64_t{1} << 50);
  settings.max_labels = static_cast<uint32_t>(EnvNumber("GPUBOUND_MAX_LABELS", 16, kMaxLabels - 1));
  settings.stacks_per_second = ReadStacksPerSecond();
  settings.compression = ReadCompression();
  return settings;
}

}  // namespace gpubound
