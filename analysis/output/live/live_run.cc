// SPDX-License-Identifier: Apache-2.0
//
// Follows a run. One object, one thread.
#include "analysis/output/live/live_run.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <system_error>
#include <tuple>

#include "analysis/base/folder_entries.h"
#include "analysis/segments/run_info.h"
#include "analysis/segments/run_sums.h"
#include "analysis/segments/segment.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

constexpr char kNameTheRun[] =
    "Name the run's directory: that of `gpubound run -o`, or NAME-TIME-PID.gpubound where it was "
    "started. Without a name it is the newest one here.";

// Processes that lag further behind the newest one do not hold the windows back.
constexpr int64_t kMostLagNs = 3'000'000'000;

// "GPU-" and eight digits, as nvidia-smi users quote them.
constexpr size_t kShortUuid = 12;

// Of what is known since |known_ns|: a bucket that began before is none of it.
Interval WindowOf(int64_t until_ns, int64_t known_ns, int64_t length_ns) {
  const Interval known = WholeBuckets({known_ns + kBucketNs - 1, until_ns});
  const Interval window = WholeBuckets({until_ns - length_ns, until_ns});
  return {std::min(std::max(window.begin_ns, known.begin_ns), window.end_ns), window.end_ns};
}

// Of the newest record of a process, by the clock of who looks.
std::optional<int64_t> AgeOf(const LiveFacts& facts, const LiveSurroundings& surroundings) {
  if (facts.sampled_realtime_ns == 0) return std::nullopt;
  return std::max<int64_t>(surroundings.realtime_ns - facts.sampled_realtime_ns, 0);
}

}  // namespace

Status LiveRun::FindFiles() {
  std::error_code error;
  const std::vector<fs::directory_entry> entries = EntriesOf(path_, &error);
  if (error) {
    return Error{"watching the run", path_, error.message(), "a run directory that can be listed",
                 kNameTheRun};
  }
  bool is_run = !followed_.empty();
  for (const fs::directory_entry& entry : entries) {
    const auto name = ParseTraceFileName(entry.path().filename().string());
    is_run |= name.has_value() || entry.path().filename() == kRunInfoFile;
    if (!name || name->live) continue;
    std::unique_ptr<Followed>& followed = followed_[name->identity];
    if (!followed) followed = std::make_unique<Followed>();
    const std::string path = entry.path().string();
    followed->segments.try_emplace(path, path);
  }
  if (is_run) return Ok{};
  return Error{"watching the run", path_, "a directory without a trace or run.json",
               "the directory of a run", kNameTheRun};
}

// As the report does for lack of anything better, machines are taken to agree in CLOCK_REALTIME.
// What is kept by buckets stays in its buckets.
void LiveRun::Align(Followed* followed) {
  const LiveFacts& facts = followed->process.facts();
  if (followed->shift_ns || facts.sampled_realtime_ns == 0) return;
  if (reference_host_.empty()) {
    reference_host_ = followed->host;
    reference_boot_id_ = facts.boot_id;
    reference_ahead_ns_ = facts.realtime_ahead_ns;
  }
  const int64_t shift_ns = facts.realtime_ahead_ns - reference_ahead_ns_;
  const bool one_kernel = !facts.boot_id.empty() && facts.boot_id == reference_boot_id_;
  const bool same = one_kernel || followed->host == reference_host_;
  followed->shift_ns = same ? 0 : WholeBuckets({0, shift_ns + kBucketNs / 2}).end_ns;
}

