// SPDX-License-Identifier: Apache-2.0
//
// Which libcupti is chosen, and what is said when none can be used.
#include "cupti_hooks/cupti/cupti_library.h"

#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace gpubound {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> Paths(const CuptiSearch& search) {
  std::vector<std::string> paths;
  for (const CuptiCandidate& candidate : CuptiCandidates(search)) paths.push_back(candidate.path);
  return paths;
}

size_t PlaceOf(const std::vector<std::string>& paths, const std::string& path) {
  return static_cast<size_t>(std::find(paths.begin(), paths.end(), path) - paths.begin());
}

TEST(CuptiLibraryTest, AnOverrideIsTheOnlyCandidate) {
  CuptiSearch search;
  search.override_path = "/opt/libcupti.so.13";
  search.loaded_paths = {"/x/libcupti.so.12"};
  const auto candidates = CuptiCandidates(search);
  ASSERT_EQ(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].path, "/opt/libcupti.so.13");
  EXPECT_FALSE(candidates[0].loaded);
}

TEST(CuptiLibraryTest, ACopyThatIsLoadedComesFirstWhateverItsVersion) {
  CuptiSearch search;
  search.loaded_paths = {"/lib/libc.so.6", "/site/nvidia/cuda_cupti/lib/libcupti.so.12"};
  search.driver_major = 13;
  const auto candidates = CuptiCandidates(search);
  ASSERT_GT(candidates.size(), 1u);
  EXPECT_EQ(candidates[0].path, "/site/nvidia/cuda_cupti/lib/libcupti.so.12");
  EXPECT_TRUE(candidates[0].loaded);
  for (size_t i = 1; i < candidates.size(); ++i) EXPECT_FALSE(candidates[i].loaded);
}

TEST(CuptiLibraryTest, TheCudaRuntimeIsTheOneThatIsLoaded) {
  CuptiSearch search;
  EXPECT_EQ(CudaRuntimePath(search), "");
  search.loaded_paths = {"/lib/libc.so.6", "/x/libcudart_static_user.so", "libcudart.so.12",
                         "/site/nvidia/cuda_runtime/lib/libcudart.so.12", "/y/libcudart.so.13"};
  EXPECT_EQ(CudaRuntimePath(search), "/site/nvidia/cuda_runtime/lib/libcudart.so.12");
}

TEST(CuptiLibraryTest, TheSearchGoesOnBehindWhatWasFound) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI_MINIMAL;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  ASSERT_TRUE(LoadCupti(search, &next, &api, &why)) << why;
  EXPECT_EQ(next, 1u);
  EXPECT_FALSE(LoadCupti(search, &next, &api, &why));
}

TEST(CuptiLibraryTest, NeverNewerThanTheDriver) {
  CuptiSearch search;
  search.loaded_paths = {"/usr/local/cuda/lib64/libcudart.so.12"};
  search.driver_major = 12;
  EXPECT_THAT(Paths(search), Not(::testing::Contains(HasSubstr("libcupti.so.13"))));
  search.driver_major = 0;
  EXPECT_THAT(Paths(search), ::testing::Contains(HasSubstr("libcupti.so.13")));
}

TEST(CuptiLibraryTest, WhatLiesBesideTheFrameworksLibrariesComesBeforeTheToolkit) {
  CuptiSearch search;
  search.loaded_paths = {"/site/nvidia/cuda_runtime/lib/libcudart.so.12"};
  search.driver_major = 12;
  search.toolkit = "/opt/cuda";
  const auto paths = Paths(search);
  const size_t pip =
      PlaceOf(paths, "/site/nvidia/cuda_runtime/lib/../../cuda_cupti/lib/libcupti.so.12");
  EXPECT_LT(pip, PlaceOf(paths, "/opt/cuda/extras/CUPTI/lib64/libcupti.so.12"));
  EXPECT_EQ(paths.back(), "libcupti.so.12");
}

TEST(CuptiLibraryTest, TheFoldersOfPipAndTorchAreKnown) {
  CuptiSearch search;
  search.loaded_paths = {"/site/torch/lib/libtorch_cuda.so",
                         "/site/nvidia/cu13/lib/libcudart.so.13"};
  const auto paths = Paths(search);
  for (const char* path : {"/site/nvidia/cu13/lib/libcupti.so.13",
                           "/site/torch/lib/../../nvidia/cu13/lib/libcupti.so.13",
                           "/site/torch/lib/../../nvidia/cuda_cupti/lib/libcupti.so.12"}) {
    EXPECT_LT(PlaceOf(paths, path), paths.size()) << path;
  }
}

