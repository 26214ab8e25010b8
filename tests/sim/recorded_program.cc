// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/recorded_program.h"

#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "libprofiler/collector.h"
#include "tests/sim/sim_source.h"

namespace gpubound::sim {
namespace {

// Virtual time 0 on the timeline of the trace: not 0 there, since clocks read 0 before they run.
constexpr int64_t kEpochNs = 1'000'000'000;
constexpr int64_t kRealtimeOffsetNs = 1'600'000'000'000'000'000;

class VirtualClock final : public Clock {
 public:
  void Set(TimeNs virtual_ns) { now_ns_ = kEpochNs + virtual_ns; }
  int64_t now_ns() const { return now_ns_; }

  bool ticks_are_tsc() const override { return false; }
  uint64_t Ticks() override { return static_cast<uint64_t>(now_ns_); }
  int64_t MonotonicNs() override { return now_ns_; }
  ClockSample Sample(DeviceSource* source) override {
    ClockSample sample = {.ticks = Ticks(),
                          .monotonic_ns = now_ns_,
                          .realtime_ns = now_ns_ + kRealtimeOffsetNs,
                          .source_ns = 0,
                          .width_ns = 0};
    int64_t source_ns = 0;
    if (source != nullptr && source->ReadClock(&source_ns)) sample.source_ns = source_ns;
    return sample;
  }

 private:
  int64_t now_ns_ = kEpochNs;
};

class Recorder final : public EventSink {
 public:
  Recorder(const VirtualProgram& program, const RecordingOptions& options, VirtualClock* clock,
           Collector* collector)
      : options_(options), clock_(clock), collector_(collector), random_(options.seed) {
    for (const VirtualThread& thread : program.threads) {
      tids_.push_back(thread.tid);
      buffers_.push_back(
          collector->RegisterThread(thread.tid, "virtual " + std::to_string(thread.tid)));
    }
    SimSourceOptions source_options;
    source_options.now = [clock] { return clock->now_ns(); };
    source_options.clock_offset_ns = options.source_offset_ns;
    source_options.reverse_batches = options.reverse_batches;
    source_options.device = program.limits;
    auto source = std::make_unique<SimSource>(std::move(source_options));
    source_ = source.get();
    collector->StartSource(std::move(source));
  }

  void OnTime(TimeNs now) override {
    if (options_.drain_one_in != 0 && random_() % options_.drain_one_in == 0) {
      if (random_() % 2 == 0) source_->Deliver();
      collector_->DrainNow();
    }
    clock_->Set(now);
  }
  void OnBegin(uint32_t thread, const ScopeName& name, TimeNs) override {
    buffers_[thread]->Begin(LabelOf(name), clock_->Ticks());
  }
  void OnEnd(uint32_t thread, const ScopeName& name, TimeNs) override {
    buffers_[thread]->End(LabelOf(name), clock_->Ticks());
  }
  void OnRangeStart(uint32_t thread, const ScopeName& name, uint64_t range, TimeNs) override {
    buffers_[thread]->EmitWithPayload(SlotKind::kRangeStart, LabelOf(name), range, clock_->Ticks());
  }
  void OnRangeEnd(uint32_t thread, uint64_t range, TimeNs) override {
    buffers_[thread]->EmitWithPayload(SlotKind::kRangeEnd, LabelId{}, range, clock_->Ticks());
  }
  void OnPause(const PauseFact& pause) override {
    buffers_[pause.thread]->Emit(pause.pauses ? SlotKind::kPause : SlotKind::kResume, LabelId{},
                                 clock_->Ticks());
  }
  void OnPhase(uint32_t thread, const std::string& name, TimeNs) override {
    const LabelId label = collector_->labels()->Intern(LabelKind::kPhase, Layer::kUnset, "", name);
    buffers_[thread]->Emit(SlotKind::kPhase, label, clock_->Ticks());
  }
  void OnStep(uint32_t thread, uint64_t iteration, TimeNs) override {
    buffers_[thread]->EmitWithPayload(SlotKind::kStep, LabelId{}, iteration, clock_->Ticks());
  }
  void OnCall(const ApiFact& call) override { source_->AddCall(Shifted(call), tids_[call.thread]); }
  void OnWork(const WorkFact& work) override {
    WorkFact shifted = work;
    shifted.begin_ns += kEpochNs;
    shifted.end_ns += kEpochNs;
    source_->AddWork(shifted);
  }

  void OnUnknown(const UnknownFact& unknown) override {
    const bool is_open = unknown.to_ns == kStillUnknown;
    source_->MarkUnknown(
        {kEpochNs + unknown.from_ns, is_open ? kStillUnknown : kEpochNs + unknown.to_ns});
  }

  void Finish(TimeNs span_ns) {
    clock_->Set(span_ns);
    for (ThreadBuffer* buffer : buffers_) collector_->UnregisterThread(buffer, "virtual");
    collector_->Finish("exit");
  }

 private:
  static ApiFact Shifted(ApiFact call) {
    for (TimeNs* time :
         {&call.begin_ns, &call.end_ns, &call.queue_full_from_ns, &call.queue_full_to_ns}) {
      *time += kEpochNs;
    }
    return call;
  }
  LabelId LabelOf(const ScopeName& name) {
    return collector_->labels()->Intern(name.kind, name.layer, name.domain, name.text);
  }

  const RecordingOptions& options_;
  VirtualClock* const clock_;
  Collector* const collector_;
  SimSource* source_ = nullptr;  // the collector's
  std::vector<uint32_t> tids_;
  std::vector<ThreadBuffer*> buffers_;
  std::mt19937_64 random_;
};

}  // namespace

bool RecordProgram(const VirtualProgram& program, const RecordingOptions& options,
                   History* history) {
  VirtualClock clock;
  CollectorOptions collector_options;
  collector_options.settings.run_directory = options.run_directory;
  collector_options.settings.segment_bytes = options.segment_bytes;
  collector_options.start = {
      .realtime_ns = kEpochNs + kRealtimeOffsetNs, .monotonic_ns = kEpochNs, .pid = options.pid};
  collector_options.clock = &clock;
  collector_options.start_flusher = false;
  const std::unique_ptr<Collector> collector = Collector::Create(std::move(collector_options));
  if (collector == nullptr) return false;
  Recorder recorder(program, options, &clock, collector.get());
  *history = Execute(program, &recorder);
  recorder.Finish(history->span_ns);
  return true;
}

}  // namespace gpubound::sim
