// SPDX-License-Identifier: Apache-2.0
//
// Looks at the environment and at who started this process. No state.
#include "tools/launch/launched_job.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <vector>

#include "proto/rank_variables.h"
#include "tools/console/console.h"

namespace gpubound {
namespace {

// The variables that name a job together; the first ones that are all set count.
const std::vector<std::vector<const char*>>& JobVariables() {
  static const std::vector<std::vector<const char*>> variables = {
      {"TORCHELASTIC_RUN_ID", "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT"},
      {"PMIX_NAMESPACE"},                // Open MPI, and Slurm with PMIx
      {"SLURM_JOB_ID", "SLURM_STEP_ID"}  // srun
  };
  return variables;
}

}  // namespace

std::string LaunchedJob(const std::function<const char*(const char*)>& variable) {
  const auto* const ranks =
      std::find_if(std::begin(kRankVariables), std::end(kRankVariables),
                   [&](const RankVariables& of) { return IsSet(variable(of.rank)); });
  if (ranks == std::end(kRankVariables) || !IsSet(variable(ranks->size)) ||
      std::string_view(variable(ranks->size)) == "1") {
    return {};
  }
  for (const std::vector<const char*>& names : JobVariables()) {
    std::string job;
    for (const char* name : names) {
      if (!IsSet(variable(name))) {
        job.clear();
        break;
      }
      job += (job.empty() ? "" : "-") + std::string(variable(name));
    }
    if (!job.empty()) return job;
  }
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return std::string(host) + "-" + std::to_string(getppid());
}

}  // namespace gpubound
