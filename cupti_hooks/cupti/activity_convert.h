// SPDX-License-Identifier: Apache-2.0
//
// From the bytes of a CUPTI buffer to records of ours. The only file that knows record versions,
// with record_layouts.h.
//
// CUPTI's structures grow at their end from release to release, and the loaded library decides how
// long they are, not the headers we were compiled with. So each record is read through the oldest
// structure that has the fields (CUPTI 11.8's), newer fields only from the version that brought
// them, and the way from one record to the next is CUPTI's own, never sizeof.
//
// The source's worker only.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_CONVERT_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_CONVERT_H_

#include <cstddef>
#include <cstdint>
#include <unordered_set>

#include "cupti_hooks/cupti/api_functions.h"
#include "cupti_hooks/cupti/callback_state.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/timed_calls.h"
#include "cupti_hooks/cupti/untimed_work.h"
#include "cupti_hooks/cupti/work_cache.h"
#include "libprofiler/device_source.h"

namespace gpubound {

// What became of the records of some buffers.
struct ConvertCounts {
  uint64_t records = 0;        // handed to the sink
  uint64_t skipped = 0;        // of quiet functions
  uint64_t untimed = 0;        // device work that ran, but CUPTI does not tell when
  uint64_t inverted_work = 0;  // device work that ended before it began: likewise
  uint64_t untimed_calls = 0;  // API calls without a time
  uint64_t inverted = 0;       // other records that end before they begin; kept with length zero
  uint64_t unknown_kinds = 0;  // skipped
  uint64_t unreadable = 0;     // buffers with a record that CUPTI could not step over
  uint64_t whole_graphs = 0;   // launches of graphs that were recorded without their nodes
  uint64_t graphs_of_no_device = 0;  // likewise, of which no device is told; dropped
  uint64_t foreign_threads = 0;      // API calls of a thread id that is not the system's
  uint64_t unseen_graphs = 0;        // graphs that were instantiated before we recorded
};

class ActivityConverter {
 public:
  // All outlive the converter. |api| must have been resolved.
  ActivityConverter(const CuptiApi& api, DeviceHost* host, DeviceSink* sink, CallbackState* state);

  // Converts and appends every record of a buffer. Publishes nothing.
  void Convert(uint8_t* buffer, size_t valid_bytes);

  // Likewise a call that was timed in a callback, which is no record of a buffer and not counted.
  void Convert(const TimedCall& call);

  // What has been converted since the last call.
  ConvertCounts TakeCounts();

  // Device work without a time. What it takes for lost is in the counts.
  UntimedWork& untimed() { return untimed_; }

 private:
  void ConvertRecord(const CUpti_Activity* record);
  void ConvertRuntimeCall(const CUpti_Activity* record);
  void ConvertKernel(const CUpti_Activity* record);
  template <typename Record>
  bool AppendBytes(const Record& from, WorkId work);
  void ConvertMemcpy(const CUpti_Activity* record);
  void ConvertPeerCopy(const CUpti_Activity* record);
  void ConvertMemset(const CUpti_Activity* record);
  void ConvertGraph(const CUpti_Activity* record);
  void ConvertOverhead(const CUpti_Activity* record);
  void ConvertContext(const CUpti_Activity* record);
  void ConvertGreenContext(const CUpti_Activity* record);
  void ConvertDevice(const CUpti_Activity* record);

  // Writes a usable span of device work; false: there is none, counted.
  template <typename Record>
  bool TimeDeviceWork(const Record& from, DeviceRecord* to);
  void Append(const DeviceRecord& record);
  void NoteGraph(uint32_t graph);

  const CuptiApi& api_;
  DeviceHost* const host_;
  DeviceSink* const sink_;
  CallbackState* const state_;
  ApiFunctions functions_;  // a copy, which keeps labels
  WorkCache works_;
  UntimedWork untimed_;
  std::unordered_set<uint32_t> graphs_;  // that records spoke of
  LabelId overheads_[16] = {};           // by kind, in the order of kOverheadNames
  ConvertCounts counts_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_ACTIVITY_CONVERT_H_
