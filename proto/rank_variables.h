// SPDX-License-Identifier: Apache-2.0
//
// By which environment variables launchers tell a process which rank of how many it is; the first
// pair that is set counts. The recorder stores them, the reader understands them.
#ifndef GPUBOUND_PROTO_RANK_VARIABLES_H_
#define GPUBOUND_PROTO_RANK_VARIABLES_H_

namespace gpubound {

struct RankVariables {
  const char* rank;
  const char* size;
};

// Of Slurm the step's size, which a job script has not: it is no rank of what it starts.
inline constexpr RankVariables kRankVariables[] = {
    {"RANK", "WORLD_SIZE"},  // torchrun, Accelerate, DeepSpeed
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI_RANK", "PMI_SIZE"},  // MPICH, Intel MPI
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_RANK_VARIABLES_H_
