// SPDX-License-Identifier: Apache-2.0
//
// Builds and ends a process record.
#include "libprofiler/collector.h"

#include <exception>
#include <utility>

#include "libprofiler/api_table.h"
#include "libprofiler/debug_log.h"
#include "libprofiler/lifecycle.h"
#include "libprofiler/log.h"
#include "libprofiler/native_waits.h"
#include "libprofiler/unrecorded.h"
#include "proto/invariant_tsc.h"
#include "proto/recording_end.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

// Threads with a page of their own at a time, beyond what the pool begins with.
constexpr uint32_t kPagesForThreads = 4096;

}  // namespace

std::unique_ptr<Collector> Collector::Create(CollectorOptions options) {
  std::unique_ptr<Collector> collector(new Collector());
  if (!collector->Build(std::move(options))) return nullptr;
  return collector;
}

Collector::~Collector() = default;

bool Collector::Build(CollectorOptions options) {
  start_ = options.start;
  const Settings& settings = options.settings;
  // Our thread would keep alive a program whose main thread ends first.
  if (!last_thread_.CanSee()) {
    constexpr char kWhy[] =
        "/proc/self/stat, which says when a program's last thread has ended, cannot be opened";
    LeaveUnrecorded(start_, kWhy);
    LogOnce("%s; nothing is recorded", kWhy);
    return false;
  }
  if (!directory_.Open(settings.run_directory, start_)) {
    LeaveUnrecorded(start_, "nothing could be written to the run directory");
    return false;
  }
  StartDebugLog(directory_.path().c_str(), start_);
  DebugLog("gpubound %s writes into %s%s", GPUBOUND_VERSION, directory_.path().c_str(),
           directory_.is_network() ? ", on a network file system" : "");
  if (!settings.steps.is_all()) {
    window_ = std::make_unique<StepWindow>(settings.steps, directory_.StepsPath());
    if (window_->over()) {
      DebugLog("nothing is recorded: the iterations of GPUBOUND_STEPS are over");
      return false;
    }
  }
  may_end_first_ = window_ != nullptr || settings.end_ns != 0;
  clock_ = options.clock;
  if (clock_ == nullptr) {
    own_clock_ = std::make_unique<SystemClock>(TscIsInvariant());
    clock_ = own_clock_.get();
  }

  DebugLog("scopes read %s",
           clock_->ticks_are_tsc() ? "the time stamp counter" : "CLOCK_MONOTONIC");
  const LiveMapping::Identity identity{start_.pid, start_.realtime_ns, start_.monotonic_ns,
                                       clock_->ticks_are_tsc()};
  mapping_ = LiveMapping::Create(directory_.is_network() ? std::string() : directory_.LivePath(),
                                 settings.live_pages, identity, kPagesForThreads);
  if (mapping_ == nullptr) {
    LeaveUnrecorded(start_, "there was no memory");
    LogOnce("no memory for %u pages of 64 KiB; nothing is recorded. Set GPUBOUND_LIVE_PAGES lower",
            settings.live_pages);
    return false;
  }
  ledger_ = std::make_unique<Ledger>(mapping_->header()->ledger);
  pool_ = std::make_unique<PagePool>(mapping_.get(), ledger_.get());
  context_.mapping = mapping_.get();
  context_.pool = pool_.get();
  context_.ledger = ledger_.get();

  labels_ = std::move(options.labels);
  if (labels_ == nullptr) {
    labels_ = std::make_shared<Interner>(settings.max_labels, mapping_.get(), ledger_.get());
  } else {
    labels_->MoveTo(mapping_.get(), ledger_.get());
  }
  device_tables_ = std::make_unique<DeviceTables>(ledger_.get());
  threads_ = std::make_unique<ThreadRegistry>(&context_);
  frames_ = std::make_unique<FrameTable>();
  writer_ = std::make_unique<TraceWriter>(
      directory_, start_, clock_->ticks_are_tsc(), settings.segment_bytes,
      TraceWriter::Tables{labels_.get(), device_tables_.get(), frames_.get(), threads_.get(),
                          ledger_.get()},
      window_.get(), std::move(options.empty_segment));
  // The drain reads the clocks once now and once when the database is open, some milliseconds
  // later.
  drain_ = std::make_unique<Drain>(&context_, writer_.get(), clock_, settings.compression);
  if (!writer_->Open()) {
    LeaveUnrecorded(start_, "its database could not be written");
    mapping_->RemoveFile();
    return false;
  }
  drain_->SampleClocksAtStart();
  bystanders_ =
      std::make_unique<Bystanders>(start_, sources_claimed_, device_tables_.get(), ledger_.get());
  if (own_clock_ != nullptr && options.start_flusher) {
    task_stats_ = std::make_unique<ProcTaskStats>();
    cpu_sampler_ = std::make_unique<CpuSampler>(&context_, clock_, task_stats_.get());
    const InterpreterAddress python = FoundInterpreter();
    if (settings.stacks_per_second != 0 && python.runtime != 0) {
      stack_sampler_ = std::make_unique<StackSampler>(python, &context_, clock_, task_stats_.get(),
                                                      frames_.get(), device_tables_.get(),
                                                      settings.stacks_per_second);
    }
  }
  const auto end = [this](const char* how) {
    LookForPython();
    Finish(how);
  };
  flusher_ = std::make_unique<Flusher>(
      Flusher::Parts{drain_.get(), writer_.get(), pool_.get(), mapping_.get(), clock_,
                     bystanders_.get(), cpu_sampler_.get(), stack_sampler_.get(), &last_thread_,
                     end, [this] { return LeaveProgram(); }, settings.end_ns, window_.get(),
                     &FinishRecording, start_.forked},
      std::chrono::milliseconds(settings.flush_ms));
  host_ = std::make_unique<CollectorHost>(this);
  mapping_->Announce();
  if (!options.start_flusher || flusher_->Start()) return true;
  LeaveUnrecorded(start_, "the background thread could not be started");
  LogOnce("the background thread could not be started; nothing is recorded");
  mapping_->RemoveFile();
  return false;
}

