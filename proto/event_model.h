// SPDX-License-Identifier: Apache-2.0
//
// The events that the recording half produces and the reading half consumes, as fixed-size values
// with a pinned layout. Everything here is plain data: no ownership, no thread rule, no I/O.
//
// Two kinds:
//   * Thread slots: 8 bytes each, written by the thread that they describe, stamped in ticks.
//     They are the hot path; the layout is drawn at `Slot`.
//   * Records (ApiRecord, DeviceRecord, SyncRecord, OverheadRecord): written by a device source
//     when CUPTI delivers them, stamped in nanoseconds of the device source's clock; and
//     CpuTimeRecord and StackRecord, written by the recorder itself in nanoseconds of
//     CLOCK_MONOTONIC.
#ifndef GPUBOUND_PROTO_EVENT_MODEL_H_
#define GPUBOUND_PROTO_EVENT_MODEL_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace gpubound {

// Distinct types for distinct ids. Zero is "none" for each of them.
enum class LabelId : uint32_t {};     // a row of table `label`
enum class WorkId : uint32_t {};      // a row of table `work`: kernel name and launch geometry
enum class StreamId : uint32_t {};    // a row of table `stream`: (device, context, stream)
enum class DeviceId : uint32_t {};    // a row of table `device`
enum class ThreadId : uint32_t {};    // ordinal of a thread within its process, from 1
enum class FunctionId : uint32_t {};  // a row of table `function`
enum class FrameId : uint32_t {};     // a row of table `frame`: a function, and how it was called

template <typename Id>
constexpr uint32_t Raw(Id id) {
  static_assert(std::is_enum_v<Id>);
  return static_cast<uint32_t>(id);
}

// What a label names. Stored in `label.kind`; values are part of the format.
enum class LabelKind : uint8_t {
  kNone = 0,
  kOperation = 1,   // GPUBOUND_OPERATION, gpubound.operation()
  kAnnotation = 2,  // a foreign range: NVTX, record_function; `domain` says whose
  kLayer = 3,       // a scope that only switches the layer; `layer` says to which
  kPhase = 4,
  kCounter = 5,
  kApi = 6,       // a CUDA API function, versioned suffix removed
  kOverhead = 7,  // a kind of CUPTI overhead
};

// What a thread executes (SPEC section 1). Order is the order of refinement, shallow to deep, for
// the values between kWait and kCudaApi; kPython is never refined to. Values are part of the
// format.
enum class Layer : uint8_t {
  kUnset = 0,
  kPython = 1,
  kWait = 2,
  kNative = 3,
  kSimulator = 4,
  kBackend = 5,
  kCudaSync = 6,
  kCudaApi = 7,
};

// One slot of a thread's page, and the eight bytes that the hot path stores:
//
//   63                 44 43   40 39                                    0
//  +----------------------+-------+---------------------------------------+
//  | label id             | kind  | ticks since the page's base_ticks     |
//  +----------------------+-------+---------------------------------------+
//
// Ticks at the bottom need no shift, and a label too large for its place loses bits at the top
// instead of spilling into another field: what the hot path would otherwise spend instructions on.
//
// A slot is never zero (kind >= 1), so that a page which was zeroed before use tells a reader how
// many slots were written. Kinds marked "+payload" are followed by one slot that holds 64 bits of
// payload of any value; the payload is stored before its head.
using Slot = uint64_t;

