// SPDX-License-Identifier: Apache-2.0
//
// Categories of kernels that real programs ran: names of recorded profiles, and of libraries whose
// kernels are known by name.
#include "analysis/trace/work_category.h"

#include <gtest/gtest.h>

#include <string>

namespace gpubound {
namespace {

struct Known {
  const char* category;
  const char* name;
};

std::string CategoryOfKernel(const char* name, const char* op = "") {
  return std::string(WorkCategoryName(CategoryOf(name, kCompute, op)));
}

TEST(WorkCategoryTest, KernelsOfRecordedProfilesHaveTheCategoryOfWhatTheyCompute) {
  constexpr Known kKernels[] = {
      // PyTorch on an H100: a language model and BERT.
      {"gemm",
       "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_"
       "segment_k_off_kernel__5x_cublas"},
      {"gemm",
       "void cutlass::Kernel2<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8>"
       "(cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x2_tn_align8::Params)"},
      {"attention",
       "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, "
       "4, false, false, cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)"},
      {"elementwise",
       "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl_nocast<"
       "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
       "at::native::binary_internal::MulFunctor<float> > >(at::TensorIteratorBase&)>(int)"},
      {"elementwise",
       "void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
       "at::TensorIteratorBase&)::{lambda()#3}::operator()() const, std::array<char*, 2ul>, 4>"},
      {"elementwise",
       "void (anonymous namespace)::elementwise_kernel_with_index<int, at::native::arange_cuda_out("
       "c10::Scalar const&, at::Tensor&)::{lambda()#1}>(int)"},
      {"reduction",
       "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, "
       "at::native::MeanOps<float, float, float, float>, unsigned int, float, 4> >()"},
      {"normalisation",
       "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>("
       "int, float, c10::BFloat16 const*)"},
      {"copy",
       "void at::native::(anonymous namespace)::CatArrayBatchedCopy<at::native::(anonymous "
       "namespace)::OpaqueType<2u>, unsigned int, 4, 64, 64>(int)"},
      {"copy",
       "void at::native::(anonymous namespace)::indexSelectLargeIndex<c10::BFloat16, long, "
       "unsigned int, 2, 2, -2, true>(at::cuda::detail::TensorInfo<long const, unsigned int>)"},
      // A convolutional network on an A100.
      {"gemm", "ampere_sgemm_32x32_sliced1x4_tn"},
      {"convolution", "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1"},
      {"convolution",
       "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_"
       "stage4_warpsize2x2x1_g1_tensor16x8x8_alignc4_execute_kernel_cudnn"},
      {"convolution", "void fft2d_r2c_32x32<float, false, 5u, true>(float2*, float const*, int)"},
      {"gemm", "void epilogue::impl::globalKernel<float, float, float, true, true>(int, int)"},
      {"copy", "void cudnn::ops::nchwToNhwcKernel<float, float, float, false, true>(float const*)"},
      {"elementwise",
       "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<float, float, unsigned "
       "int, 1, 4, bool>(int)"},
      {"other",
       "void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>(int, float "
       "const*)"},
      // A decoding step on an AMD device.
      {"gemm", "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT32x32x256_MI16x16x1_SN_LDSB1"},
      {"gemm", "_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1_swiglu"},
      {"attention", "kernel_unified_attention_3d"},
      {"attention", "reduce_segments"},
      {"normalisation",
       "_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27Rmsnorm2dFwdPipelineOnePassIiEEEEEEvv"},
      {"elementwise", "triton_poi_fused__to_copy_1"},
      {"elementwise",
       "void vllm::rotary_embedding_kernel<c10::BFloat16, true>(long const*, c10::BFloat16*)"},
      {"copy",
       "void vllm::reshape_and_cache_flash_kernel<__hip_bfloat16, __hip_bfloat16>(int const*)"},
      {"other", "_combined_routing_compute"},
  };
  for (const Known& known : kKernels) {
    EXPECT_EQ(CategoryOfKernel(known.name), known.category) << known.name;
  }
}

TEST(WorkCategoryTest, KernelsOfCompilersAndOptimizersAreKnownByName) {
  constexpr Known kKernels[] = {
      {"elementwise", "triton_poi_fused__scaled_dot_product_flash_attention_3"},
      {"normalisation", "triton_per_fused_native_layer_norm_0"},
      {"reduction", "triton_red_fused__log_softmax_nll_loss_2"},
      {"convolution", "triton_tem_fused_convolution_1"},
      {"gemm", "triton_tem_fused_mm_7"},
      {"optimizer", "triton_for_fused_0"},
      {"elementwise", "loop_multiply_fusion_2"},
      {"reduction", "input_add_reduce_fusion"},
      {"gemm", "gemm_fusion_dot_4"},
      {"copy", "wrapped_transpose"},
      {"optimizer",
       "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
       "namespace)::TensorListMetadata<4>, at::native::(anonymous "
       "namespace)::FusedAdamMathFunctor<float, 4> >(int)"},
      {"reduction",
       "void (anonymous namespace)::softmax_warp_forward<float, float, float, 7>(int)"},
      {"other", ""},
  };
  for (const Known& known : kKernels) {
    EXPECT_EQ(CategoryOfKernel(known.name), known.category) << known.name;
  }
}

TEST(WorkCategoryTest, AMangledNameHasTheCategoryOfTheNameThatItStandsFor) {
  EXPECT_EQ(CategoryOfKernel("_ZN2at6native18elementwise_kernelILi128ELi4EiEEvv"), "elementwise");
}

TEST(WorkCategoryTest, CopiesAndCollectivesAreKnownByTheirClassWhateverTheirName) {
  EXPECT_EQ(CategoryOf("gemm", kCopy, ""), WorkCategory::kCopy);
  EXPECT_EQ(CategoryOf("gemm", kComm, ""), WorkCategory::kCommunication);
}

TEST(WorkCategoryTest, TheOperatorTellsWhereTheNameOfTheKernelDoesNot) {
  EXPECT_EQ(CategoryOfKernel("my_kernel", "aten::addmm"), "gemm");
  EXPECT_EQ(CategoryOfKernel("my_kernel", "aten::_scaled_dot_product_efficient_attention"),
            "attention");
  EXPECT_EQ(CategoryOfKernel("reduce_kernel", "aten::addmm"), "reduction");
  EXPECT_EQ(CategoryOfKernel("my_kernel", "my::op"), "other");
}

TEST(WorkCategoryTest, EveryCategoryIsFoundAgainByItsName) {
  for (int i = 0; i <= static_cast<int>(WorkCategory::kOther); ++i) {
    const auto category = static_cast<WorkCategory>(i);
    EXPECT_EQ(WorkCategoryOfName(WorkCategoryName(category)), category);
  }
  EXPECT_EQ(WorkCategoryOfName("gemms"), std::nullopt);
}

}  // namespace
}  // namespace gpubound
