// SPDX-License-Identifier: Apache-2.0
//
// Each run as the text of a scenario. No state.
#include "tests/page/odd_pages.h"

#include <cstdio>
#include <utility>
#include <vector>

#include "analysis/attribution/build_report.h"
#include "analysis/correction/corrected_report.h"
#include "analysis/correction/report_options.h"
#include "analysis/output/check/compare.h"
#include "analysis/output/text/report_text.h"
#include "analysis/report/report_json.h"
#include "tests/golden/scenario.h"
#include "tools/commands/report_file.h"
#include "tools/commands/report_page.h"

namespace gpubound {
namespace {

constexpr char kLongPath[] = "actor_critic/encoder/transformer/encoder_layer_block_number_";

std::string At(int64_t ns, const std::string& thread, const std::string& what) {
  return "@" + std::to_string(ns) + " " + thread + " " + what + "\n";
}

// A kernel, and the call before it that launched it.
std::string Launched(const std::string& name, int64_t begin_ns, int64_t length_ns, int number) {
  const std::string id = " #" + std::to_string(number) + "\n";
  return "call main " + std::to_string(begin_ns - 3) + " " + std::to_string(begin_ns - 1) +
         " cudaLaunchKernel" + id + "kernel " + std::to_string(begin_ns) + " " +
         std::to_string(begin_ns + length_ns) + " " + name + id;
}

std::string Sparse() {
  static constexpr const char* kNames[] = {"toString", "constructor", "__proto__", "valueOf"};
  std::string text = "span 0 1000000000\nthread main\n" + At(0, "main", "begin operation train");
  for (int i = 0; i < 4'000; ++i) text += Launched(kNames[i % 4], i * 250'000 + 1'000, 50, i + 1);
  return text;
}

// Kernels of all lengths up to the quarter of a millisecond that each has.
std::string Uneven() {
  std::string text = "span 0 1000000000\nthread main\n" + At(0, "main", "begin operation train");
  for (int i = 0; i < 4'000; ++i) {
    text += Launched("k", i * 250'000 + 1'000, i * 7'919 % 249 * 1'000, i + 1);
  }
  return text;
}

// Three hours, and kernels of some ns in the middle.
std::string Long() {
  std::string text = "span 0 10800000000000\nthread main\n";
  for (int i = 0; i < 4; ++i) text += Launched("k", 5'400'000'000'000 + i * 50, 2, i + 1);
  return text;
}

std::string Deep() {
  std::string text = "span 0 100000\nthread main\n";
  for (int i = 0; i < 80; ++i) {
    text += At(1'000 + i, "main", "begin operation depth-" + std::to_string(i));
  }
  return text;
}

std::string Rows() {
  constexpr int kOperations = 100;
  std::string text = "span 0 1000000\nthread main\nthread helper\n";
  for (int i = 0; i < kOperations; ++i) {
    const std::string name = "operation turn-" + std::to_string(i);
    const int64_t at = 10'000 * i;
    for (const char* thread : {"main", "helper"}) {
      text += At(at + 1'000, thread, "begin " + name) + At(at + 8'000 + i, thread, "end " + name);
    }
    text += Launched("k" + std::to_string(i), at + 3'000, 2'000 + i, i + 1);
    if (i % 10 == 9) text += At(at + 9'000, "main", "step " + std::to_string(i / 10));
  }
  return text;
}

std::string Classes() {
  return "span 0 1000\nthread main\n" + Launched("gemm", 100, 500, 1) +
         Launched("ncclDevKernel_AllReduce", 200, 100, 2) +
         "call main 690 692 cudaMemcpyAsync #3\ncopy 700 900 HtoD #3\n";
}

// A worker of |Roles|, on a device of its own; the second one is done earlier.
std::string RollingWorker(int worker) {
  const std::string pid = std::to_string(101 + worker);
  std::string text = "process " + pid + " 100\nrole rollout\nspan 0 400000\nthread main\n";
  for (int i = 0; i < 4; ++i) {
    const int64_t at = 100'000 * i;
    const int64_t done = at + 40'000 - 12'000 * worker;
    text += At(at, "main", "begin operation simulation") +
            At(done - 10'000, "main", "end operation simulation") +
            At(done - 10'000, "main", "begin operation inference") +
            At(done - 1'000, "main", "counter env_steps 16") +
            At(done, "main", "end operation inference") + At(done, "main", "begin wait 100") +
            At(at + 90'000, "main", "begin operation weight_sync") +
            At(at + 99'000, "main", "end operation weight_sync") +
            At(at + 99'500, "main", "end wait 100");
    const std::string id = " #" + std::to_string(i + 1);
    text += "call main " + std::to_string(done - 9'500) + " " + std::to_string(done - 9'000) +
            " cudaLaunchKernel" + id + "\nkernel " + std::to_string(done - 9'000) + " " +
            std::to_string(done - 1'000) + " forward" + id +
            " device=" + std::to_string(worker + 2) + "\n";
  }
  return text + (worker == 0 ? At(350'000, "main", "counter discarded_samples:stale 8") +
                                   At(351'000, "main", "counter discarded_samples 2")
                             : "");
}

// Two workers make samples until 40 and 28 us of each 100, then a trainer learns until 90 and sends its
// weights. It says what it consumes, how good it is, and what its model computes.
std::string Roles() {
  std::string text = "role train\nspan 0 400000\ndevice 2\ndevice 3\nthread main\n" +
                     At(100, "main", "counter flops_per_iteration 20000000000") +
                     At(150, "main", "counter flops_peak_per_second 1000000000000000") +
                     At(200, "main", "counter policy_version 0");
  for (int i = 0; i < 4; ++i) {
    const int64_t at = 100'000 * i;
    text += At(at + 300, "main", "begin operation collect") +
            At(at + 300, "main", "begin wait 102") + At(at + 28'000, "main", "end wait 102") +
            At(at + 29'000, "main", "begin wait 101") + At(at + 40'000, "main", "end wait 101") +
            At(at + 40'000, "main", "end operation collect") +
            At(at + 40'000, "main", "begin operation update") +
            At(at + 41'000, "main", "counter consumed_version " + std::to_string(i / 2)) +
            At(at + 41'000, "main", "counter consumed_samples 32") +
            At(at + 88'000, "main", "counter return " + std::to_string(i)) +
            At(at + 90'000, "main", "end operation update") +
            At(at + 90'000, "main", "begin operation weight_sync") +
            At(at + 91'000, "main", "counter weight_sync_bytes 1000") +
            At(at + 98'000, "main", "counter policy_version " + std::to_string(i + 1)) +
            At(at + 99'000, "main", "end operation weight_sync") +
            At(at + 99'999, "main", "step " + std::to_string(i));
    const std::string id = " #" + std::to_string(i + 1);
    text += "call main " + std::to_string(at + 42'000) + " " + std::to_string(at + 43'000) +
            " cudaLaunchKernel" + id + "\nkernel " + std::to_string(at + 43'000) + " " +
            std::to_string(at + 84'000) + " backward" + id + "\n";
  }
  return text + "target return>=2 over 2\ntarget return>=9 over 1\n" + RollingWorker(0) +
         RollingWorker(1);
}

std::string RolesWithoutGpu() {
  return "span 0 100000\nthread main\n" + At(0, "main", "begin wait 101") +
         At(40'000, "main", "end wait 101") + At(40'000, "main", "begin operation update") +
         At(100'000, "main", "end operation update") +
         "process 101 100\nspan 0 100000\nthread main\n" +
         At(0, "main", "begin operation simulation") +
         At(40'000, "main", "end operation simulation") + At(40'000, "main", "begin wait 100") +
         At(100'000, "main", "end wait 100");
}

// Two hosts whose processes have one pid, and a device of their own each.
std::string Alike() {
  return "host near 1000\nthread main\n" + Launched("k", 20, 40, 1) +
         "process 100 1\nhost far 910\nspan 100 190\nthread main\n"
         "device 2 sms=4 blocks=2\ncall main 110 112 cudaLaunchKernel #1\n"
         "kernel 120 160 k #1 device=2\n";
}

// Eight trainers of sixty operations whose names differ at their ends alone, with kernels of which only
// template arguments do.
std::string Names() {
  std::string text;
  for (int p = 0; p < 8; ++p) {
    if (p > 0) text += "process " + std::to_string(1000 + p) + " 100\n";
    text += "span 0 1000000\nthread main\n";
    for (int i = 0; i < 60; ++i) {
      const std::string name =
          "operation " + std::string(kLongPath) + std::to_string(i) + "/attention_output";
      const int64_t at = 16'000 * i + 1'000 * p;
      text += At(at + 100, "main", "begin " + name);
      text += Launched("kernel" + std::to_string(i % 6), at + 1'000, 4'000 + 100 * i, i + 1);
      text += At(at + 12'000, "main", "end " + name);
      if (i % 10 == 9) text += At(at + 12'100, "main", "step " + std::to_string(i / 10));
    }
  }
  return text;
}

// Fifty processes on a host each, with a device of its own.
std::string Many() {
  std::string text;
  for (int p = 0; p < 50; ++p) {
    if (p > 0) text += "process " + std::to_string(1000 + p) + " 1\n";
    text += "host h" + std::to_string(p) + " 0\nspan 0 1000\nthread main\n" +
            Launched("k", 110, 40 + p, 1);
  }
  return text;
}

// Sixteen ranks of one collective on two hosts, of which those of the second simulate for longer.
std::string Ranks() {
  std::string text;
  for (int p = 0; p < 16; ++p) {
    if (p > 0) text += "process " + std::to_string(1000 + p) + " 1\n";
    text += "host node" + std::to_string(p / 8) + " 0\nspan 0 1000\nthread main\n" +
            At(0, "main", "begin operation simulation") +
            At(p < 8 ? 300 + p : 700, "main", "end operation simulation") +
            Launched("ncclDevKernel_AllReduce", 900, 50, 1);
  }
  return text;
}

void GiveRanks(Run* run) {
  int64_t rank = 0;
  for (ProcessTrace& process : run->processes) {
    process.job = gpubound::JobRank{"RANK", rank++, static_cast<int64_t>(run->processes.size())};
  }
}

// As PyTorch's: what differs stands in the middle of what is long.
std::string TemplateName(const std::string& functor) {
  return "void at::native::vectorized_elementwise_kernel<4, at::native::" + functor +
         "<c10::BFloat16>, std::array<char*, 3ul>>(int, at::native::" + functor +
         "<c10::BFloat16>, std::array<char*, 3ul>)";
}

void GiveLongNames(Run* run) {
  static constexpr const char* kFunctors[] = {"CUDAFunctor_add", "CUDAFunctor_mul",
                                              "AddcmulFunctor",  "LerpScalarFunctor",
                                              "SqrtFunctor",     "RsqrtFunctor"};
  GiveRanks(run);
  for (ProcessTrace& process : run->processes) {
    process.name = "ppo_worker_with_a_really_long_program_name_of_rank";
    for (gpubound::Work& work : process.works) {
      for (int i = 0; i < 6; ++i) {
        if (work.name == "kernel" + std::to_string(i)) work.name = TemplateName(kFunctors[i]);
      }
    }
  }
}

bool WritePage(const std::string& path, const AnalyzedRun& analyzed) {
  const Result<std::string> page = PageOf(analyzed);
  if (!page.ok()) return false;
  TextOptions text;
  text.width = 100'000;  // a line for each sentence
  text.full = true;
  return WriteWholeFile(path + ".html", *page, /*force=*/true).ok() &&
         WriteWholeFile(path + ".json", RenderJson(analyzed.report), /*force=*/true).ok() &&
         WriteWholeFile(path + ".txt", RenderText(analyzed.report, text), /*force=*/true).ok();
}

bool WriteEmpty(const std::string& path) {
  AnalyzedRun analyzed;
  Result<Report> report = BuildReport(analyzed.run);
  if (!report.ok()) return false;
  analyzed.report = std::move(*report);
  return WritePage(path, analyzed);
}

std::string UuidOf(const Device& device, const ProcessTrace& process) {
  return "GPU-0000000" + std::to_string(device.info.index) + process.identity.host;
}

// Of 80 GiB, NVML saw 12.3 in use.
void GiveMemory(Run* run) {
  for (ProcessTrace& process : run->processes) {
    for (Device& device : process.devices) {
      device.info.memory_bytes = uint64_t{80} << 30;
      process.utilization.push_back(
          {UuidOf(device, process),
           {.time_ns = process.span_begin_ns, .memory_used_bytes = (int64_t{123} << 30) / 10}});
    }
  }
}

bool WriteRun(const std::string& path, const std::string& text, void (*edit)(Run*) = nullptr) {
  golden::Scenario scenario = golden::ParseScenario(text);
  for (const std::string& mistake : scenario.mistakes) {
    std::fprintf(stderr, "%s: not understood: %s\n", path.c_str(), mistake.c_str());
  }
  ReportOptions options;
  options.replays = true;
  options.what_if = true;
  options.targets = scenario.options.targets;
  options.costs.emplace();
  for (Cost& cost : options.costs->kinds) cost = {1, 0, 2, 4, 1000};
  AnalyzedRun analyzed;
  analyzed.run = std::move(scenario.run);
  if (edit != nullptr) edit(&analyzed.run);
  for (ProcessTrace& process : analyzed.run.processes) {
    for (Device& device : process.devices) {
      device.name = "NVIDIA H100";
      device.uuid = UuidOf(device, process);
    }
  }
  Result<Report> report = BuildReport(analyzed.run, options);
  if (!report.ok() || !AddReplays(analyzed.run, options, &*report).ok()) return false;
  analyzed.report = std::move(*report);
  return WritePage(path, analyzed);
}

// Two single runs of many operations, of which one is twice as long.
bool WriteSingleRuns(const std::string& folder) {
  std::vector<RunGroup> groups(2);
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].name = i == 0 ? "A" : "B";
    groups[i].runs = {groups[i].name};
    std::string text = "span 0 " + std::to_string(1'000 * (i + 1)) + "\nthread main\n";
    for (int k = 0; k < 60; ++k) {
      const std::string name = " operation turn-" + std::to_string(k);
      text += At(10 * k, "main", "begin" + name) + At(10 * k + 3 + k / 10, "main", "end" + name);
    }
    groups[i].reports.push_back(*BuildReport(golden::ParseScenario(text).run));
  }
  const Result<std::string> page = ComparisonPageOf(CompareGroups(groups, /*seed=*/1), groups);
  return page.ok() && WriteWholeFile(folder + "/single.html", *page, /*force=*/true).ok();
}

}  // namespace

bool WriteOddPages(const std::string& folder) {
  return WriteRun(folder + "/sparse", Sparse()) && WriteRun(folder + "/uneven", Uneven()) &&
         WriteRun(folder + "/long", Long()) && WriteRun(folder + "/deep", Deep()) &&
         WriteRun(folder + "/rows", Rows()) && WriteRun(folder + "/classes", Classes()) &&
         WriteRun(folder + "/alike", Alike()) && WriteRun(folder + "/many_processes", Many()) &&
         WriteEmpty(folder + "/empty") && WriteRun(folder + "/names", Names(), &GiveLongNames) &&
         WriteRun(folder + "/ranks", Ranks(), &GiveRanks) &&
         WriteRun(folder + "/roles", Roles(), &GiveMemory) &&
         WriteRun(folder + "/no_gpu_roles", RolesWithoutGpu()) && WriteSingleRuns(folder);
}

}  // namespace gpubound
