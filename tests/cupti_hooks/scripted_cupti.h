// SPDX-License-Identifier: Apache-2.0
//
// A CUPTI table whose behaviour a test writes down: what each call answers, and what records are
// made when. It keeps the buffer protocol: asks for a buffer when a record needs one, delivers on a
// flush what the test did not hold back. Knows nothing of devices; tests/fake_cupti does.
//
// One at a time in a process, since CUPTI's functions have no object. The calls may come from any
// thread.
#ifndef GPUBOUND_TESTS_CUPTI_HOOKS_SCRIPTED_CUPTI_H_
#define GPUBOUND_TESTS_CUPTI_HOOKS_SCRIPTED_CUPTI_H_

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "cupti_hooks/cupti/cupti_api.h"
#include "tests/cupti_hooks/record_bytes.h"

namespace gpubound {

class ScriptedCupti {
 public:
  explicit ScriptedCupti(uint32_t version);
  ~ScriptedCupti();

  // The table; a test may blank functions of its copy.
  CuptiApi api() const;

  // Answers. By default everything succeeds.
  std::map<std::string, CUptiResult> answers;        // by function
  std::map<uint32_t, CUptiResult> kind_answers;      // of cuptiActivityEnable
  std::map<uint32_t, std::string> runtime_names = {  // of cuptiGetCallbackName
      {17, "cudaGetDevice_v3020"},
      {211, "cudaLaunchKernel_v7000"},
      {311, "cudaGraphLaunch_v10000"},
      {31, "cudaMemcpy_v3020"}};
  std::map<uint32_t, std::string> driver_names = {{307, "cuLaunchKernel_ptsz"},
                                                  {304, "cuCtxGetCurrent"}};
  std::atomic<uint64_t> timestamp{123'456};   // of cuptiGetTimestamp
  std::string holder;                         // with error 39: what cuptiSubscribe_v2 tells
  std::atomic<size_t> dropped{0};             // of the next cuptiActivityGetNumDroppedRecords
  std::atomic<bool> hold_back{false};         // a plain flush finds a record that is not complete
  std::atomic<bool> hold_back_forced{false};  // CUPTI keeps buffers whatever it is asked
  uint32_t fail_record_after = 0;             // every nth cuptiActivityGetNextRecord cannot read on
  std::function<void()> on_flush;             // called inside cuptiActivityFlushAll, without a lock

  // A record is made, on the calling thread.
  void Emit(const RecordBytes& record);
  // Hands back every buffer, as CUPTI's own thread does a moment after a flush.
  void Deliver();
  // Tells the subscriber of a fatal error.
  void FailFatally();

  // Every call, in order: "cuptiActivityEnable 10".
  std::vector<std::string> calls();
  int call_count() const { return call_count_; }  // without a lock
  int CallsOf(const std::string& function);

 private:
  friend struct ScriptedCalls;
  struct Buffer {
    uint8_t* data = nullptr;
    size_t size = 0;
    size_t used = 0;
  };
  CUptiResult Answer(const std::string& function, const std::string& arguments = "");

  std::mutex mutex_;
  std::vector<std::string> calls_;
  std::atomic<int> call_count_{0};
  uint32_t version_;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  CUpti_CallbackFunc event_ = nullptr;
  std::mutex buffers_mutex_;
  std::vector<Buffer> buffers_;
  uint32_t reads_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_CUPTI_HOOKS_SCRIPTED_CUPTI_H_