Status LiveRun::Follow(const ProcessIdentity& identity, Followed* followed) {
  LiveProcess& process = followed->process;
  for (auto next = followed->segments.begin(); next != followed->segments.end();) {
    const auto place = next++;
    Status looked = place->second.Look(&process.facts());
    if (looked.ok()) continue;
    std::error_code ignored;
    if (fs::exists(place->first, ignored)) return looked;
    followed->segments.erase(place);  // it was thinned
  }
  process.LearnNames();
  followed->host = machines_.Of(identity.host, process.facts().boot_id);
  Align(followed);
  int64_t newest_ns = process.facts().latest_ns;
  std::map<uint32_t, int64_t> last_chunk;  // by thread: one that is silent may be in the middle
  for (const auto& [path, segment] : followed->segments) {
    for (const auto& [id, chunk] : segment.chunks()) {
      newest_ns = std::max(newest_ns, chunk.max_ns);
      if (chunk.family != EventFamily::kThread) continue;
      int64_t& last_ns = last_chunk.try_emplace(chunk.thread, INT64_MIN).first->second;
      last_ns = std::max(last_ns, chunk.max_ns);
    }
  }
  const auto wanted = [&](const ChunkRow& chunk) {
    const bool recent = chunk.max_ns >= newest_ns - kLiveMemoryNs;
    if (chunk.family == EventFamily::kDevice || chunk.family == EventFamily::kStack) return recent;
    return chunk.family == EventFamily::kThread &&
           (recent || chunk.max_ns == last_chunk[chunk.thread]);
  };
  for (auto& [path, segment] : followed->segments) {
    segment.ReadChunks(wanted, [&](const ChunkRow& chunk) {
      ++chunks_read_;
      process.Take(chunk);
    });
    segment.Rest();
  }
  process.facts().latest_ns = std::max(process.facts().latest_ns, newest_ns);
  for (const Device& device : process.facts().devices) {
    known_devices_[LiveProcess::KeyOf(device)] = device;
  }
  for (const auto& [device, work] : process.new_work()) {
    known_devices_.try_emplace(device);
    for (const Interval& time : work) {
      devices_[device].Add({time.begin_ns + followed->Shift(), time.end_ns + followed->Shift()});
    }
  }
  process.ClearNewWork();
  return Ok{};
}

// After the files were read: sums are written before the detail that they cover is removed. What
// was read before it was removed is not missing.
Status LiveRun::LearnThinned() {
  std::error_code error;
  const fs::file_time_type changed = fs::last_write_time(path_ + "/" + kSumsFile, error);
  if (!error && changed != sums_changed_) {
    const auto sums = ReadRunSums(path_);
    if (!sums.ok()) return sums.error();
    if (*sums != nullptr) summed_ns_ = (*sums)->until_ns;
    sums_changed_ = changed;
    if (summed_ns_ > read_until_ns_) known_ns_ = summed_ns_;
  }
  return Ok{};
}

// What a process recorded before that is on disk, unless it has been removed.
int64_t LiveRun::ReadUntil() const {
  int64_t until_ns = INT64_MAX;
  for (const auto& [identity, followed] : followed_) {
    if (!followed->process.Ended()) until_ns = std::min(until_ns, followed->Until());
  }
  return until_ns;
}

Result<LiveGlance> LiveRun::Look() {
  LiveSurroundings surroundings;
  surroundings.realtime_ns = RealtimeNow();
  return Look(surroundings);
}

Result<LiveGlance> LiveRun::Look(const LiveSurroundings& surroundings) {
  const Status found = FindFiles();
  if (!found.ok()) return found.error();
  const Result<RunInfo> info = ReadRunInfo(path_ + "/" + kRunInfoFile);
  if (info.ok()) machines_.Of(info->host, info->boot_id);  // the launcher's keeps its name
  std::optional<Error> error;
  size_t failed = 0;
  for (auto& [identity, followed] : followed_) {
    const Status status = Follow(identity, followed.get());
    if (status.ok()) continue;
    error = status.error();
    ++failed;
  }
  // A file that is just being made may not be readable yet; the others are.
  if (error && failed == followed_.size()) return *error;
  LearnEnds(surroundings, info.ok() && info->end_monotonic_ns.has_value());
  const Status thinned = LearnThinned();
  if (!thinned.ok()) return thinned.error();
  if (!error) read_until_ns_ = ReadUntil();
  return Glance(surroundings);
}

