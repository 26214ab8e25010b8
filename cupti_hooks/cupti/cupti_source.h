// SPDX-License-Identifier: Apache-2.0
//
// The NVIDIA device source: CUPTI's activity records, delivered twice a second by a thread of its
// own. Failure of any kind leaves the program as it was, says why once, and makes the time in which
// device work could have run unrecorded `unknown`.
//
// Threads: the program's (CUPTI asks for buffers inside CUDA calls), CUPTI's (which completes
// them), ours (which flushes, converts and ends). The first two take no lock of ours for records;
// the program's take one where they make, clone, destroy or instantiate CUDA graphs, and launch
// them while graphs are recorded as a whole (graph_nodes.h).
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SOURCE_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SOURCE_H_

#include <atomic>
#include <memory>
#include <string>

#include "cupti_hooks/cupti/api_functions.h"
#include "cupti_hooks/cupti/cupti_api.h"
#include "cupti_hooks/cupti/cupti_library.h"
#include "cupti_hooks/cupti/cupti_session.h"
#include "libprofiler/device_source.h"

namespace gpubound {

struct CuptiOptions {
  bool enabled = true;              // GPUBOUND_CUPTI
  std::string library_path;         // GPUBOUND_CUPTI_LIBRARY
  uint32_t buffer_mebibytes = 256;  // GPUBOUND_CUPTI_BUFFER_MB
  bool keep = false;                // GPUBOUND_KEEP_CUPTI
  bool share = false;               // GPUBOUND_SHARE_CUPTI
  RecordingLevels levels;           // GPUBOUND_GRAPHS, GPUBOUND_COUNT_QUERIES
  QuietApis quiet;                  // GPUBOUND_QUIET_APIS
  // How the functions are found, as LoadCupti; replaced in tests.
  bool (*load)(const CuptiSearch& search, size_t* next, CuptiApi* api,
               std::string* why) = &LoadCupti;
};

class CuptiWorker;

class CuptiSource final : public DeviceSource {
 public:
  explicit CuptiSource(CuptiOptions options);
  // What CUPTI or the worker may still use is leaked unless the worker has ended.
  ~CuptiSource() override;

  const char* name() const override { return "cupti"; }
  bool Start(DeviceHost* host) override;
  bool ReadClock(int64_t* now_ns) override;
  void PrepareStop(int64_t deadline_ns, AfterStop after) override;
  bool Stop(int64_t deadline_ns, AfterStop after) override;
  bool HasStopped() const override { return HasEnded(); }
  void Abandon() noexcept override;
  void Yield(int64_t deadline_ns, std::string_view to) override;
  void AbandonInForkChild() noexcept override;

  // Nothing of the source runs any more, or never did: the host may go.
  bool HasEnded() const;

 private:
  bool GiveUp(DeviceHost* host, LedgerCounter counter, const std::string& reason);
  bool StartWithEither(const CuptiApi& api, DeviceHost* host, CuptiSetupResult* setup);
  bool StartWith(const CuptiApi& api, DeviceHost* host, CuptiSetupResult* setup);
  void SayWhatIsLimited(DeviceHost* host, int64_t started_ns, const CuptiSetupResult& setup);

  const CuptiOptions options_;
  CuptiApi api_;
  std::atomic<bool> has_clock_{false};
  DeviceHost* host_ = nullptr;
  CuptiWorker* worker_ = nullptr;
  std::atomic<bool> yielded_{false};
  std::atomic<bool> stopped_{false};
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_SOURCE_H_