TEST(CuptiLibraryTest, ACopyThatAWheelRenamedIsTheOneThatIsLoaded) {
  CuptiSearch search;
  search.loaded_paths = {"/site/torch/lib/libcuptix.so.13",
                         "/site/torch/lib/libcupti-36ee0d38.so.11.8"};
  const auto candidates = CuptiCandidates(search);
  EXPECT_EQ(candidates[0].path, "/site/torch/lib/libcupti-36ee0d38.so.11.8");
  EXPECT_TRUE(candidates[0].loaded);
}

TEST(CuptiLibraryTest, LibrariesThatAWheelRenamedHaveNeighboursToo) {
  CuptiSearch search;
  search.loaded_paths = {"/site/torch/lib/libcudart-d0da41ae.so.11.0"};
  const auto paths = Paths(search);
  EXPECT_LT(PlaceOf(paths, "/site/torch/lib/libcupti.so.12"), paths.size());
}

TEST(CuptiLibraryTest, TheEnvironmentOfAProgramThatLinksCudaStaticallyIsKnown) {
  CuptiSearch search;
  search.loaded_paths = {"/env/lib/python3.11/site-packages/numpy/core/_multiarray.so"};
  search.site_packages = {"/other/lib/python3.12/site-packages"};
  search.conda = "/conda";
  const auto paths = Paths(search);
  const std::vector<std::string> order = {
      "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13",
      "/env/lib/python3.11/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12",
      "/other/lib/python3.12/site-packages/nvidia/cu13/lib/libcupti.so.13",
      "/conda/lib/libcupti.so.12", "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13"};
  size_t last = 0;
  for (const std::string& path : order) {
    const size_t place = PlaceOf(paths, path);
    EXPECT_LT(place, paths.size()) << path;
    EXPECT_GE(place, last) << path;
    last = place;
  }
}

TEST(CuptiLibraryTest, WhatLiesBesideTheFrameworksLibrariesComesBeforeTheEnvironment) {
  CuptiSearch search;
  search.loaded_paths = {"/env/lib/python3.11/site-packages/numpy/core/_multiarray.so",
                         "/opt/app/libcudart.so.13"};
  const auto paths = Paths(search);
  EXPECT_LT(PlaceOf(paths, "/opt/app/libcupti.so.13"),
            PlaceOf(paths, "/env/lib/python3.11/site-packages/nvidia/cu13/lib/libcupti.so.13"));
}

TEST(CuptiLibraryTest, AnActiveEnvironmentIsFoundByItsVariable) {
  const std::string environment = ::testing::TempDir() + "environment_" + std::to_string(getpid());
  const std::string packages = environment + "/lib/python3.12/site-packages";
  std::filesystem::create_directories(packages);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    setenv(variable, environment.c_str(), 1);
    EXPECT_THAT(DescribeProcess("").site_packages, ::testing::Contains(packages)) << variable;
    unsetenv(variable);
  }
  std::filesystem::remove_all(environment);
}

TEST(CuptiLibraryTest, AMajorVersionIsReadFromASoname) {
  EXPECT_EQ(SonameMajor("/a/libcupti.so.13", "libcupti"), 13);
  EXPECT_EQ(SonameMajor("libcupti.so.12", "libcupti"), 12);
  EXPECT_EQ(SonameMajor("/a/libcupti.so", "libcupti"), 0);
  EXPECT_EQ(SonameMajor("/a/libcuptix.so.13", "libcupti"), 0);
  EXPECT_EQ(SonameMajor("", "libcupti"), 0);
}

TEST(CuptiLibraryTest, TheDriversFileNameTellsItsCudaVersion) {
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libcuda.so.580.65.06"), 13);
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libcuda.so.575.51.03"), 12);
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libcuda.so.525.60"), 12);
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libcuda.so.470.82"), 11);
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libcuda.so.1"), 0);
  EXPECT_EQ(DriverCudaMajor("/usr/lib/libm.so.6"), 0);
}

TEST(CuptiLibraryTest, TheDriversFileNameTellsItsVersion) {
  EXPECT_EQ(DriverVersion("/usr/lib/libcuda.so.580.65.06"), "580.65.06");
}

TEST(CuptiLibraryTest, AFileNameWithoutAVersionTellsNone) {
  EXPECT_EQ(DriverVersion("/usr/lib/libcuda.so.1"), "");
  EXPECT_EQ(DriverVersion("/usr/lib/libm.so.6"), "");
}

