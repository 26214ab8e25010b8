// SPDX-License-Identifier: Apache-2.0
//
// One event of a Chrome trace, parsed: the fields that the importer looks at, numbers as they are
// written. One parser, one thread.
#ifndef GPUBOUND_ANALYSIS_IMPORT_CHROME_EVENT_H_
#define GPUBOUND_ANALYSIS_IMPORT_CHROME_EVENT_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/import/import_op_text.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What an event is, by its "cat".
enum class ChromeCategory : uint8_t {
  kOther,  // neither CPU nor GPU time
  kUserAnnotation,
  kPythonFunction,
  kCpuOp,
  kApi,  // cuda_runtime, cuda_driver and those of other accelerators
  kKernel,
  kMemcpy,
  kMemset,
  kUnknown,  // time in which work could have run unrecorded, in traces that we wrote
};

// Absent numbers are nothing; absent texts are empty. Texts are valid until the next event.
struct ChromeEvent {
  char phase = '\0';  // the first character of "ph"
  ChromeCategory category = ChromeCategory::kOther;
  std::string_view other_category;  // where it is kOther; may be empty
  std::string_view name;
  std::string_view pid;  // a number as it is written, or the text of a string
  std::string_view tid;
  std::string_view ts;  // as written
  std::string_view dur;

  // Of "args".
  std::string_view label;  // "name": of a process or thread
  OpInputs inputs;         // of an operator
  std::optional<int64_t> correlation;
  std::optional<int64_t> device;
  std::optional<int64_t> context;
  std::optional<int64_t> stream;
  std::optional<int64_t> from_device;  // of a copy between two devices
  std::optional<int64_t> from_context;
  std::optional<int64_t> to_device;
  std::optional<int64_t> to_context;
  std::optional<int64_t> in_device;  // which of the two runs it
  std::optional<int64_t> in_context;
  std::optional<int64_t> bytes;
  std::optional<int64_t> registers;
  std::optional<int64_t> shared_bytes;
  std::optional<int64_t> whole_graph;  // not 0: a graph that was recorded as a whole, by us
  std::optional<int64_t> graph;
  std::optional<int64_t> graph_node;
  std::string_view owner;  // "owner pid": of the process whose work it is, in traces that we wrote
  bool on_stream = false;  // it has an argument that only what runs on a device has
  uint32_t grid[3] = {0, 0, 0};
  uint32_t block[3] = {0, 0, 0};
};

class ChromeParser {
 public:
  ChromeParser();
  ~ChromeParser();
  ChromeParser(const ChromeParser&) = delete;
  ChromeParser& operator=(const ChromeParser&) = delete;

  // Parses |text|, behind which JsonSplitter::kPadding bytes may be read. What is wrong with it, or
  // nothing. |event| refers to |text| and to this object.
  std::optional<std::string> Parse(std::string_view text, ChromeEvent* event);

  // The top-level member "deviceProperties"; empty where |text| is nothing of the kind.
  std::vector<Device> ParseDevices(std::string_view text);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_IMPORT_CHROME_EVENT_H_
