// SPDX-License-Identifier: Apache-2.0
//
// The matrix: programs on every ground there is (matrix_cases.h), each once without gpubound and
// once under `gpubound run`, beside another program that has nothing special. A case is *harmed*
// where the program's status or output differs, and *silent* where something of its scopes is lost
// and the report says "complete". The suite ends with its counts.
//
// GPUBOUND_TEST_MATRIX=long: every ground, every action, more kills.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "analysis/correction/run_report.h"
#include "analysis/reader/reader.h"
#include "tests/lifecycle/matrix_cases.h"
#include "tests/lifecycle/process_runner.h"
#include "tests/lifecycle/recorded_run.h"
#include "tests/programs/progress.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

bool IsLong() {
  const char* matrix = std::getenv("GPUBOUND_TEST_MATRIX");
  return matrix != nullptr && std::string(matrix) == "long";
}

struct Counts {
  int tried = 0;
  int harmed = 0;
  int silent = 0;
};

// Of each part, in the order of their first case.
std::vector<std::pair<std::string, Counts>>& AllCounts() {
  static std::vector<std::pair<std::string, Counts>> counts;
  return counts;
}

Counts* CountsOf(const std::string& part) {
  for (auto& [name, counts] : AllCounts()) {
    if (name == part) return &counts;
  }
  return &AllCounts().emplace_back(part, Counts{}).second;
}

class PrintCounts : public testing::Environment {
 public:
  void TearDown() override {
    Counts all;
    for (const auto& [part, counts] : AllCounts()) {
      std::printf("matrix: %-12s tried %4d, harmed %d, silent %d\n", part.c_str(), counts.tried,
                  counts.harmed, counts.silent);
      all.tried += counts.tried;
      all.harmed += counts.harmed;
      all.silent += counts.silent;
    }
    std::printf("matrix: %-12s tried %4d, harmed %d, silent %d\n", "all", all.tried, all.harmed,
                all.silent);
  }
};

const testing::Environment* const print_counts = testing::AddGlobalTestEnvironment(new PrintCounts);

