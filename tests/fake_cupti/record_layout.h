// SPDX-License-Identifier: Apache-2.0
//
// How long each kind of record is in each release of CUPTI. Layouts are append-only over the
// releases that the stand-in can present, so a record is the newest structure cut to the release's
// length, or padded where a release has a longer one than the headers know.
// Pure functions.
#ifndef GPUBOUND_TESTS_FAKE_CUPTI_RECORD_LAYOUT_H_
#define GPUBOUND_TESTS_FAKE_CUPTI_RECORD_LAYOUT_H_

#include <cstddef>
#include <cstdint>

namespace gpubound::sim {

// A kind that no reader knows, for the knob unknown_kind_every.
inline constexpr uint32_t kUnknownKind = 9999;

// CUPTI_ACTIVITY_KIND_GREEN_CONTEXT and the beginning of its record, which headers before 13.2
// lack.
inline constexpr uint32_t kGreenContextKind = 59;
struct GreenContextRecord {
  uint32_t kind;
  uint32_t context;
  uint32_t parent;
  uint32_t device;
  uint32_t tpcs;
  uint16_t multiprocessors;
  uint16_t rest;
};

// Bytes of a record of |kind| (CUpti_ActivityKind) as CUPTI |version| writes it; 0 for kinds that
// the stand-in never writes.
size_t RecordBytes(uint32_t kind, uint32_t version);

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_FAKE_CUPTI_RECORD_LAYOUT_H_
