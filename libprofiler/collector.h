// SPDX-License-Identifier: Apache-2.0
//
// One process record, from its first event to its end: owns the mapping, the tables, the flusher
// and the device sources, and hands out thread buffers. lifecycle.h decides when one exists; tests
// make their own, on virtual time and without a thread.
//
// Never destroyed in a program that it records: threads outlive main and go on calling.
#ifndef GPUBOUND_LIBPROFILER_COLLECTOR_H_
#define GPUBOUND_LIBPROFILER_COLLECTOR_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "libprofiler/bystanders.h"
#include "libprofiler/clock.h"
#include "libprofiler/collector_host.h"
#include "libprofiler/cpu_sampler.h"
#include "libprofiler/current_thread.h"
#include "libprofiler/device_source.h"
#include "libprofiler/device_tables.h"
#include "libprofiler/drain.h"
#include "libprofiler/flusher.h"
#include "libprofiler/interner.h"
#include "libprofiler/later_iterations.h"
#include "libprofiler/ledger.h"
#include "libprofiler/live_mapping.h"
#include "libprofiler/page_pool.h"
#include "libprofiler/process_end.h"
#include "libprofiler/process_info.h"
#include "libprofiler/python/stack_sampler.h"
#include "libprofiler/recording_context.h"
#include "libprofiler/run_directory.h"
#include "libprofiler/settings.h"
#include "libprofiler/step_window.h"
#include "libprofiler/task_stats.h"
#include "libprofiler/thread_registry.h"
#include "libprofiler/trace_writer.h"

namespace gpubound {

struct CollectorOptions {
  Settings settings;  // settings.run_directory says where
  ProcessStart start;
  Clock* clock = nullptr;     // outlives the collector; null: the machine's
  bool start_flusher = true;  // false: DrainNow() alone moves events into the trace
  // In a fork child: the parent's names, whose lock was held across the fork. Null: none.
  std::shared_ptr<Interner> labels;
  EmptySegment empty_segment;  // likewise, what its segments begin with
};

class Collector {
 public:
  static constexpr std::chrono::seconds kPatience{2};
  static constexpr std::chrono::seconds kEndPatience{4};  // with the sources and with the trace

  // Null when nothing can be recorded; one line on stderr says why.
  static std::unique_ptr<Collector> Create(CollectorOptions options);

  // Only of a collector that has no flusher thread.
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  // A buffer for the thread |tid|, or null without memory. Any thread.
  ThreadBuffer* RegisterThread(uint32_t tid, const std::string& name);
  // On the thread that |buffer| belongs to, when it ends.
  void UnregisterThread(ThreadBuffer* buffer, const std::string& name);

  // Starts |source| and records its clock from now on; not when the recording has ended, and one
  // that meets its end is stopped at once. A source that cannot start is kept, since it may have
  // told others of itself. One thread at a time.
  void StartSource(std::unique_ptr<DeviceSource> source);

  // True for the first caller: the sources of a process start once.
  bool ClaimSources() { return !sources_claimed_.exchange(true); }

  // This is the process's collector: its host acts through the calling thread's own pointer.
  void UseThreadLocalBuffers() {
    is_this_process_ = true;
    host_->UseThreadLocal();
  }

  // Writes out everything recorded so far.
  void DrainNow() { flusher_->DrainNow(); }

  // Stops the sources and ends the trace, at most |timeout| for each. The program goes on where
  // EndsAsAsked(how) (recording_end.h). Once.
  void Finish(const char* how, std::chrono::milliseconds timeout = kPatience);

  // The same from any thread, which may be inside a signal handler and hold any lock of the
  // program: no lock, no allocation, no loader on it.
  void FinishElsewhere(const char* how) noexcept { flusher_->EndElsewhere(how, kEndPatience); }
  // Until it has been finished so.
  void AwaitEnd() noexcept { flusher_->AwaitEnd(kEndPatience); }

  // Once the trace is closed: nothing of the recording acts any more in a program that goes on,
  // unless a source still does. True: that is all. Any thread.
  bool LeaveProgram();

  // The program ends, after it went on behind the end of the recording. From any thread, which may
  // be inside a signal handler: no lock, no allocation.
  void AbandonSources() noexcept;
  // The recording has ended, and the program goes on.
  bool program_went_on();

  // Has every device source give up what the library |to| wants (DeviceSource::Yield). Any thread.
  void YieldSources(std::string_view to, std::chrono::milliseconds timeout = kPatience);