TEST(CuptiLibraryTest, ALibraryThatIsNotThereIsNamedInTheReason) {
  CuptiSearch search;
  search.override_path = "/nonexistent/libcupti.so.13";
  CuptiApi api;
  std::string why;
  size_t next = 0;
  EXPECT_FALSE(LoadCupti(search, &next, &api, &why));
  EXPECT_THAT(why, HasSubstr("/nonexistent/libcupti.so.13"));
}

TEST(CuptiLibraryTest, ALibraryWithoutARequiredFunctionIsRefusedByName) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI_WITHOUT_FLUSH;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  EXPECT_FALSE(LoadCupti(search, &next, &api, &why));
  EXPECT_THAT(why, HasSubstr("cuptiActivityFlushAll"));
}

TEST(CuptiLibraryTest, ALibraryOlderThanTheRecordsThatWeReadIsRefused) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI_TOO_OLD;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  EXPECT_FALSE(LoadCupti(search, &next, &api, &why));
  EXPECT_THAT(why, HasSubstr("version is 17"));
}

TEST(CuptiLibraryTest, WhereTheVersionCannotBeAskedTheNameTellsTheOldestThatItCanBe) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI13_WITHOUT_VERSION;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  ASSERT_TRUE(LoadCupti(search, &next, &api, &why)) << why;
  EXPECT_EQ(api.version, 130000u);
}

TEST(CuptiLibraryTest, ALibraryWhoseVersionNobodyTellsIsRefused) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI_WITHOUT_VERSION;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  EXPECT_FALSE(LoadCupti(search, &next, &api, &why));
  EXPECT_THAT(why, HasSubstr("cuptiGetVersion failed with CUPTI error 999"));
}

// A process that has a copy of libcupti, and a toolkit with another one that is sound.
class TwoCopiesTest : public ::testing::Test {
 protected:
  TwoCopiesTest() {
    std::filesystem::create_directories(folder_ / "lib64");
    std::filesystem::copy_file(GPUBOUND_TEST_CUPTI_MINIMAL, folder_ / "lib64/libcupti.so.12");
    search_.toolkit = folder_;
    search_.driver_major = 12;
  }
  ~TwoCopiesTest() override { std::filesystem::remove_all(folder_); }

  // The process's own.
  std::string CopyOf(const char* library) {
    const std::string path = folder_ / "libcupti.so.12";
    std::filesystem::copy_file(library, path);
    search_.loaded_paths = {path};
    return path;
  }

  // One for each test: what was loaded from it stays.
  const std::filesystem::path folder_ =
      std::filesystem::path(::testing::TempDir()) /
      (::testing::UnitTest::GetInstance()->current_test_info()->name() + std::to_string(getpid()));
  CuptiSearch search_;
  CuptiApi api_;
  std::string why_;
  size_t next_ = 0;
};

// Both would want the driver's one place for a profiler.
TEST_F(TwoCopiesTest, OneThatIsLoadedAndCannotBeUsedIsFollowedByNone) {
  const std::string path = CopyOf(GPUBOUND_TEST_CUPTI_WITHOUT_FLUSH);
  void* const library = dlopen(path.c_str(), RTLD_LAZY);
  ASSERT_NE(library, nullptr);
  EXPECT_FALSE(LoadCupti(search_, &next_, &api_, &why_));
  EXPECT_THAT(why_, HasSubstr(path + ": it has no function cuptiActivityFlushAll"));
  dlclose(library);
}

TEST_F(TwoCopiesTest, OneThatWasUnloadedMeanwhileIsNotLoadedAgain) {
  const std::string path = CopyOf(GPUBOUND_TEST_CUPTI_MINIMAL);
  ASSERT_TRUE(LoadCupti(search_, &next_, &api_, &why_)) << why_;
  EXPECT_EQ(api_.path, folder_ / "lib64/libcupti.so.12");
  EXPECT_EQ(dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD), nullptr);
}

TEST(CuptiLibraryTest, ALibraryWithoutTheNewerFunctionsIsUsed) {
  CuptiSearch search;
  search.override_path = GPUBOUND_TEST_CUPTI_MINIMAL;
  CuptiApi api;
  std::string why;
  size_t next = 0;
  ASSERT_TRUE(LoadCupti(search, &next, &api, &why)) << why;
  EXPECT_EQ(api.version, 19u);
  EXPECT_EQ(api.path, GPUBOUND_TEST_CUPTI_MINIMAL);
  EXPECT_EQ(api.cuptiActivityEnableRuntimeApi, nullptr);
  EXPECT_EQ(api.cuptiSubscribe_v2, nullptr);
  EXPECT_FALSE(api.simulated_device);
  EXPECT_EQ(CuptiResultName(api, CUPTI_ERROR_UNKNOWN), "CUPTI error 999");
}

}  // namespace
}  // namespace gpubound
