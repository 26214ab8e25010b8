// SPDX-License-Identifier: Apache-2.0
//
// Starts the programs, shuffles the blocks, reads the trace.
#include "tools/calibrate/calibration_round.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "analysis/base/estimate.h"
#include "analysis/base/folder_entries.h"
#include "analysis/reader/reader.h"
#include "tools/calibrate/calibration_peer.h"
#include "tools/calibrate/calibration_trace.h"
#include "tools/console/console.h"
#include "tools/launch/run_environment.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

constexpr int kEmptyBlocks = 5;
constexpr uint64_t kEmptyCount = 20'000;
constexpr char kEndRecording[] = "end_recording";  // as the program knows it
constexpr std::chrono::milliseconds kEndPoll(20);
constexpr char kNativeFile[] = "gpubound-calibration";
constexpr char kPythonFile[] = "_calibration.py";

// The same program twice.
struct Peers {
  std::unique_ptr<CalibrationPeer> on;
  std::unique_ptr<CalibrationPeer> off;
  double loop_ns = 0;  // what a turn of the loop takes that does nothing
};

class Round {
 public:
  Round(const CalibrateOptions& options, std::string run_directory, std::mt19937_64* random)
      : options_(options), run_directory_(std::move(run_directory)), random_(*random) {}

  Result<CalibrationRound> Run(bool with_lives) {
    if (const Status started = StartAll(); !started.ok()) return started.error();
    if (const Status probed = ProbeAll(); !probed.ok()) return probed.error();
    if (const Status taken = TakePairs(/*ended=*/false); !taken.ok()) return taken.error();
    if (IsMeasuredTwice()) {
      const Result<bool> ended = EndRecording();
      if (!ended.ok()) return ended.error();
      result_.has_ended = *ended;
      if (*ended) {
        if (const Status taken = TakePairs(/*ended=*/true); !taken.ok()) return taken.error();
      }
    }
    if (const Status read = ReadTrace(); !read.ok()) return read.error();
    if (!with_lives) return std::move(result_);
    for (const auto& [condition, life] : Lives()) {
      if (const Status taken = TakeLives(condition, life); !taken.ok()) return taken.error();
    }
    return std::move(result_);
  }

 private:
  Status StartAll() {
    const std::string folder = fs::path(options_.libraries.shim).parent_path().string();
    const Status native = Start(CalibrationProgram::kNative, {folder + "/" + kNativeFile});
    if (!native.ok()) return native;
    const fs::path package = fs::path(options_.libraries.python_startup).parent_path();
    if (options_.python.empty()) return Ok{};
    if (package.empty()) {
      RefusePython("no Python package gpubound lies beside the libraries in " + folder);
      return Ok{};
    }
    const Status python =
        Start(CalibrationProgram::kPython, {options_.python, (package / kPythonFile).string()});
    if (!python.ok()) RefusePython(python.error());
    return Ok{};
  }

  // Of a program that is recorded in the run directory |folder|.
  std::vector<Assignment> Recorded(const std::string& folder) const {
    std::vector<Assignment> assignments =
        RunAssignments(options_.libraries, folder, PreloadOf(EnvironmentVariable));
    assignments.push_back({"GPUBOUND_DISABLE", "0"});
    return assignments;
  }
  static std::vector<Assignment> Unrecorded() { return {{"GPUBOUND_DISABLE", "1"}}; }

  Result<std::unique_ptr<CalibrationPeer>> StartPeer(
      CalibrationProgram program, const std::vector<Assignment>& assignments) const {
    return CalibrationPeer::Start(commands_.at(program),
                                  WithAssignments(OwnEnvironment(), assignments));
  }

  Status Start(CalibrationProgram program, std::vector<std::string> command) {
    if (!options_.cuda_runtime.empty()) command.push_back(options_.cuda_runtime);
    commands_[program] = std::move(command);
    std::vector<Assignment> recorded = Recorded(run_directory_);
    if (program == CalibrationProgram::kNative) recorded.push_back({"GPUBOUND_STEPS", ":1"});
    auto on = StartPeer(program, recorded);
    if (!on.ok()) return on.error();
    auto off = StartPeer(program, Unrecorded());
    if (!off.ok()) return off.error();
    peers_[program] = {std::move(on).value(), std::move(off).value(), 0};
    return Ok{};
  }

  // Programs that do one thing and end.
  struct Life {
    CalibrationProgram program;
    const char* workload;
  };
  std::map<std::string, Life> Lives() const {
    const auto can = [this](const char* name) {
      return std::any_of(result_.blocks.begin(), result_.blocks.end(),
                         [&](const auto& entry) { return entry.first->name == std::string(name); });
    };
    std::map<std::string, Life> lives = {{"", {CalibrationProgram::kNative, "scope"}}};
    if (can("operation")) lives["Python"] = {CalibrationProgram::kPython, "operation"};
    if (can("cudaMemsetAsync")) lives["CUDA"] = {CalibrationProgram::kNative, "cudaMemsetAsync"};
    return lives;
  }

