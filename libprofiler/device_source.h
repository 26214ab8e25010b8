// SPDX-License-Identifier: Apache-2.0
//
// The seam between the collector and whatever reports GPU work: CUPTI (cupti_hooks/) in somebody's
// program, the simulated device on virtual time in tests. The collector never includes a source;
// the shared library's generated list of factories (cmake/) names them.
//
// Data flow: a source owns its threads; each converts what it was delivered and appends records to
// a DeviceSink of its own. The collector's background thread writes them out.
#ifndef GPUBOUND_LIBPROFILER_DEVICE_SOURCE_H_
#define GPUBOUND_LIBPROFILER_DEVICE_SOURCE_H_

#include <cstdint>
#include <memory>
#include <string_view>

#include "proto/event_model.h"
#include "proto/ledger_counters.h"

namespace gpubound {

// Where one thread of a source puts its records. Not thread safe: one sink, one thread. Appending
// takes no lock and does not allocate; a record that finds no page is dropped and counted.
class DeviceSink {
 public:
  virtual ~DeviceSink() = default;
  virtual void Append(const ApiRecord& record) = 0;
  virtual void Append(const DeviceRecord& record) = 0;
  virtual void Append(const SyncRecord& record) = 0;
  virtual void Append(const OverheadRecord& record) = 0;
  // Makes everything appended so far visible to the background thread. Call after each batch.
  virtual void Publish() = 0;
};

// What a source may ask of the collector. Every method may be called from any thread and from
// inside a CUDA call. Count, Note and what acts on the calling thread's scopes do not throw; what
// keeps a row throws std::bad_alloc where there is no memory for it. Interning locks and may
// allocate: not for the request callback.
class DeviceHost {
 public:
  virtual ~DeviceHost() = default;

  // A new sink for the calling source thread; lives until the process ends. Null when recording is
  // off for good.
  virtual DeviceSink* NewSink() = 0;

  virtual LabelId InternLabel(LabelKind kind, std::string_view domain, std::string_view text) = 0;
  // 0 where there is no such label yet.
  virtual LabelId FindLabel(LabelKind kind, std::string_view domain, std::string_view text) = 0;
  virtual WorkId InternWork(const WorkInfo& info, std::string_view name) = 0;
  virtual StreamId InternStream(DeviceId device, uint32_t context, uint32_t stream) = 0;
  // Device rows are keyed by info.index; a later call with more detail replaces the row.
  virtual DeviceId DefineDevice(const DeviceInfo& info, std::string_view name) = 0;

  virtual void DefineContext(const ContextInfo& info) = 0;
  virtual void DefineGraphNode(const GraphNodeInfo& info, std::string_view name) = 0;

  // What the calling thread is doing: its innermost open operation, else its innermost annotation,
  // else none.
  virtual LabelId OpenOperation() = 0;

  // Thread-slot writing for ranges that arrive through a source (NVTX). Same cost and rules as
  // scopes of the annotation API; they act on the calling thread.
  virtual LabelId InternRange(std::string_view domain, std::string_view text) = 0;
  virtual void BeginScope(LabelId label) = 0;
  virtual void EndScope(LabelId label) = 0;
  virtual void StartRange(LabelId label, uint64_t range) = 0;
  virtual void EndRange(LabelId label, uint64_t range) = 0;
  virtual void Mark(LabelId label) = 0;

  // Samples beside the trace; |uuid| as in device rows.
  virtual void AddSample(const UtilizationSample& sample, std::string_view uuid) = 0;
  virtual void AddSample(const ProcessTreeSample& sample) = 0;
  virtual void AddSample(const CounterSample& sample) = 0;
  // |uuid| as in device rows. A later call with the same device, pid and |first_ns| replaces it.
  virtual void AddClient(const DeviceClient& client, std::string_view uuid,
                         std::string_view name) = 0;
  // The devices on which streams are known, by number within the process: bit 0 is device 0. Those
  // from 64 on are left out.
  virtual uint64_t DevicesUsed() = 0;

  virtual void Count(LedgerCounter counter, uint64_t amount) = 0;
  // Device work could run unrecorded from |from_ns| to |to_ns| (CLOCK_MONOTONIC); |to_ns| =
  // INT64_MAX means "until further notice", and a later call with the same |from_ns| and |reason|
  // ends it.
  virtual void MarkUnknown(int64_t from_ns, int64_t to_ns, std::string_view reason) = 0;
  // Everything that happened before |until_ns| (CLOCK_MONOTONIC) has been delivered. After a kill,
  // time since the last such call is unknown.
  virtual void DeliveredUntil(int64_t until_ns) = 0;
  // One line for the user, on stderr at most once per distinct text, and into the trace.
  virtual void Note(std::string_view text) = 0;
  // Libraries that the source uses may have registered exit handlers by now, as libcupti does on
  // first use of a part of it, and must not be called once those have run: from here on the
  // recording ends before them. A few times in a process at most.
  virtual void EndBeforeHandlersSoFar() = 0;
  // A row of table `meta`: what costs depend on and only the source knows (proto/schema.h).
  virtual void Fact(std::string_view key, std::string_view value) = 0;
};

// What is behind the end of a recording.
enum class AfterStop : uint8_t {
  kProgramEnds,   // foreign libraries may be gone at any moment
  kProgramGoesOn  // and is to be as if nothing had been recorded
};

class DeviceSource {
 public:
  virtual ~DeviceSource() = default;

  // "cupti", "sim". Static storage.
  virtual const char* name() const = 0;

  // False for one that only samples: it has no clock, and nothing of the device is lost with it.
  virtual bool records_device_work() const { return true; }

  // Starts recording. |host| outlives the source. False: nothing will be recorded, and the reason
  // has been noted through |host|. May be called inside cuInit; makes no CUDA call.
  virtual bool Start(DeviceHost* host) = 0;

  // Reads the source's clock, in ns. False when it has none yet.
  virtual bool ReadClock(int64_t* now_ns) = 0;

  // Said to every source before the first is stopped, so that none is late because another one is:
  // what Stop does begins. Returns at once.
  virtual void PrepareStop(int64_t deadline_ns, AfterStop after) {
    static_cast<void>(deadline_ns);
    static_cast<void>(after);
  }

  // Delivers everything that is complete, waits for outstanding buffers until |deadline_ns|
  // (CLOCK_MONOTONIC), then stops for good: what it would still have to do is left where the
  // program ends, and done later on a thread of its own where it goes on. Once, after Start, from
  // any thread. True: nothing of it acts in the program any more.
  virtual bool Stop(int64_t deadline_ns, AfterStop after) = 0;

  // What Stop has answered, asked again later. Any thread.
  virtual bool HasStopped() const = 0;

  // The program ends, after a Stop with which it went on: what is still to be done is left. From
  // any thread and from a signal handler.
  virtual void Abandon() noexcept {}

  // Another tool of the program, the library |to|, is about to ask for the interface that this
  // source holds: delivers what there is until |deadline_ns| and gives the interface up for good,
  // unless the user wants it kept. On the other tool's thread, also after a Stop with which the
  // program went on.
  virtual void Yield(int64_t deadline_ns, std::string_view to) {
    static_cast<void>(deadline_ns);
    static_cast<void>(to);
  }

  // In a fork child: forget everything, touch no lock, thread or foreign library.
  virtual void AbandonInForkChild() noexcept = 0;
};

using DeviceSourceFactory = std::unique_ptr<DeviceSource> (*)();

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_DEVICE_SOURCE_H_