  // In a fork child of any kind: the sources forget everything. Touches nothing else.
  void AbandonInForkChild() noexcept;

  // A token that no other hand-over of this process has, for the operation |label|; and back.
  uint64_t NewHandOverToken(LabelId label);
  static LabelId LabelOfToken(uint64_t token);

  DeviceHost* host() { return host_.get(); }
  Clock* clock() { return clock_; }
  Ledger* ledger() { return ledger_.get(); }
  const std::shared_ptr<Interner>& labels() { return labels_; }
  const EmptySegment& empty_segment() const { return writer_->empty_segment(); }
  std::mutex& io_mutex() { return flusher_->io_mutex(); }
  const ProcessStart& start() const { return start_; }
  const RunDirectory& directory() const { return directory_; }
  LiveMapping* mapping() { return mapping_.get(); }
  ThreadRegistry* threads() { return threads_.get(); }
  DeviceTables* device_tables() { return device_tables_.get(); }
  RecordingContext* context() { return &context_; }
  Drain* drain() { return drain_.get(); }

  // Whether anybody wants to be told of iterations.
  bool wants_steps() const { return may_end_first_; }
  // The calling thread, which has |buffer|, has recorded that iteration |number| ends at |ticks|.
  void OnStep(ThreadBuffer* buffer, uint64_t number, uint64_t ticks) noexcept;
  // Iteration |number| ends on the thread that has |buffer|, and nothing is recorded any more.
  void OnLaterStep(const ThreadBuffer* buffer, uint64_t number) noexcept;
  // The recording has ended, and with it all that acted in the program, which goes on.
  bool ended() const noexcept { return ended_.load(std::memory_order_acquire); }
  // A thread has recorded that |phase| began.
  void OnPhase(LabelId phase) noexcept {
    if (window_ != nullptr) window_->NotePhase(phase);
  }

 private:
  Collector() = default;
  bool Build(CollectorOptions options);
  void GoOnUnrecorded();

  // In the order of construction; each uses those above it.
  ProcessStart start_;
  RunDirectory directory_;
  std::unique_ptr<StepWindow> window_;  // null: all of the run is recorded
  bool may_end_first_ = false;          // the recording is to end while the program goes on
  std::unique_ptr<Clock> own_clock_;
  Clock* clock_ = nullptr;
  std::unique_ptr<LiveMapping> mapping_;
  std::unique_ptr<Ledger> ledger_;
  std::unique_ptr<PagePool> pool_;
  RecordingContext context_;
  std::shared_ptr<Interner> labels_;
  std::unique_ptr<DeviceTables> device_tables_;
  std::unique_ptr<ThreadRegistry> threads_;
  std::unique_ptr<FrameTable> frames_;
  std::unique_ptr<TraceWriter> writer_;
  std::unique_ptr<Drain> drain_;
  std::unique_ptr<Bystanders> bystanders_;
  LastThreadWatch last_thread_;
  std::unique_ptr<TaskStats> task_stats_;
  std::unique_ptr<CpuSampler> cpu_sampler_;      // null on virtual time
  std::unique_ptr<StackSampler> stack_sampler_;  // null where no Python is, or none is wanted
  std::unique_ptr<Flusher> flusher_;
  std::unique_ptr<CollectorHost> host_;

  // A source is there before it is started, and is stopped by Finish or, where that has come before
  // it was started, by who started it. What is there stays where it is: a fork child and a signal
  // handler look at it without the lock.
  static constexpr size_t kMaxSources = 8;
  std::array<std::unique_ptr<DeviceSource>, kMaxSources> sources_;
  std::atomic<size_t> sources_there_{0};
  std::atomic<size_t> sources_started_{0};
  std::mutex stop_mutex_;
  std::optional<AfterStop> stopped_;  // guarded by stop_mutex_
  std::atomic<bool> sources_claimed_{false};
  bool is_this_process_ = false;
  std::atomic<ThreadBuffer*> stepping_{nullptr};  // of the thread that was the first to step
  std::atomic<bool> abandoned_{false};
  std::atomic<bool> left_program_{false};
  std::atomic<bool> ended_{false};
  std::atomic<LaterIterations*> later_{nullptr};  // |own_later_| once it is there
  std::unique_ptr<LaterIterations> own_later_;
  std::atomic<uint64_t> next_token_{1};
};

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_COLLECTOR_H_