  Status TakeLives(const std::string& condition, const Life& life) {
    PairedBlocks& lives = result_.processes[condition];
    const bool on_first = random_() % 2 == 0;
    for (const bool on : {on_first, !on_first}) {
      const auto begin = std::chrono::steady_clock::now();
      const std::string folder = run_directory_ + "." + std::to_string(recorded_lives_);
      const auto peer = StartPeer(life.program, on ? Recorded(folder) : Unrecorded());
      if (!peer.ok()) return peer.error();
      const auto answer = (*peer)->Run(life.workload, 1);
      if (!answer.ok()) return answer.error();
      (*peer)->Finish();
      const std::chrono::nanoseconds took = std::chrono::steady_clock::now() - begin;
      if (on) {
        ++recorded_lives_;
        if (const Status recorded = CheckRecorded(folder); !recorded.ok()) return recorded;
      }
      (on ? lives.on_ns : lives.off_ns).push_back(static_cast<double>(took.count()));
    }
    return Ok{};
  }

  // A life that was not recorded would tell that recording one costs nothing.
  static Status CheckRecorded(const std::string& folder) {
    const Result<gpubound::Run> run = OpenRun(folder);
    if (!run.ok()) return run.error();
    if (!(*run).processes.empty()) return Ok{};
    return Error{"measuring what a process costs", folder, "nothing that it recorded",
                 "the trace of the process", "Report this as a fault of gpubound."};
  }

  void RefusePython(const Error& error) { RefusePython(error.object + ": " + error.found); }
  void RefusePython(const std::string& why) {
    for (const CalibrationWorkload& workload : CalibrationPlan()) {
      if (workload.program != CalibrationProgram::kPython || IsLeftOut(workload)) continue;
      result_.refused[workload.name] = why;
      result_.blocks.erase(&workload);
    }
    peers_.erase(CalibrationProgram::kPython);
  }

  // Runs every workload once in both programs, which warms them up and tells what they can do.
  Status ProbeAll() {
    for (const auto program : {CalibrationProgram::kNative, CalibrationProgram::kPython}) {
      const auto peers = peers_.find(program);
      if (peers == peers_.end()) continue;
      const Status probed = Probe(program, &peers->second);
      if (probed.ok()) continue;
      if (program == CalibrationProgram::kNative) return probed;
      // An interpreter that does not answer, or a program that is none.
      RefusePython(probed.error());
    }
    return Ok{};
  }

  Status Probe(CalibrationProgram program, Peers* peers) {
    if (const Status measured = MeasureLoop(peers); !measured.ok()) return measured;
    for (const CalibrationWorkload& workload : CalibrationPlan()) {
      if (workload.program != program || IsLeftOut(workload)) continue;
      std::string refusal;
      for (CalibrationPeer* peer : {peers->off.get(), peers->on.get()}) {
        const auto answer = peer->Run(workload.name, workload.count);
        if (!answer.ok()) return answer.error();
        if (!answer->refusal.empty()) refusal = answer->refusal;
      }
      if (refusal.empty()) {
        result_.blocks[&workload].count = workload.count;
      } else {
        result_.refused[workload.name] = refusal;
      }
    }
    return Ok{};
  }

  bool IsLeftOut(const CalibrationWorkload& workload) const {
    return workload.kind == CostKind::kApiCall && !options_.cuda;
  }

  Status MeasureLoop(Peers* peers) {
    std::vector<double> turns;
    for (int i = 0; i < kEmptyBlocks; ++i) {
      const auto answer = peers->off->Run("empty", kEmptyCount);
      if (!answer.ok()) return answer.error();
      turns.push_back(answer->ns);
    }
    peers->loop_ns = Median(turns);
    return Ok{};
  }

  // In random order. |ended|: of what is measured behind the end of the recording.
  Status TakePairs(bool ended) {
    std::vector<const CalibrationWorkload*> order;
    for (auto& [workload, blocks] : result_.blocks) {
      if (!ended || IsMeasuredTwice(*workload)) {
        order.insert(order.end(), static_cast<size_t>(workload->pairs), workload);
      }
    }
    std::shuffle(order.begin(), order.end(), random_);
    for (const CalibrationWorkload* workload : order) {
      if (const Status taken = TakePair(*workload, ended); !taken.ok()) return taken;
    }
    return Ok{};
  }

