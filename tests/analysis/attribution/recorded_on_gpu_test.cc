// SPDX-License-Identifier: Apache-2.0
//
// The report of a run that was recorded on a real GPU (tests/data/README.md): JAX, one jitted
// function with three named scopes, most of it in CUDA graphs.
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "analysis/attribution/build_report.h"
#include "analysis/reader/reader.h"
#include "analysis/report/report.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

class RecordedOnGpuTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("recorded." + std::to_string(getpid()));
    fs::create_directories(folder_);
    gzFile packed = gzopen(GPUBOUND_TEST_DATA "/runs/h100_jax_scopes.db.gz", "rb");
    ASSERT_NE(packed, nullptr);
    std::ofstream database(folder_ / "host.2405.1795368213865835797.0.db", std::ios::binary);
    char buffer[1 << 16];
    for (int got = gzread(packed, buffer, sizeof(buffer)); got > 0;
         got = gzread(packed, buffer, sizeof(buffer))) {
      database.write(buffer, got);
    }
    ASSERT_EQ(gzclose(packed), Z_OK);
    database.close();
    std::ofstream(folder_ / "run.json") << R"({"format": "gpubound.run.v1", "version": "0.1.0",
        "command": ["python3", "jax_scopes.py"], "cwd": "/", "host": "host", "root_pid": 2405,
        "start_monotonic_ns": 158433605869, "start_realtime_ns": 1795368213864605599,
        "end_monotonic_ns": 165784168514, "exit_code": 0,
        "recorded": ["host.2405.1795368213865835797"]})";
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path folder_;
};

TEST_F(RecordedOnGpuTest, TheReportIsSoundAndTheScopesHaveTheirTime) {
  const Result<gpubound::Run> run = LoadRun(folder_);
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  const Result<Report> report = BuildReport(*run);
  ASSERT_TRUE(report.ok()) << report.error().ToString();
  EXPECT_EQ(report->device_kind, "real");
  ASSERT_EQ(report->processes.size(), 1u);
  const ReportProcess& process = report->processes.front();
  int64_t cells_ns = 0;
  for (const ReportCell& cell : process.cells) cells_ns += cell.ns;
  EXPECT_EQ(cells_ns, process.span_ns);
  EXPECT_EQ(process.unknown_ns, 0);
  std::map<std::string, int64_t> caused_ns;
  for (const ReportOperation& row : process.operations) {
    caused_ns[row.operation] = row.gpu_caused_ns;
  }
  // Recomputed from the events by a script that knows nothing of this code: the union of the work
  // whose graph node was made in the scope, or whose launch was.
  EXPECT_EQ(caused_ns.at("inference"), 7506399);
  EXPECT_EQ(caused_ns.at("simulation"), 990293);
  EXPECT_EQ(caused_ns.at("backpropagation"), 2406994);
}

TEST_F(RecordedOnGpuTest, WhatCuptiDeliversIsWhatTheFormatSays) {
  const Result<gpubound::Run> run = LoadRun(folder_);
  ASSERT_TRUE(run.ok()) << run.error().ToString();
  const ProcessTrace& process = run->processes.front();
  std::set<uint32_t> correlations;
  for (const ThreadTrace& thread : process.threads) {
    for (const ApiCall& call : thread.calls) {
      EXPECT_LE(call.start_ns, call.end_ns);
      correlations.insert(call.correlation);
    }
  }
  int64_t in_graphs = 0;
  ASSERT_EQ(process.device_work.size(), 15452u);
  for (const DeviceWork& work : process.device_work) {
    EXPECT_LT(work.start_ns, work.end_ns);
    EXPECT_EQ(correlations.count(work.correlation), 1u);
    in_graphs += work.graph_node != 0;
  }
  EXPECT_EQ(in_graphs, 10653);
  for (const auto& device : process.devices) {
    if (device.uuid.empty()) continue;
    EXPECT_EQ(device.name, "NVIDIA H100 80GB HBM3");
  }
}

}  // namespace
}  // namespace gpubound
