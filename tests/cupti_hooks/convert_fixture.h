// SPDX-License-Identifier: Apache-2.0
//
// Puts records of a release of CUPTI into a buffer and converts it. One thread.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_CONVERT_FIXTURE_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_CONVERT_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "cupti_hooks/cupti/activity_convert.h"
#include "tests/cupti_hooks/record_bytes.h"
#include "tests/cupti_hooks/recording_host.h"
#include "tests/cupti_hooks/scripted_cupti.h"

namespace gpubound {

class ConvertFixture : public ::testing::TestWithParam<uint32_t> {
 protected:
  uint32_t version() const { return GetParam(); }

  void Put(const RecordBytes& record) {
    const auto& bytes = record.bytes();
    std::memcpy(reinterpret_cast<uint8_t*>(buffer_.data()) + used_, bytes.data(), bytes.size());
    used_ += bytes.size();
  }
  void Convert() {
    converter_.Convert(reinterpret_cast<uint8_t*>(buffer_.data()), used_);
    counts_ = converter_.TakeCounts();
    used_ = 0;
  }
  const std::vector<DeviceRecord>& work() const { return host_.sink.devices; }

  ScriptedCupti cupti_{version()};
  const CuptiApi api_ = cupti_.api();
  RecordingHost host_;
  WakeSignal worker_;
  CallbackState state_{api_, &host_, QuietApis(), &worker_};
  ActivityConverter converter_{api_, &host_, &host_.sink, &state_};
  std::vector<uint64_t> buffer_ = std::vector<uint64_t>(8192);
  size_t used_ = 0;
  ConvertCounts counts_;
};

// Those whose records differ.
inline auto ReleasesOfCupti() {
  return ::testing::Values(kCupti11_8, kCupti12_0, kCupti12_4, kCupti12_6, kCupti12_8, kCupti13_0,
                           kCupti13_1);
}
inline std::string ReleaseName(const ::testing::TestParamInfo<uint32_t>& param_info) {
  return "version" + std::to_string(param_info.param);
}

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_CONVERT_FIXTURE_H_
