// SPDX-License-Identifier: Apache-2.0
//
// A run that is still being written, followed without reading anything twice: each look takes the
// files and chunks that are new. Nothing of the run is changed or held open between looks. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_RUN_H_
#define GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_RUN_H_

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/output/live/live_process.h"
#include "analysis/reader/machines.h"
#include "analysis/reader/process_presence.h"
#include "analysis/trace/run.h"

namespace gpubound {

inline constexpr std::array<int64_t, 3> kLiveWindowsNs{1'000'000'000, 10'000'000'000,
                                                       60'000'000'000};
using LiveTimes = std::array<int64_t, kLiveWindowsNs.size()>;  // by window

// A window is as long as what there is of the run, in whole buckets.
struct LiveGlance {
  int64_t until_ns = 0;  // the end of every window; trace time of the run
  LiveTimes windows_ns{};
  bool simulated = false;         // a process used a simulated device
  bool thinned = false;           // windows are shorter since older detail was removed
  std::optional<int64_t> age_ns;  // of the newest record; absent where every process has ended
  struct DeviceRow {
    std::string name;  // with what tells it apart from others of its name
    LiveTimes busy_ns{};
  };
  std::vector<DeviceRow> devices;
  struct OperationRow {
    std::string name;
    LiveTimes ns{};
  };
  struct WorkRow {
    std::string counter;  // env_steps, samples, tokens
    LiveTimes done{};
  };
  struct LineRow {
    std::string file;
    uint32_t line = 0;                                  // 0: not known
    std::string function;                               // "<module>" where it is in none
    std::array<double, kLiveWindowsNs.size()> share{};  // of the looks at the thread, by window
  };
  struct ProcessRow {
    std::string name;
    int64_t pid = 0;
    bool ended = false;                    // closed, or killed
    std::optional<int64_t> age_ns;         // of its newest record, by the clock of who looks
    std::optional<std::string> operation;  // now
    LiveTimes busy_ns{};
    std::string host;
    std::optional<int64_t> rank{};  // as the launcher calls it
    // By time in the longest window, longest first; but for the leading process the first
    // kMostOperations.
    std::vector<OperationRow> operations{};
    bool operations_known = true;  // else what says them was removed
    LiveTimes steps{};             // iterations that ended
    std::vector<WorkRow> work{};
    std::vector<LineRow> lines{};  // of the leading process: most looks in ten seconds first
  };
  static constexpr size_t kMostOperations = 3;
  std::vector<ProcessRow> processes;  // by identity
  // Of those that go on one that steps, or else the one with the most time under operations.
  size_t leading = 0;
  const ProcessRow& Leading() const {
    static const ProcessRow none;
    return processes.empty() ? none : processes[leading];
  }
};

// What a look takes from outside the run.
struct LiveSurroundings {
  int64_t realtime_ns = 0;
  std::function<Presence(const ProcessTrace&)> presence = &PresenceByTrace;
};

class LiveRun {
 public:
  explicit LiveRun(std::string path) : path_(std::move(path)) {}

  // Reads what is new. An error: the directory cannot be read, or holds no trace that this version
  // reads. A run in which nothing is recorded yet has no processes.
  Result<LiveGlance> Look();
  Result<LiveGlance> Look(const LiveSurroundings& surroundings);

  // Chunks whose bodies were read so far; for tests of what is read twice.
  uint64_t chunks_read() const { return chunks_read_; }

 private:
  struct Followed {
    LiveProcess process;
    std::string host;                 // what the report calls its machine
    std::optional<int64_t> shift_ns;  // trace time of the run minus its host's, in whole buckets
    int64_t Shift() const { return shift_ns.value_or(0); }
    int64_t Until() const { return In(process.Until()); }
    int64_t Begin() const { return In(process.facts().begin_ns); }
    // What is not known stays so.
    int64_t In(int64_t time_ns) const {
      const bool known = time_ns != INT64_MIN && time_ns != INT64_MAX;
      return known ? time_ns + Shift() : time_ns;
    }
    std::map<std::string, LiveSegment> segments;  // by path, oldest first
  };
  Status FindFiles();
  Status Follow(const ProcessIdentity& identity, Followed* followed);
  void Align(Followed* followed);
  Status LearnThinned();
  int64_t ReadUntil() const;
  LiveGlance Glance(const LiveSurroundings& surroundings);
  void AddDevices(int64_t known_ns, LiveGlance* glance);
  std::string NameOf(const std::string& key) const;
  using LiveWindows = std::array<Interval, kLiveWindowsNs.size()>;
  // By the clock of the process.
  static LiveWindows WindowsOf(const Followed& followed, const LiveGlance& glance);
  static std::vector<LiveGlance::LineRow> LinesOf(const LiveProcess& process,
                                                  const LiveWindows& windows);
  void AddTimes(const Followed& followed, const LiveGlance& glance, LiveGlance::ProcessRow* row);
  static size_t LeadingOf(const std::vector<LiveGlance::ProcessRow>& rows);
  void LearnEnds(const LiveSurroundings& surroundings, bool run_over);
  bool HasSuccessor(const ProcessIdentity& identity, const Followed& followed) const;

  const std::string path_;
  std::map<ProcessIdentity, std::unique_ptr<Followed>> followed_;
  MachineNames machines_;
  std::map<std::string, RecentUnion> devices_;
  std::map<std::string, Device> known_devices_;  // by what they are told apart by
  uint64_t chunks_read_ = 0;
  std::string reference_host_;     // whose trace time is the run's: the first that told its clocks
  std::string reference_boot_id_;  // of that host; empty where it is not told
  int64_t reference_ahead_ns_ = 0;
  std::filesystem::file_time_type sums_changed_{};
  int64_t summed_ns_ = INT64_MIN;      // detail before it may be gone
  int64_t read_until_ns_ = INT64_MIN;  // what was recorded before it was read when it was there
  int64_t known_ns_ = INT64_MIN;       // since when nothing that was removed is missing here
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_LIVE_LIVE_RUN_H_