  Status TakePair(const CalibrationWorkload& workload, bool ended) {
    const Peers& peers = peers_[workload.program];
    PairedBlocks& blocks = result_.blocks[&workload];
    std::vector<double>& on_ns = ended ? blocks.ended_on_ns : blocks.on_ns;
    std::vector<double>& off_ns = ended ? blocks.ended_off_ns : blocks.off_ns;
    PlacePair(peers, workload);
    const bool on_first = random_() % 2 == 0;
    for (const bool on : {on_first, !on_first}) {
      const auto answer = (on ? peers.on : peers.off)->Run(workload.name, workload.count);
      if (!answer.ok()) return answer.error();
      (on ? on_ns : off_ns).push_back(answer->ns);
      if (on == ended) bare_ns_[&workload][ended ? 1 : 0].push_back(answer->alone_ns);
    }
    return Ok{};
  }

  // Both on the processor that this thread has now, which the system took for a free one and leaves
  // with the question. Processors of one machine differ: of 16 of a virtual one some ran at 0.6 of
  // the speed of others, for seconds, since other machines share their cores.
  static void PlacePair(const Peers& peers, const CalibrationWorkload& workload) {
    const Processors places = workload.threads > 1 ? Processors::Allowed() : Processors::Current();
    for (CalibrationPeer* peer : {peers.on.get(), peers.off.get()}) peer->StayOn(places);
  }

  // What two processes differ by anyway is much of what calls in a tight loop cost. Nothing is left
  // of a recording of them when it has ended, of scopes a look at whether there is one. Those amid
  // other work are the Python program's, which goes on being recorded.
  static bool IsMeasuredTwice(const CalibrationWorkload& workload) {
    return workload.kind == CostKind::kApiCall && *workload.condition == 0;
  }

  bool IsMeasuredTwice() const {
    return std::any_of(result_.blocks.begin(), result_.blocks.end(),
                       [](const auto& entry) { return IsMeasuredTwice(*entry.first); });
  }

  // False: it has not in time.
  Result<bool> EndRecording() {
    const auto answer = peers_[CalibrationProgram::kNative].on->Run(kEndRecording, 1);
    if (!answer.ok()) return answer.error();
    for (const auto deadline = std::chrono::steady_clock::now() + kEndPatience;
         std::chrono::steady_clock::now() < deadline;) {
      std::this_thread::sleep_for(kEndPoll);
      if (HasEnded()) return true;
    }
    return false;
  }
  // The recorder begins the file of later iterations when nothing of it acts any more.
  bool HasEnded() const {
    return std::ranges::any_of(EntriesOf(run_directory_), [](const fs::directory_entry& entry) {
      return entry.path().extension() == ".later";
    });
  }

  Status ReadTrace() {
    std::map<CalibrationProgram, double> loop_ns;
    for (auto& [program, peers] : peers_) loop_ns[program] = peers.loop_ns;
    peers_.clear();  // the traces are complete when the programs have ended
    const Result<gpubound::Run> run = LoadRun(run_directory_);
    if (!run.ok()) return run.error();
    result_.machine = KeyOf(*run);
    const std::map<CalibrationProgram, CalibrationTrace> traces = {
        {CalibrationProgram::kNative, CalibrationTrace(*run, CalibrationProgram::kNative)},
        {CalibrationProgram::kPython, CalibrationTrace(*run, CalibrationProgram::kPython)}};
    for (auto& [workload, blocks] : result_.blocks) {
      const CalibrationTrace& trace = traces.at(workload->program);
      const Estimate recorded = trace.DurationOf(*workload);
      if (recorded.samples > 0) blocks.recorded_ns = recorded.mean;
      // In the program that was recorded, where it did the same unrecorded.
      const auto& [other, ended] = bare_ns_[workload];
      const double bare_ns = Median(ended.empty() ? other : ended);
      blocks.bare_ns = workload->unrecorded_share * (bare_ns - loop_ns[workload->program]);
      if (workload->kind != CostKind::kApiCall) continue;
      blocks.entry_ns = trace.EntryNsOf(*workload);
      const bool has_other_work = *workload->condition != 0;
      if (has_other_work && recorded.mean > 0) {
        blocks.variation = std::sqrt(recorded.variance) / recorded.mean;
      }
    }
    return Ok{};
  }

  const CalibrateOptions& options_;
  const std::string run_directory_;
  std::mt19937_64& random_;
  std::map<CalibrationProgram, std::vector<std::string>> commands_;
  std::map<CalibrationProgram, Peers> peers_;
  // What occurrences took that were not recorded: in the other program, and behind the recording.
  std::map<const CalibrationWorkload*, std::array<std::vector<double>, 2>> bare_ns_;
  int recorded_lives_ = 0;
  CalibrationRound result_;
};

}  // namespace

Result<CalibrationRound> RunCalibrationRound(const CalibrateOptions& options,
                                             const std::string& run_directory, bool with_lives,
                                             std::mt19937_64* random) {
  return Round(options, run_directory, random).Run(with_lives);
}

}  // namespace gpubound