enum class SlotKind : uint8_t {
  kBegin = 1,        // a scope of the label's kind opens
  kEnd = 2,          // the innermost open scope with this label closes
  kPhase = 3,        // process-wide, holds until the next
  kStep = 4,         // +payload: number of the iteration that ends here, or kIterationsBegin
  kCounter = 5,      // +payload: bits of a double
  kRangeStart = 6,   // +payload: range id; start/end ranges may cross threads
  kRangeEnd = 7,     // +payload: range id
  kMark = 8,         // an instant
  kAdopt = 9,        // +payload: token taken up by this thread, a kBegin of the operation handed
                     // over follows; without a label: it came for what a wake had offered
  kHandOver = 10,    // +payload: token offered by this thread, for the label's operation; if it has
                     // none, a wake: who waits for the payload goes on (kWoken), or comes for it
  kPause = 11,       // recording off in this process
  kResume = 12,      // recording on again
  kUnbalanced = 13,  // an end without a begin was seen and ignored (label says which)
  kWoken = 14,       // +payload: this thread, in a wait, goes on as the latest kHandOver of the
                     // payload without a label let it
};
inline constexpr SlotKind kLastSlotKind = SlotKind::kWoken;

inline constexpr int kSlotTickBits = 40;
inline constexpr int kSlotKindBits = 4;
inline constexpr int kSlotLabelBits = 20;
inline constexpr uint32_t kMaxLabels = 1u << kSlotLabelBits;
// Of a scope that is a block of the program's text, as GPUBOUND_LABEL_BLOCK of the annotation API:
// a bit of what begins and ends it that a slot has no place for.
inline constexpr uint32_t kBlockScope = kMaxLabels;
inline constexpr uint64_t kMaxSlotTicks = (uint64_t{1} << kSlotTickBits) - 1;

constexpr Slot MakeSlot(SlotKind kind, LabelId label, uint64_t ticks_since_base) {
  return (uint64_t{Raw(label)} << (kSlotTickBits + kSlotKindBits)) |
         (static_cast<uint64_t>(kind) << kSlotTickBits) | ticks_since_base;
}
// label << 4 | kind: what the trace stores of a slot beside its time.
constexpr uint64_t CodeOf(Slot slot) { return slot >> kSlotTickBits; }
constexpr SlotKind KindOf(Slot slot) { return static_cast<SlotKind>(CodeOf(slot) & 0xf); }
constexpr LabelId LabelOf(Slot slot) {
  return static_cast<LabelId>(slot >> (kSlotTickBits + kSlotKindBits));
}
constexpr uint64_t TicksOf(Slot slot) { return slot & kMaxSlotTicks; }
inline constexpr int kSlotCodeBits = kSlotKindBits + kSlotLabelBits;
constexpr bool HasPayload(SlotKind kind) {
  switch (kind) {
    case SlotKind::kStep:
    case SlotKind::kCounter:
    case SlotKind::kRangeStart:
    case SlotKind::kRangeEnd:
    case SlotKind::kAdopt:
    case SlotKind::kHandOver:
    case SlotKind::kWoken:
      return true;
    default:
      return false;
  }
}

// What a slot says, with its payload, once its time is known.
struct ThreadEvent {
  int64_t time_ns = 0;   // trace time
  uint64_t payload = 0;  // 0 where the kind has none
  LabelId label{};       // of an end: the scope's
  SlotKind kind = SlotKind::kMark;
};

// The payload of a step that ends no iteration: one begins there.
inline constexpr uint64_t kIterationsBegin = UINT64_MAX;
constexpr bool BeginsIterations(SlotKind kind, uint64_t payload) {
  return kind == SlotKind::kStep && payload == kIterationsBegin;
}

// One CUDA API call (CUPTI RUNTIME and DRIVER activity). Times in ns of the device source's clock.
struct ApiRecord {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t correlation;  // 32 bit, wraps
  uint32_t tid;          // system thread id
  LabelId label;         // LabelKind::kApi
  int32_t result;        // 0 = success
};
static_assert(sizeof(ApiRecord) == 32 && std::is_trivially_copyable_v<ApiRecord>);

// What a piece of device work is. Stored in `work.kind`; values are part of the format.
enum class WorkKind : uint8_t { kNone = 0, kKernel = 1, kMemcpy = 2, kMemset = 3, kGraph = 4 };