LiveGlance LiveRun::Glance(const LiveSurroundings& surroundings) {
  LiveGlance glance;
  int64_t newest_ns = INT64_MIN;
  for (const auto& [identity, followed] : followed_) {
    newest_ns = std::max(newest_ns, followed->Until());
  }
  if (newest_ns == INT64_MIN) return glance;
  glance.until_ns = newest_ns;
  int64_t begin_ns = newest_ns;
  for (const auto& [identity, followed] : followed_) {
    LiveProcess& process = followed->process;
    const int64_t until_ns = followed->Until();
    if (!process.Ended() && until_ns >= newest_ns - kMostLagNs) {
      glance.until_ns = std::min(glance.until_ns, until_ns);
    }
    begin_ns = std::min(begin_ns, followed->Begin());
    process.Forget();
  }
  const int64_t known_ns = std::clamp(known_ns_, begin_ns, std::max(begin_ns, glance.until_ns));
  for (size_t window = 0; window < kLiveWindowsNs.size(); ++window) {
    glance.windows_ns[window] =
        WindowOf(glance.until_ns, known_ns, kLiveWindowsNs[window]).length();
  }
  glance.thinned = known_ns > begin_ns && glance.windows_ns.back() < kLiveWindowsNs.back();
  AddDevices(known_ns, &glance);
  std::vector<const Followed*> shown;
  for (const auto& [identity, followed] : followed_) {
    const LiveFacts& facts = followed->process.facts();
    glance.simulated |= facts.simulated;
    LiveGlance::ProcessRow& row = glance.processes.emplace_back();
    row.name = facts.name;
    row.host = followed->host;
    row.pid = identity.pid;
    row.rank = facts.rank;
    row.ended = followed->process.Ended();
    row.age_ns = AgeOf(facts, surroundings);
    if (!row.ended && row.age_ns) {
      glance.age_ns = std::min(glance.age_ns.value_or(INT64_MAX), *row.age_ns);
    }
    AddTimes(*followed, glance, &row);
    shown.push_back(followed.get());
  }
  if (glance.processes.empty()) return glance;
  glance.leading = LeadingOf(glance.processes);
  LiveGlance::ProcessRow& leading = glance.processes[glance.leading];
  const Followed& leader = *shown[glance.leading];
  leading.lines = LinesOf(leader.process, WindowsOf(leader, glance));
  for (LiveGlance::ProcessRow& row : glance.processes) {
    const bool has_many = row.operations.size() > LiveGlance::kMostOperations;
    if (&row != &leading && has_many) row.operations.resize(LiveGlance::kMostOperations);
  }
  return glance;
}

// The device's name, and where others of those that work have it too as much of the uuid as tells
// them apart.
std::string LiveRun::NameOf(const std::string& key) const {
  const Device& device = known_devices_.at(key);
  size_t alike = 0;  // letters of the uuid that another one has too
  bool is_one_of_several = false;
  for (const auto& [other_key, busy] : devices_) {
    const Device& other = known_devices_.at(other_key);
    if (other_key == key || other.name != device.name) continue;
    is_one_of_several = true;
    const auto end =
        std::mismatch(device.uuid.begin(), device.uuid.end(), other.uuid.begin(), other.uuid.end());
    alike = std::max(alike, static_cast<size_t>(end.first - device.uuid.begin()));
  }
  const std::string name = device.name.empty() ? "unnamed device" : device.name;
  if (!is_one_of_several) return name;
  if (device.uuid.empty()) return name + " " + std::to_string(device.info.index);
  return name + " " + device.uuid.substr(0, std::max(kShortUuid, alike + 1));
}

void LiveRun::AddDevices(int64_t known_ns, LiveGlance* glance) {
  for (auto& [device, busy] : devices_) {
    LiveGlance::DeviceRow& row = glance->devices.emplace_back();
    row.name = NameOf(device);
    busy.Settle(glance->until_ns - kMostLagNs);
    busy.DropBefore(glance->until_ns - kLiveMemoryNs);
    for (size_t window = 0; window < kLiveWindowsNs.size(); ++window) {
      row.busy_ns[window] =
          busy.LengthWithin(WindowOf(glance->until_ns, known_ns, glance->windows_ns[window]));
    }
  }
}

// Whether the process became another program by exec: its pid lives on. Of two containers that
// share a name and a pid both go on.
bool LiveRun::HasSuccessor(const ProcessIdentity& identity, const Followed& followed) const {
  for (auto next = followed_.upper_bound(identity); next != followed_.end(); ++next) {
    if (next->first.host != identity.host || next->first.pid != identity.pid) return false;
    if (next->second->host != followed.host) continue;  // another machine of that name
    if (next->second->process.facts().begin_ns >= followed.process.facts().latest_ns) return true;
  }
  return false;
}

// What is killed or replaced writes no end: then the launcher knows that the run has ended, or this
// host that the process is gone.
void LiveRun::LearnEnds(const LiveSurroundings& surroundings, bool run_over) {
  for (auto& [identity, followed] : followed_) {
    LiveFacts& facts = followed->process.facts();
    ProcessTrace seen;
    seen.identity = identity;
    seen.boot_id = facts.boot_id;
    seen.pid_namespace = facts.pid_namespace;
    facts.gone = !facts.end_ns &&
                 (HasSuccessor(identity, *followed) ||
                  HasEnded(surroundings.presence(seen), {run_over, AgeOf(facts, surroundings)}));
  }
}