ThreadBuffer* Collector::RegisterThread(uint32_t tid, const std::string& name) {
  return threads_->Register(tid, name);
}

void Collector::UnregisterThread(ThreadBuffer* buffer, const std::string& name) {
  if (is_this_process_) WakeJoiners(buffer);
  // Where there is no room for it, the label is another one.
  const LabelId ended =
      labels_->Intern(LabelKind::kLayer, Layer::kWait, kThreadEndDomain, kThreadEndText);
  buffer->Begin(ended, clock_->Ticks());
  context_.ended_threads.fetch_add(1, std::memory_order_relaxed);
  threads_->Unregister(buffer, name);
}

void Collector::StartSource(std::unique_ptr<DeviceSource> source) {
  const size_t place = sources_there_.load(std::memory_order_relaxed);
  {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    if (stopped_ || place == kMaxSources) return;
  }
  DeviceSource* const started = source.get();
  sources_[place] = std::move(source);
  sources_there_.store(place + 1, std::memory_order_release);
  const bool records = started->records_device_work();
  // Until its first delivery, whatever it has seen would be lost with the process.
  if (records) drain_->SetDeliveredUntil(clock_->MonotonicNs());
  // Outside the lock: a source calls back into the host, and may call into CUPTI.
  const bool works = started->Start(host_.get());
  std::optional<AfterStop> stopped;
  {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    stopped = stopped_;
    sources_started_.store(place + 1, std::memory_order_release);
  }
  if (stopped) {
    started->Stop(clock_->MonotonicNs(), *stopped);
  } else if (records && works) {
    drain_->SetSource(started);
  }
}

