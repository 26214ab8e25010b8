// SPDX-License-Identifier: Apache-2.0
//
// Starts gpubound with a clean environment and the stand-in CUDA libraries in the loader's path.
#include "tests/integration/command_run.h"

#include "analysis/reader/reader.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

// Sanitized programs get as many times the usual as ctest gives their tests.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int kDeadlineSeconds = 600;
#else
constexpr int kDeadlineSeconds = 120;
#endif

}  // namespace

CommandRun::CommandRun() : run_path_(folder_.File("x.gpubound")) {
  runner_.SetDirectory(folder_.path());
  runner_.SetDeadlineSeconds(kDeadlineSeconds);
  runner_.Set("LD_LIBRARY_PATH", GPUBOUND_TEST_SIM_DIR);
  // A duration of each kernel that is far above what the machine's noise adds.
  runner_.Set("GPUBOUND_SIM_SCRIPT",
              R"({"device": {"kernels": {"policy_forward": 300000, "policy_backward": 500000,)"
              R"( "optimizer_step": 100000}}})");
  for (const char* name : {"GPUBOUND_RUN", "LD_PRELOAD", "GPUBOUND_DISABLE", "GPUBOUND_LIBRARY",
                           "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "COLUMNS"}) {
    runner_.Unset(name);
  }
  runner_.Set("LC_ALL", "C.UTF-8");
  runner_.Set("GPUBOUND_CALIBRATE", "0");
  runner_.Set("XDG_CACHE_HOME", folder_.File("cache"));
}

Outcome CommandRun::Gpubound(const std::vector<std::string>& words) {
  std::vector<std::string> command = {GPUBOUND_TEST_COMMAND};
  command.insert(command.end(), words.begin(), words.end());
  Outcome outcome = runner_.Run(command);
  EXPECT_FALSE(outcome.hung) << outcome.Describe();
  return outcome;
}

Outcome CommandRun::Profile(const std::vector<std::string>& command, int status) {
  std::vector<std::string> words = {"run", "-o", run_path_, "--"};
  words.insert(words.end(), command.begin(), command.end());
  Outcome outcome = Gpubound(words);
  EXPECT_EQ(outcome.exit_code, status) << outcome.Describe();
  return outcome;
}

Json CommandRun::Report() {
  const Outcome outcome = Gpubound({"report", run_path_, "--json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.Describe();
  return Json::parse(outcome.out, nullptr, /*allow_exceptions=*/false);
}

gpubound::Run CommandRun::Load() {
  Result<gpubound::Run> run = LoadRun(run_path_);
  if (run.ok()) return std::move(run).value();
  ADD_FAILURE() << run.error().ToString();
  return {};
}

Json CommandRun::RunRecordJson() { return Json::parse(ReadText(run_path_ + "/run.json")); }

std::vector<std::string> CommandRun::Databases() const {
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(run_path_)) {
    if (entry.path().extension() == ".db") paths.push_back(entry.path().string());
  }
  return paths;
}

void ExpectNoLoss(const Json& report) {
  for (const Json& entry : report.at("ledger")) {
    EXPECT_NE(entry.at("severity"), "data_loss") << entry;
    EXPECT_NE(entry.at("severity"), "error") << entry;
  }
}

Json RowOf(const Json& process, const std::string& operation) {
  for (const Json& row : process["operations"]) {
    if (row["operation"] == operation) return row;
  }
  return nullptr;
}

int64_t UnknownNsOf(const Json& process) {
  int64_t unknown_ns = 0;
  for (const Json& row : process["operations"]) unknown_ns += row["unknown_ns"].get<int64_t>();
  return unknown_ns;
}

void ExpectExactPartition(const Json& report) {
  ASSERT_FALSE(report["processes"].empty());
  for (const Json& process : report["processes"]) {
    int64_t cells = 0;
    for (const Json& cell : process["cells"]) cells += cell["ns"].get<int64_t>();
    EXPECT_EQ(cells, process["span_ns"]);
    int64_t rows = 0;
    for (const Json& row : process["operations"]) {
      int64_t columns = 0;
      for (const char* column :
           {"cpu_only_ns", "cpu_gpu_ns", "gpu_only_ns", "waiting_ns", "idle_ns", "unknown_ns"}) {
        columns += row[column].get<int64_t>();
      }
      EXPECT_EQ(columns, row["wall_ns"]) << row["operation"];
      rows += row["wall_ns"].get<int64_t>();
    }
    EXPECT_EQ(rows, process["span_ns"]);
  }
}

}  // namespace gpubound
