// SPDX-License-Identifier: Apache-2.0
//
// A device source on virtual time: what cupti_hooks is to a real GPU, this is to SimDevice. It
// hands the API calls and device work of a virtual program to the collector through the same seam
// (libprofiler/device_source.h), with the imperfections of a real one on request: another clock,
// delivery out of order and late, losses.
//
// One thread of execution: the test's.
#ifndef GPUBOUND_TESTS_SIM_SIM_SOURCE_H_
#define GPUBOUND_TESTS_SIM_SIM_SOURCE_H_

#include <cstdint>
#include <functional>
#include <vector>

#include "libprofiler/device_source.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

struct SimSourceOptions {
  std::function<TimeNs()> now;   // the virtual clock
  TimeNs clock_offset_ns = 0;    // of the source's clock against it
  bool reverse_batches = false;  // each batch is delivered last record first
  uint32_t drop_every = 0;       // every nth record is lost, and counted
  DeviceInfo device;
};

class SimSource final : public DeviceSource {
 public:
  explicit SimSource(SimSourceOptions options) : options_(std::move(options)) {}

  const char* name() const override { return "sim"; }
  bool Start(DeviceHost* host) override;
  bool ReadClock(int64_t* now_ns) override;
  bool Stop(int64_t deadline_ns, AfterStop after) override;
  bool HasStopped() const override { return true; }
  void AbandonInForkChild() noexcept override;

  // What the device's side of a program did; kept until the next Deliver.
  void AddCall(const ApiFact& call, uint32_t tid);
  void AddWork(const WorkFact& work);
  // Times of the collector's clock, here alone.
  void MarkUnknown(const UnknownFact& unknown);
  // Hands over what was added since, as one batch.
  void Deliver();
  uint64_t dropped() const { return dropped_; }

 private:
  bool Lose();
  template <typename Record>
  void Append(std::vector<Record>* batch);
  uint64_t SourceTime(TimeNs virtual_ns) const;

  const SimSourceOptions options_;
  DeviceHost* host_ = nullptr;
  DeviceSink* sink_ = nullptr;
  DeviceId device_{};
  std::vector<ApiRecord> calls_;
  std::vector<DeviceRecord> work_;
  std::vector<OverheadRecord> overheads_;
  uint64_t records_ = 0;
  uint64_t dropped_ = 0;
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_SIM_SOURCE_H_
