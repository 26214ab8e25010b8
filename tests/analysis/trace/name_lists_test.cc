// SPDX-License-Identifier: Apache-2.0
#include "analysis/trace/name_lists.h"

#include <gtest/gtest.h>

#include "analysis/trace/label_roles.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {
namespace {

WorkClass ClassOfKernel(const std::string& name) {
  Work work;
  work.info.kind = WorkKind::kKernel;
  work.name = name;
  return ClassOf(work);
}

TEST(NameListsTest, KnowsCollectivesByTheirKernels) {
  for (const char* name : {
           "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
           "ncclKernel_AllReduce_RING_LL_Sum_float",
           "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE",
           "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 2>(vllm::RankData*)",
           "_ZN4vllm26cross_device_reduce_1stageI13__nv_bfloat16Li2EEEvPNS_8RankDataE",
           "nvshmemi_transfer_rma",
           "mscclKernel_Sum_half",
           "void deep_ep::internode::dispatch<true, false>(int4*, float*)",
           "void deep_ep::intranode::combine<__nv_bfloat16, 8>(__nv_bfloat16*)",
           "void deep_ep::internode_ll::combine<true>(void*)",
           "_ZN7deep_ep12internode_ll8dispatchILb1EEEvPv",
           "void tensorrt_llm::kernels::moe_comm::moeA2ADispatchKernel<8>(int const*)",
           "void mori::moe::EpDispatchIntraNodeKernel<hip_bfloat16>(mori::moe::EpArgs)",
           "void quickreduce::allreduce_prototype_twoshot<half>(half const*)",
           "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop",
           "hcom_allReduce__210_0_1",
       }) {
    EXPECT_EQ(ClassOfKernel(name), kComm) << name;
  }
}

TEST(NameListsTest, TakesOtherKernelsAsCompute) {
  for (const char* name : {
           "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize64x64x32",
           "void at::native::elementwise<ncclThing>(int)",
           "my_reduce_nccl_like",
           "void deep_ep::layout::get_dispatch_layout<8>(long const*)",
           "",
       }) {
    EXPECT_EQ(ClassOfKernel(name), kCompute) << name;
  }
}

TEST(NameListsTest, TakesCopiesAndSetsAsCopiesWhateverTheirName) {
  Work work;
  work.name = "nccl";
  work.info.kind = WorkKind::kMemcpy;
  EXPECT_EQ(ClassOf(work), kCopy);
  work.info.kind = WorkKind::kMemset;
  EXPECT_EQ(ClassOf(work), kCopy);
}

TEST(NameListsTest, KnowsLibraryAnnotations) {
  EXPECT_TRUE(IsLibraryAnnotation("NCCL", "ncclAllReduce"));
  EXPECT_TRUE(IsLibraryAnnotation("TSL", "anything"));
  EXPECT_TRUE(IsLibraryAnnotation("cuBLASLt", "anything"));
  EXPECT_TRUE(IsLibraryAnnotation("torch", "anything"));
  EXPECT_FALSE(IsLibraryAnnotation("torchrl", "anything"));
  EXPECT_TRUE(IsLibraryAnnotation("", "nccl:all_reduce"));
  EXPECT_TRUE(IsLibraryAnnotation("", "## Call CompiledFxGraph fabc ##"));
  EXPECT_TRUE(IsLibraryAnnotation("", "Torch-Compiled Region: 0/0"));
}

TEST(NameListsTest, LeavesTheUsersAnnotationsAlone) {
  EXPECT_FALSE(IsLibraryAnnotation("", "forward"));
  EXPECT_FALSE(IsLibraryAnnotation("mylib", "step"));
  EXPECT_FALSE(IsLibraryAnnotation("cubist", "paint"));
  EXPECT_FALSE(IsLibraryAnnotation("", "my nccl:wrapper"));
}

TEST(NameListsTest, KnowsWeightSyncsAndRewardsByFrameworksNames) {
  for (const char* name :
       {"weight_sync", "update_weights", "timing_s/param_sync", "GRPOTrainer.sync_weights",
        "sync_model_to_rollout", "broadcast_to_vllm", "broadcast_weights_for_collective",
        "stream_weights_via_ipc_zmq", "trainer_push_model_state_dict", "pull_model_state_dict_copy",
        "save_weights_for_sampler"}) {
    EXPECT_TRUE(WeightSyncNames().Matches(name)) << name;
  }
  for (const char* name : {"update", "sync", "weights", "sync_log_step", "model_state_dict"}) {
    EXPECT_FALSE(WeightSyncNames().Matches(name)) << name;
  }
  for (const char* name :
       {"reward", "compute_score_batch", "score_group", "GRPOTrainer._calculate_rewards"}) {
    EXPECT_TRUE(RewardNames().Matches(name)) << name;
  }
}

TEST(NameListsTest, MatchesStarsAndAnchors) {
  const NameList list("# a comment\n\n^front*\nany*end\n*inner*\n");
  EXPECT_TRUE(list.Matches("FrontDoor"));
  EXPECT_FALSE(list.Matches("void front"));
  EXPECT_TRUE(list.Matches("void anything::at end"));
  EXPECT_TRUE(list.Matches("xxinnerxx"));
  EXPECT_FALSE(list.Matches("a comment"));
}

}  // namespace
}  // namespace gpubound