void Collector::Finish(const char* how, std::chrono::milliseconds timeout) {
  const AfterStop after = EndsAsAsked(how) ? AfterStop::kProgramGoesOn : AfterStop::kProgramEnds;
  size_t started = 0;
  {
    const std::lock_guard<std::mutex> lock(stop_mutex_);
    stopped_ = after;
    started = sources_started_.load(std::memory_order_relaxed);
  }
  const int64_t deadline_ns = clock_->MonotonicNs() + std::chrono::nanoseconds(timeout).count();
  for (size_t i = 0; i < started; ++i) sources_[i]->PrepareStop(deadline_ns, after);
  for (size_t i = 0; i < started; ++i) sources_[i]->Stop(deadline_ns, after);
  threads_->RefreshNames();
  if (is_this_process_) StopNativeWaits();
  context_.finished.store(true, std::memory_order_release);
  // What takes longer, the background thread waits for.
  if (flusher_->Finish(how, timeout)) LeaveProgram();
}

bool Collector::LeaveProgram() {
  if (!program_went_on() || abandoned_.load(std::memory_order_acquire)) return true;
  const size_t started = sources_started_.load(std::memory_order_acquire);
  for (size_t i = 0; i < started; ++i) {
    if (!sources_[i]->HasStopped()) return false;
  }
  if (!left_program_.exchange(true)) GoOnUnrecorded();
  return true;
}

// What its iterations take from here on is what they take without the profiler.
void Collector::GoOnUnrecorded() {
  if (is_this_process_) StopRecordingScopes();
  const bool has_iterations = stepping_.load() != nullptr;
  try {
    if (has_iterations && !directory_.is_network()) {
      own_later_ = LaterIterations::Create(directory_.LaterPath());
    }
  } catch (const std::exception&) {  // out of memory: the trace is whole without them
  }
  later_.store(own_later_.get(), std::memory_order_release);
  ended_.store(true, std::memory_order_release);
}

void Collector::OnStep(ThreadBuffer* buffer, uint64_t number, uint64_t ticks) noexcept {
  const int64_t now_ns = clock_->MonotonicNs();
  ThreadBuffer* nobody = nullptr;
  stepping_.compare_exchange_strong(nobody, buffer, std::memory_order_relaxed);
  if (window_ != nullptr) {
    if (window_->OnStep(number, now_ns, ticks))
      pool_->Wake();  // its begin or its end is to be noted
    const LabelId phase = window_->TakePhase();
    if (phase != LabelId{}) buffer->Emit(SlotKind::kPhase, phase, ticks);
  }
}

void Collector::OnLaterStep(const ThreadBuffer* buffer, uint64_t number) noexcept {
  LaterIterations* const later = later_.load(std::memory_order_acquire);
  if (later == nullptr || buffer != stepping_.load(std::memory_order_relaxed)) return;
  later->Add(number, clock_->MonotonicNs());
}

void Collector::AbandonSources() noexcept {
  abandoned_.store(true, std::memory_order_release);
  const size_t started = sources_started_.load(std::memory_order_acquire);
  for (size_t i = 0; i < started; ++i) sources_[i]->Abandon();
}

bool Collector::program_went_on() {
  const std::lock_guard<std::mutex> lock(stop_mutex_);
  return stopped_ == AfterStop::kProgramGoesOn;
}

void Collector::YieldSources(std::string_view to, std::chrono::milliseconds timeout) {
  const size_t started = sources_started_.load(std::memory_order_acquire);
  const int64_t deadline_ns = clock_->MonotonicNs() + std::chrono::nanoseconds(timeout).count();
  for (size_t i = 0; i < started; ++i) sources_[i]->Yield(deadline_ns, to);
}

void Collector::AbandonInForkChild() noexcept {
  last_thread_.CloseInForkChild();
  if (mapping_ != nullptr) mapping_->CloseInForkChild();
  if (task_stats_ != nullptr) task_stats_->CloseInForkChild();
  const size_t there = sources_there_.load(std::memory_order_acquire);
  for (size_t i = 0; i < there; ++i) sources_[i]->AbandonInForkChild();
}

uint64_t Collector::NewHandOverToken(LabelId label) {
  return (next_token_.fetch_add(1, std::memory_order_relaxed) << kSlotLabelBits) | Raw(label);
}

LabelId Collector::LabelOfToken(uint64_t token) {
  return static_cast<LabelId>(token & (kMaxLabels - 1));
}

}  // namespace gpubound