LiveRun::LiveWindows LiveRun::WindowsOf(const Followed& followed, const LiveGlance& glance) {
  const int64_t until_ns = glance.until_ns - followed.Shift();
  LiveWindows windows;
  for (size_t window = 0; window < windows.size(); ++window) {
    windows[window] = WholeBuckets({until_ns - glance.windows_ns[window], until_ns});
  }
  return windows;
}

// At which lines |process| was in each of |windows|. Of few looks a share says next to nothing.
std::vector<LiveGlance::LineRow> LiveRun::LinesOf(const LiveProcess& process,
                                                  const LiveWindows& windows) {
  constexpr size_t kMostLines = 3;
  constexpr size_t kRanking = 1;  // the window of ten seconds
  constexpr int64_t kFewLooks = 20;
  constexpr int64_t kWorthARow = 20;  // one part in so many
  std::vector<LiveGlance::LineRow> rows;
  std::array<std::vector<int64_t>, kLiveWindowsNs.size()> looks;
  std::array<int64_t, kLiveWindowsNs.size()> all{};
  for (size_t window = 0; window < windows.size(); ++window) {
    looks[window] = process.LooksAtLines(windows[window]);
    all[window] = std::accumulate(looks[window].begin(), looks[window].end(), int64_t{0});
  }
  if (all[kRanking] < kFewLooks) return rows;
  const ProcessFacts& python = process.facts().python;
  std::vector<size_t> order(process.lines().size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return looks[kRanking][a] > looks[kRanking][b]; });
  for (const size_t i : order) {
    if (rows.size() == kMostLines || kWorthARow * looks[kRanking][i] < all[kRanking]) break;
    const LiveProcess::Line& line = process.lines()[i];
    const Function& function = python.FunctionOf(line.function);
    LiveGlance::LineRow& row = rows.emplace_back();
    row.file = function.file;
    row.line = line.number;
    row.function = function.name;
    for (size_t window = 0; window < windows.size(); ++window) {
      row.share[window] = static_cast<double>(looks[window][i]) /
                          static_cast<double>(std::max<int64_t>(1, all[window]));
    }
  }
  return rows;
}

void LiveRun::AddTimes(const Followed& followed, const LiveGlance& glance,
                       LiveGlance::ProcessRow* row) {
  const LiveProcess& process = followed.process;
  row->operations_known = process.KnowsOperationsSince(
      known_ns_ == INT64_MIN ? INT64_MIN : known_ns_ - followed.Shift());
  if (row->operations_known && !row->ended) row->operation = process.OperationNow();
  for (const std::string& name : process.names()) row->operations.push_back({name, {}});
  for (const char* const counter : kWorkCounters) row->work.push_back({counter, {}});
  const LiveWindows windows = WindowsOf(followed, glance);
  for (size_t window = 0; window < windows.size(); ++window) {
    row->busy_ns[window] = process.BusyIn(windows[window]);
    const std::vector<int64_t> times = process.OperationTimes(windows[window]);
    for (size_t i = 0; row->operations_known && i < times.size(); ++i) {
      row->operations[i].ns[window] = times[i];
    }
    row->steps[window] = process.StepsIn(windows[window]);
    const std::vector<int64_t> done = process.WorkIn(windows[window]);
    for (size_t i = 0; i < done.size(); ++i) row->work[i].done[window] = done[i];
  }
  std::erase_if(row->operations, [](const auto& operation) { return operation.ns.back() == 0; });
  std::erase_if(row->work, [](const auto& of) { return of.done.back() == 0; });
  std::stable_sort(row->operations.begin(), row->operations.end(),
                   [](const auto& a, const auto& b) { return a.ns.back() > b.ns.back(); });
}

// One that goes on tells more than one that has ended, one that steps more than one that works; of
// equals the first.
size_t LiveRun::LeadingOf(const std::vector<LiveGlance::ProcessRow>& rows) {
  const auto weight = [](const LiveGlance::ProcessRow& row) {
    const int64_t ns =
        std::accumulate(row.operations.begin(), row.operations.end(), int64_t{0},
                        [](int64_t sum, const auto& of) { return sum + of.ns.back(); });
    return std::tuple(!row.ended, row.steps.back() > 0, ns);
  };
  size_t leading = 0;
  for (size_t i = 1; i < rows.size(); ++i) {
    if (weight(rows[i]) > weight(rows[leading])) leading = i;
  }
  return leading;
}

}  // namespace gpubound
