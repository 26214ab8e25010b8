// SPDX-License-Identifier: Apache-2.0
//
// Device work of which CUPTI gives no time, and whether that is a loss.
//
// During a recording it is one: the work ran, and nobody knows when. When a recording ends whose
// program goes on, CUPTI also hands back what is still queued on the device. A stream runs its work
// in the order of the launches, so what was launched into it behind a piece that ended after the
// recording did belongs to the time after it. Of anything else that is not known, and it is a loss.
//
// The source's worker only.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_UNTIMED_WORK_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_UNTIMED_WORK_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace gpubound {

class UntimedWork {
 public:
  // Where a piece of work stands among others.
  struct Place {
    uint32_t context;
    uint32_t stream;
    uint32_t correlation;  // of its launch; grows, and wraps around
  };

  static constexpr uint64_t kNoTime = UINT64_MAX;

  // The recording ended at |end_ns| (CUPTI's clock; kNoTime: that is not known). Untimed work is
  // kept from now on until it is settled or forgotten.
  void EndAt(uint64_t end_ns) {
    end_ns_ = end_ns;
    keeps_ = true;
  }

  void OnTimed(const Place& place, uint64_t work_end_ns) {
    if (work_end_ns >= end_ns_) NoteBehindEnd(place);
  }
  void OnUntimed(const Place& place);

  // Some is kept.
  bool IsOpen() const { return !open_.empty(); }
  // Everything has been delivered: what is kept and not shown to be of later is lost.
  void Settle();
  // Everything from before the end is known: what is kept is of later.
  void Forget() { open_.clear(); }

  // How many pieces were lost since the last call.
  uint64_t TakeLost();

 private:
  void NoteBehindEnd(const Place& place);

  uint64_t end_ns_ = kNoTime;
  bool keeps_ = false;
  uint64_t lost_ = 0;
  std::vector<Place> open_;
  // By context and stream: the first launch of which it is known that its work ended behind the
  // end of the recording.
  std::unordered_map<uint64_t, uint32_t> behind_end_;
};

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_UNTIMED_WORK_H_