std::string ReadAll(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What is not one of our lines.
std::string WithoutOurLines(const std::string& text) {
  std::istringstream lines(text);
  std::string line;
  std::string rest;
  while (std::getline(lines, line)) {
    if (line.rfind("gpubound: ", 0) != 0) rest += line + "\n";
  }
  return rest;
}

int StatusOf(const Outcome& outcome) {
  return outcome.signal != 0 ? 128 + outcome.signal : outcome.exit_code;
}

struct Done {
  Outcome outcome;
  std::string err;  // of the program
};

struct Found {
  std::vector<std::string> lost;
  std::vector<std::string> lost_scopes;  // of it
  std::string verdict;
};

// What programs of another user need of the build, where they can reach it: root's home is closed to
// them, and a checkout may lie there.
class ReachableBuild {
 public:
  ReachableBuild() {
    if (geteuid() != 0 || OthersReach(GPUBOUND_TEST_COMMAND)) return;
    std::string pattern = testing::TempDir() + "reachable.XXXXXX";
    folder_ = mkdtemp(pattern.data());
    chmod(folder_.c_str(), 0755);
    const fs::path build = fs::path(GPUBOUND_TEST_COMMAND).parent_path().parent_path();
    for (const char* name : {"bin", "lib"}) {
      fs::create_directory(folder_ / name);
      for (const fs::directory_entry& entry : fs::directory_iterator(build / name)) {
        if (entry.is_regular_file())
          fs::copy_file(entry.path(), folder_ / name / entry.path().filename());
      }
    }
    fs::copy_file(GPUBOUND_TEST_VICTIM, folder_ / "victim");
  }
  ~ReachableBuild() {
    if (!folder_.empty()) fs::remove_all(folder_);
  }

  std::string Command() const {
    return folder_.empty() ? GPUBOUND_TEST_COMMAND : folder_ / "bin" / "gpubound";
  }
  std::string Victim() const { return folder_.empty() ? GPUBOUND_TEST_VICTIM : folder_ / "victim"; }

 private:
  static bool OthersReach(const fs::path& path) {
    for (fs::path folder = path.parent_path(); folder != folder.root_path();
         folder = folder.parent_path()) {
      if ((fs::status(folder).permissions() & fs::perms::others_exec) == fs::perms::none)
        return false;
    }
    return true;
  }

  fs::path folder_;  // empty: the build itself
};

const ReachableBuild& Build() {
  static const ReachableBuild build;
  return build;
}

class MatrixTest : public testing::Test {
 protected:
  MatrixTest() {
    std::string pattern = testing::TempDir() + "matrix.XXXXXX";
    folder_ = fs::canonical(mkdtemp(pattern.data()));
    chmod(folder_.c_str(), 0777);  // also for a program of another user
    for (const char* variable :
         {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "GPUBOUND_DISABLE", "GPUBOUND_LIBRARY",
          "GPUBOUND_RUN", "LD_PRELOAD", "ASAN_OPTIONS"}) {
      runner_.Unset(variable);
    }
    runner_.SetDirectory(folder_);
    runner_.Set("DISK", folder_ / "disk");
    runner_.Set("KEPT", folder_ / "kept");
    runner_.Set("VICTIM", Build().Victim());
    runner_.Set("VICTIM_ERR", folder_ / "err");
    runner_.Set("VICTIM_PROGRESS", folder_ / "progress");
    runner_.Set("VICTIM_FILE", folder_ / "file of the victim");
    runner_.Set("VICTIM_PLUGIN", GPUBOUND_TEST_PLUGIN);
    runner_.Set("VICTIM_CONSTRUCTOR_PLUGIN", GPUBOUND_TEST_CONSTRUCTOR_PLUGIN);
    runner_.Set("ALLOCATOR", GPUBOUND_TEST_ALLOCATOR);
    runner_.Set("WRAPPERS", GPUBOUND_TEST_WRAPPERS);
    runner_.Set("GPUBOUND_CALIBRATE", "0");
    runner_.Set("GPUBOUND_IN_RUN_CALIBRATION", "0");  // every scope is compared
    runner_.Set("XDG_CACHE_HOME", folder_ / "cache");
  }
  ~MatrixTest() override {
    StartAfresh();
    fs::remove_all(folder_);
  }

  // |program| on |ground|, both ways.
  void Try(const std::string& part, const Ground& ground, const std::string& what,
           const std::vector<std::string>& program) {
    SCOPED_TRACE(std::string(ground.name) + ": " + what);
    Counts* counts = CountsOf(part);
    ++counts->tried;
    const Done plain = RunOn(ground, {}, program);
    ASSERT_FALSE(plain.outcome.hung) << plain.outcome.Describe();
    ASSERT_NE(plain.outcome.exit_code, 99) << "The ground cannot be laid here: mounts and other "
                                              "users take root or user namespaces, allocators "
                                              "the Debian packages libjemalloc2, "
                                              "libtcmalloc-minimal4 and libmimalloc2.0.\n"
                                           << plain.outcome.err << plain.err;
    const Done recorded =
        RunOn(ground, {Build().Command(), "run", "-q", "-o", RunPath(), "--"}, program);
    if (IsHarmed(plain, recorded)) ++counts->harmed;
    const Found found = Look();
    const bool complete = found.verdict.starts_with("complete");
    if (ground.loss == Loss::kNone) {
      EXPECT_THAT(found.lost, testing::IsEmpty());
    }
    if (found.lost.empty() || !complete || ground.loss == Loss::kNotSaid) return;
    ++counts->silent;
    ADD_FAILURE() << "silent: " << found.verdict << "\n" << testing::PrintToString(found.lost);
  }

  Done RunOn(const Ground& ground, const std::vector<std::string>& launcher,
             const std::vector<std::string>& program) {
    StartAfresh();
    std::vector<std::string> command;
    const auto add = [&command](const std::vector<std::string>& words) {
      command.insert(command.end(), words.begin(), words.end());
    };
    const std::string around_all = ground.around_all;
    if (around_all.find("mount") != std::string::npos) {
      add({"unshare", "--mount"});
      if (geteuid() != 0) add({"--map-root-user"});
    }
    if (!around_all.empty()) add({"/bin/sh", "-c", around_all, "sh"});
    add(launcher);
    add({"/bin/sh", "-c",
         "\"$VICTIM\" 'return from main' 2>/dev/null || exit 98\n"
         "exec \"$@\" 2> \"$VICTIM_ERR\"",
         "sh"});
    if (*ground.around_program != '\0') add({"/bin/sh", "-c", ground.around_program, "sh"});
    add(program);
    Done done{runner_.Run(command), {}};
    done.err = ReadAll(folder_ / "err");
    return done;
  }

  // What the run directory lacks of what the program says, and what the report says of it.
  Found Look() {
    Found found;
    const std::string path = fs::exists(folder_ / "kept") ? folder_ / "kept" : fs::path(RunPath());
    Result<gpubound::Run> run = LoadRun(path);
    Result<Report> report = ReportOfRun(path);
    found.verdict = report.ok() ? report->run.verdict : report.error().ToString();
    if (run.ok()) {
      found.lost = Disagreements(*run, *progress_);
      found.lost_scopes = ScopeDisagreements(*run, *progress_);
    } else {
      found.lost = found.lost_scopes = {run.error().ToString()};
    }
    return found;
  }

  ProgressFile* progress() { return progress_; }
  ProcessRunner* runner() { return &runner_; }
  std::string RunPath() const { return folder_ / "disk" / "run"; }
  const fs::path& folder() const { return folder_; }

  void StartAfresh() {
    for (const char* name : {"disk", "kept", "err", "progress", "file of the victim", "moved"}) {
      fs::remove_all(folder_ / name);
    }
    fs::create_directory(folder_ / "disk");
    chmod((folder_ / "disk").c_str(), 0777);
    if (progress_ != nullptr) munmap(progress_, sizeof(ProgressFile));
    progress_ = MapProgress((folder_ / "progress").c_str());
    chmod((folder_ / "progress").c_str(), 0666);
    std::ofstream(folder_ / "err") << "";
    chmod((folder_ / "err").c_str(), 0666);
  }

  // Says how.
  static bool IsHarmed(const Done& plain, const Done& recorded) {
    bool harmed = false;
    const auto compare = [&harmed](const auto& with, const auto& without, const char* what) {
      EXPECT_EQ(with, without) << "harmed: " << what;
      harmed |= with != without;
    };
    compare(recorded.outcome.hung, plain.outcome.hung, "hangs");
    compare(StatusOf(recorded.outcome), StatusOf(plain.outcome), "status");
    compare(recorded.outcome.out, plain.outcome.out, "output");
    compare(WithoutOurLines(recorded.err), plain.err, "stderr");
    if (harmed)
      std::fprintf(stderr, "%s\n%s\n", recorded.outcome.Describe().c_str(), recorded.err.c_str());
    return harmed;
  }

 private:
  fs::path folder_;
  ProcessRunner runner_;
  ProgressFile* progress_ = nullptr;
};

std::vector<Ground> GroundsToTry() {
  std::vector<Ground> grounds;
  for (const Ground& ground : Grounds()) {
    if (ground.is_short || IsLong()) grounds.push_back(ground);
  }
  return grounds;
}

// A test for each, so that a long matrix can be divided (GTEST_TOTAL_SHARDS).
class GroundTest : public MatrixTest, public testing::WithParamInterface<Ground> {};

TEST_P(GroundTest, ProgramsDoOnEveryGroundWhatTheyDoWithoutUs) {
  const std::vector<const char*>& general = IsLong() ? LongActions() : ShortActions();
  for (const char* action : GetParam().actions.empty() ? general : GetParam().actions) {
    Ground ground = GetParam();
    if (std::string(action) == ground.not_said) ground.loss = Loss::kNotSaid;
    Try("grounds", ground, action, {Build().Victim(), action});
  }
}

INSTANTIATE_TEST_SUITE_P(Grounds, GroundTest, testing::ValuesIn(GroundsToTry()),
                         [](const auto& ground) {
                           std::string name = ground.param.name;
                           std::replace_if(
                               name.begin(), name.end(), [](char c) { return !std::isalnum(c); },
                               '_');
                           return name;
                         });

TEST_F(MatrixTest, ProgramsOfOtherBuildsDoWhatTheyDoWithoutUs) {
  for (const MatrixProgram& program : Programs()) {
    ASSERT_STRNE(program.path, "") << program.name << ": not built; install " << program.missing;
    Try("programs", {"", "", "", program.loss}, program.name, {program.path});
  }
}

TEST_F(MatrixTest, AProgramWhoseSandboxRefusesACallDoesWhatItDoesWithoutUs) {
  const char* const moments[] = {
      "refuse a call before the first scope", "refuse a call in a fork child",
      "refuse a call after the first scope", "refuse a call before a thread"};
  for (const RefusedCall& call : RefusedCalls()) {
    for (const char* moment : moments) {
      for (const int refusal : {0, EPERM, ENOSYS}) {
        if (refusal == ENOSYS && !IsLong()) continue;
        const bool is_first = moment == moments[0] || moment == moments[1];
        if (refusal == 0 && (is_first ? call.needed_first : call.needed_later)) continue;
        if (refusal != 0 && !is_first && call.is_killed_for_alone) continue;
        runner()->Set("VICTIM_CALL", std::to_string(call.number));
        runner()->Set("VICTIM_REFUSAL", std::to_string(refusal));
        Try(refusal == 0 ? "killed for" : "refused",
            {call.name, "", "", is_first && refusal == 0 ? Loss::kNotSaid : Loss::kIfSaid},
            std::string(moment) + (refusal == 0 ? ", by a kill" : ", by an error"),
            {Build().Victim(), moment});
      }
    }
  }
}

TEST_F(MatrixTest, AProgramThatIsKilledAtAnyMomentLosesNothing) {
  constexpr int kMaxDelayUs = 400'000;  // from its start on: several flushes
  const char* const actions[] = {"annotate until killed", "fork until killed",
                                 "start threads until killed"};
  std::mt19937 random(20211);
  std::uniform_int_distribution<int> delay(0, kMaxDelayUs);
  std::uniform_int_distribution<int> early(0, 20'000);
  Counts* counts = CountsOf("kills");
  const int count = IsLong() ? 300 : 24;
  for (int i = 0; i < count; ++i) {
    const char* action = actions[i % std::size(actions)];
    const int delay_us = i / 3 % 2 == 0 ? delay(random) : early(random);
    SCOPED_TRACE(std::string(action) + ", killed after " + std::to_string(delay_us) + " us");
    ++counts->tried;
    StartAfresh();
    runner()->Set("GPUBOUND_RUN", RunPath());
    runner()->Set("GPUBOUND_SEGMENT_BYTES", i / 6 % 2 == 0 ? "1048576" : "1073741824");
    runner()->Set("LD_PRELOAD", GPUBOUND_TEST_SHIM);
    runner()->WhileRunning([delay_us](pid_t victim) {
      usleep(static_cast<useconds_t>(delay_us));
      kill(-victim, SIGKILL);  // and its children
    });
    const Outcome outcome = runner()->Run({Build().Victim(), action});
    EXPECT_EQ(outcome.signal, SIGKILL) << outcome.Describe();
    EXPECT_EQ(outcome.err, "");
    if (outcome.signal != SIGKILL || !outcome.err.empty()) ++counts->harmed;
    uint64_t completed = 0;
    for (uint32_t l = 0; l < progress()->used; ++l) completed += progress()->lines[l].completed;
    if (completed == 0) continue;  // nothing to lose yet
    const Found found = Look();
    EXPECT_THAT(found.lost_scopes, testing::IsEmpty()) << found.verdict;
    if (!found.lost.empty() && found.verdict.starts_with("complete")) ++counts->silent;
  }
}

}  // namespace
}  // namespace gpubound