// One piece of device work. Name, geometry and kind are in the `work` row.
struct DeviceRecord {
  uint64_t start_ns;  // ns of the device source's clock
  uint64_t end_ns;
  uint64_t bytes;       // copies and sets; 0 for kernels
  uint64_t graph_node;  // CUPTI graph node id, 0 outside graphs
  uint32_t correlation;
  StreamId stream;
  WorkId work;
  uint32_t graph;  // CUPTI graph id, 0 outside graphs
};
static_assert(sizeof(DeviceRecord) == 48 && std::is_trivially_copyable_v<DeviceRecord>);

// One synchronisation as CUPTI's SYNCHRONIZATION kind reports it. `type` is CUPTI's own number.
struct SyncRecord {
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t event;  // CUDA event id, 0 when not about an event
  uint32_t correlation;
  uint32_t type;
  uint32_t context;
  uint32_t stream;
};
static_assert(sizeof(SyncRecord) == 40 && std::is_trivially_copyable_v<SyncRecord>);

// One CUPTI OVERHEAD record. `label` names the kind.
struct OverheadRecord {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t correlation;  // of the API call it interrupted, 0 if CUPTI does not say
  uint32_t tid;
  LabelId label;
  uint32_t reserved;
};
static_assert(sizeof(OverheadRecord) == 32 && std::is_trivially_copyable_v<OverheadRecord>);

// How long the thread |tid| was on a CPU, and ready to run without one, between two looks at it
// (libprofiler/cpu_sampler.h); in the rest it was blocked. The records of a thread do not overlap;
// where they leave a gap nothing is known. One with neither stands for a stretch of any number of
// looks between which the thread was blocked all the time. It alone may reach into the records
// beside it, by no more than these leave room for: there the thread most likely was blocked too.
struct CpuTimeRecord {
  uint64_t start_ns;
  uint64_t end_ns;
  uint64_t on_cpu_ns;
  uint64_t ready_ns;     // or kReadyNotKnown
  uint32_t correlation;  // every record has one; 0
  uint32_t tid;
};
static_assert(sizeof(CpuTimeRecord) == 40 && std::is_trivially_copyable_v<CpuTimeRecord>);

// The kernel tells only how long the thread was on a CPU: whether it was ready or blocked in the
// rest is not known.
inline constexpr uint64_t kReadyNotKnown = UINT64_MAX;

// Looks at the stack of the thread |tid|, which did not run between them (libprofiler/python): |looks|
// of them, the first at |start_ns|, the last at |end_ns|, the others about evenly in between.
struct StackRecord {
  uint64_t start_ns;
  uint64_t end_ns;
  uint32_t correlation;  // every record has one; 0
  uint32_t tid;
  FrameId frame;  // the innermost
  uint32_t looks;
  uint32_t runnable;  // of them: the thread was on a CPU, or ready to run
  uint32_t reserved;
};
static_assert(sizeof(StackRecord) == 40 && std::is_trivially_copyable_v<StackRecord>);

// Added to WorkInfo::copy_kind: the record says that a copy keeps the device at its other end busy
// too. It is the copy's second record and counts as no copy of its own.
inline constexpr uint8_t kCopyOtherEnd = 0x80;

// The kernel launch or copy behind a WorkId: interned once per distinct value.
struct WorkInfo {
  WorkKind kind = WorkKind::kNone;
  uint8_t copy_kind = 0;  // CUpti_ActivityMemcpyKind, 0 for other work
  uint32_t grid[3] = {0, 0, 0};
  uint32_t block[3] = {0, 0, 0};
  uint32_t registers_per_thread = 0;
  uint32_t static_shared_bytes = 0;
  uint32_t dynamic_shared_bytes = 0;
  friend bool operator==(const WorkInfo&, const WorkInfo&) = default;
  bool is_other_end() const {
    return kind == WorkKind::kMemcpy && (copy_kind & kCopyOtherEnd) != 0;
  }
};

