// SPDX-License-Identifier: Apache-2.0
//
// What `gpubound doctor` thinks of a machine: facts in, judgements out. Gathering the facts is
// machine_facts.h; everything here is pure.
#ifndef GPUBOUND_TOOLS_LAUNCH_READINESS_H_
#define GPUBOUND_TOOLS_LAUNCH_READINESS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/output/text/report_text.h"

namespace gpubound {

// Where something was looked for and what came of it.
struct LoadedLibrary {
  std::string path;     // empty: not found
  std::string problem;  // found, but it could not be loaded, and why
};

struct DriverFacts {
  LoadedLibrary libcuda;
  int cuda_version = 0;  // 13000 = CUDA 13.0; 0: unknown
  int device_nodes = 0;  // /dev/nvidia0 and so on, or /dev/dxg
  int forbidden_device_nodes = 0;
};

struct CuptiFacts {
  std::vector<std::string> candidates;  // paths of libcupti, best first
  std::string chosen;                   // GPUBOUND_CUPTI_LIBRARY
  bool chosen_exists = false;
  bool switched_off = false;     // GPUBOUND_CUPTI=0
  std::string foreign_injector;  // CUDA_INJECTION64_PATH of another tool
};

struct RunPlaceFacts {
  std::string path;        // where a run directory would be made
  std::string problem;     // why nothing can be written there
  std::string filesystem;  // "ext4", "nfs"; empty: unknown
  bool is_network = false;
  std::optional<uint64_t> free_bytes;
};

struct MachineFacts {
  std::string libraries_folder;
  std::string libraries_problem;  // why there is none
  std::string libraries_remedy;
  LoadedLibrary core;
  std::vector<std::string> python_extensions;  // file names: _core.abi3.so and its like
  DriverFacts driver;
  CuptiFacts cupti;
  bool invariant_tsc = false;
  RunPlaceFacts place;
  std::string kernel;  // uname -r
  bool disabled = false;
  std::vector<std::string> unknown_variables;  // GPUBOUND_* that mean nothing
};

enum class Readiness { kOk, kNote, kProblem };

struct Check {
  Readiness readiness = Readiness::kOk;
  std::string subject;
  std::string finding;
  std::string remedy;  // empty: nothing to do
};

std::vector<Check> JudgeMachine(const MachineFacts& facts);

bool HasProblem(const std::vector<Check>& checks);

// One line for each check, its remedy below it, and a verdict.
std::string RenderChecks(const std::vector<Check>& checks, const TextOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_LAUNCH_READINESS_H_
