// SPDX-License-Identifier: Apache-2.0
//
// The device side of a replay: when a piece of work starts once the calls that launch it come at
// other times. Work is limited by its launch, by its stream, by room on the device, and by work of
// other streams that it waited for. Which of them decided a recorded start is told by what explains
// it best, the limit that leaves the least delay; that delay stays as it was, whereas the other
// limits are kept with their usual delay. With times as they were recorded every start comes out as
// it was recorded.
//
//   launch   ends L ........ latency ........ s         s = the recorded start
//   stream   before ends P ...... gap ....... s
//   another stream's work, or a slot, ends Q  s         nearest to s: it decided
//
// Holds what runs at one instant. One object, one caller.
#ifndef GPUBOUND_ANALYSIS_REPLAY_REPLAY_DEVICE_H_
#define GPUBOUND_ANALYSIS_REPLAY_REPLAY_DEVICE_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/base/plain_list.h"
#include "analysis/replay/critical_path.h"
#include "analysis/replay/own_part.h"
#include "analysis/replay/replay_moment.h"
#include "analysis/replay/shared_devices.h"
#include "analysis/replay/slot_line.h"
#include "analysis/replay/typical_delay.h"
#include "analysis/trace/run.h"

namespace gpubound {

// What had ended by some recorded time: the latest recorded end, and when all of it is done.
struct DoneWork {
  int64_t end_ns = INT64_MIN;
  Moment done;
};

// The last instant on the time line of the launching thread that comes before the work. For work
// without a launch, what the process did when the work began.
struct LaunchAnchor {
  int64_t at_ns = 0;
  Moment at;
  bool moved = false;          // |at| is of another launch than |at_ns|, so its delay is unknown
  bool goes_on = false;        // it is the rest of the kernel before it in its stream
  bool tells_latency = false;  // the call is known, and this is the first work that it launched
  uint32_t path_part = 0;      // whose time the work is on the critical path
  // Of a call that is still open, whose own part must be over before its work can start.
  OwnPart* own_part = nullptr;
  double own_ns = 0;        // from its begin to |at_ns|
  double own_variance = 0;  // of the cost in it
};

class ReplayDevice {
 public:
  // All outlive the object; |path| and |shared| may be null.
  ReplayDevice(const ProcessTrace& process, PathLog* path, SharedDevices* shared);

  struct Times {
    Moment start;
    Moment end;
  };
  // Work comes in order of recorded start. |scale| multiplies its duration. The other end of a copy
  // that came just before is where that is.
  Times Start(const DeviceWork& work, const LaunchAnchor& launch, double scale);

  // Whether |work| is |copy| once more, on the device at its other end.
  bool IsOtherEndOf(const DeviceWork& copy, const DeviceWork& work) const;

  // Work of |stream|, or of all of them, that had ended at recorded |until_ns|; calls come in order
  // of that time.
  const DoneWork& StreamDone(StreamId stream, int64_t until_ns);
  const DoneWork& AllDone(int64_t until_ns);
  // Of |context| and the green ones that were made of it, for which a wait for it waits too; of all
  // where no stream of it is known.
  const DoneWork& ContextDone(uint32_t context, int64_t until_ns);
  // Of all work that had ended by then, the piece that ended last.
  const DoneWork& LastEnded(int64_t until_ns);

  // From now on work of |stream| waits for |done|, which had ended before.
  void WaitFor(StreamId stream, const DoneWork& done);

 private:
  struct Running {
    int64_t end_ns;
    uint32_t resource;
    uint32_t context;
    Moment end;
  };
  static bool EndsLater(const Running& a, const Running& b) { return a.end_ns > b.end_ns; }
  struct Stream {
    PlainList<Running> running;
    DoneWork done;
    DoneWork waits_for;
    uint32_t device = 0;
    uint32_t context = 0;
  };
  // What work of one kind shares on a device: multiprocessors, or a copy engine.
  struct Resource {
    uint32_t running = 0;        // in the recording
    uint32_t most = 0;           // ... at the same time, ever
    uint32_t slots = 0;          // so many may run at a time; 0: no limit was seen
    SlotLine line;               // in the replay
    SlotLine* shared = nullptr;  // with other runs
    SlotLine recorded_line;      // in the recording
    TypicalDelay hand_over;      // from the end of what held a slot to the start of what waited
  };
  struct Device {
    DoneWork last_ended;
    uint32_t last_resource = 0;  // of |last_ended|
  };
  // By how much each limit holds work back, at least.
  struct Limits {
    double latency = 0;               // after its launch
    double deviation = 0;             // ... which is uncertain by so much
    double gap = 0;                   // after its stream
    double wait = 0;                  // after what its stream was told to wait for
    double hand_over = 0;             // after the slot that it gets
    bool slot = false;                // it seems that the slot decided
    const DoneWork* other = nullptr;  // work of another stream that decided
  };

  void Retire(int64_t until_ns);
  void AddRunning(Stream* stream, const Running& running);
  void NoteContext(const Running& ended);
  static void RetireStream(Stream* stream, int64_t until_ns);
  Limits Explain(const DeviceWork& work, const LaunchAnchor& launch, const Stream& stream,
                 uint32_t index);
  bool OwnPartDecided(const LaunchAnchor& launch, double unexplained, double delay) const;
  bool LaunchDecided(const LaunchAnchor& launch, double unexplained, double gap) const;
  Moment Recorded(int64_t time_ns) const {
    return {static_cast<double>(time_ns - process_.span_begin_ns), 0, 0, 0};
  }
  Stream& StreamAt(StreamId id);
  uint32_t ResourceOf(const DeviceWork& work, uint32_t device) const;
  // When work starts that is ready at |ready| and takes |duration| beside that of other runs.
  Moment PlaceAmongOthers(const DeviceWork& work, uint32_t kind, const Moment& ready,
                          double duration, Resource* resource);

  const ProcessTrace& process_;
  PathLog* const path_;
  SharedDevices* const shared_;
  std::vector<Stream> streams_;
  std::vector<Resource> resources_;
  std::vector<Device> devices_;
  PlainList<Running> running_;  // of all devices, by recorded end, a min-heap
  DoneWork all_done_;
  std::unordered_map<uint32_t, DoneWork> context_done_;  // those of which a stream is known
  std::unordered_map<uint32_t, uint32_t> made_of_;       // of green contexts
  DoneWork last_ended_;
  DeviceWork copy_;  // the newest work, which may be one
  Times copied_;
  TypicalDelay latency_;
  TypicalDelay gap_;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_REPLAY_REPLAY_DEVICE_H_