// Limits of one device, as CUPTI's DEVICE record gives them. Zero where unknown.
struct DeviceInfo {
  uint32_t index = 0;  // CUDA device ordinal in this process
  uint32_t multiprocessors = 0;
  uint32_t max_warps_per_multiprocessor = 0;
  uint32_t max_blocks_per_multiprocessor = 0;
  uint32_t max_registers_per_multiprocessor = 0;
  uint32_t max_shared_bytes_per_multiprocessor = 0;
  uint32_t threads_per_warp = 32;
  uint32_t compute_capability_major = 0;
  uint32_t compute_capability_minor = 0;
  uint64_t memory_bytes = 0;
  bool simulated = false;
  bool is_mig = false;  // a slice of a device, with an identity of its own
  uint8_t uuid[16] = {};
};

// A context of a device as CUPTI describes it (12.4): a green one has a part of the
// multiprocessors.
struct ContextInfo {
  uint32_t device = 0;   // number within the process, as DeviceInfo::index
  uint32_t context = 0;  // as in stream rows
  uint32_t parent = 0;   // the context that it was made of; 0 none
  uint32_t multiprocessors = 0;
  bool is_green = false;
};

// One node of an executable CUDA graph: what the records of its executions do not tell.
struct GraphNodeInfo {
  uint64_t node = 0;    // as DeviceRecord::graph_node
  uint32_t graph = 0;   // as DeviceRecord::graph; 0 where CUPTI does not tell
  uint32_t type = 0;    // CUgraphNodeType
  LabelId operation{};  // open on the thread that captured it; 0 none
};

// What a sample does not tell.
inline constexpr int kNotKnown = -1;

// What NVML said of one device. Times are CLOCK_MONOTONIC.
struct UtilizationSample {
  int64_t time_ns = 0;
  int32_t gpu_percent = kNotKnown;     // of NVML's last window in which any kernel ran
  int32_t memory_percent = kNotKnown;  // ... in which memory was read or written
  int64_t memory_used_bytes = kNotKnown;
  int32_t power_mw = kNotKnown;
  int32_t sm_mhz = kNotKnown;
  int32_t memory_mhz = kNotKnown;
};

// A process that NVML listed on a device. Times are CLOCK_MONOTONIC, of samples.
struct DeviceClient {
  uint32_t pid = 0;
  bool through_mps = false;
  int64_t first_ns = 0;         // of the first sample that lists it
  int64_t last_ns = INT64_MAX;  // of the last one, once another does not
};

// Hardware counters of one device over a short interval, in percent of what the hardware can
// sustain.
enum class CounterQuantity : uint8_t {
  kSmActive = 0,        // multiprocessors with a warp on them
  kWarpsActive = 1,     // warps on the multiprocessors: achieved occupancy
  kDramThroughput = 2,  // of the device's memory
};
inline constexpr size_t kCounterQuantities = 3;
struct CounterSample {
  uint32_t device = 0;  // number within the process, as DeviceInfo::index
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  std::array<double, kCounterQuantities> percent = {kNotKnown, kNotKnown, kNotKnown};
};

// What a process and everything that it started have used so far.
struct ProcessTreeSample {
  int64_t time_ns = 0;
  uint32_t processes = 0;
  int64_t cpu_ns = 0;
  int64_t resident_bytes = 0;
  int64_t run_delay_ns = 0;  // ready to run, without a CPU
};

// What a page and a chunk hold. Values are part of the format.
enum class EventFamily : uint8_t {
  kNone = 0,
  kThread = 1,    // Slot
  kApi = 2,       // ApiRecord
  kDevice = 3,    // DeviceRecord
  kSync = 4,      // SyncRecord
  kOverhead = 5,  // OverheadRecord
  kCpuTime = 6,   // CpuTimeRecord
  kStack = 7,     // StackRecord
};
inline constexpr EventFamily kLastEventFamily = EventFamily::kStack;

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_EVENT_MODEL_H_
