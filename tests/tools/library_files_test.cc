// SPDX-License-Identifier: Apache-2.0
//
// Finding the two injected libraries.
#include "tools/launch/library_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

class LibraryFilesTest : public testing::Test {
 protected:
  void PutLibraries(const std::string& folder) {
    std::filesystem::create_directories(temporary_.File(folder));
    temporary_.Write(folder + "/libgpubound.so", "");
    temporary_.Write(folder + "/libgpubound_core.so", "");
  }
  Result<LibraryFiles> FindFrom(const std::string& executable_dir,
                                std::map<std::string, std::string> variables = {}) {
    const GetVariable environment = FakeVariables(std::move(variables));
    return FindLibraryFiles(LibraryFolders(temporary_.File(executable_dir), environment));
  }

  TemporaryFolder temporary_;
};

TEST_F(LibraryFilesTest, AreFoundInABuildTree) {
  PutLibraries("build/lib");
  const auto found = FindFrom("build/bin");
  ASSERT_TRUE(found.ok()) << found.error().ToString();
  EXPECT_EQ(found->shim, temporary_.File("build/lib/libgpubound.so"));
  EXPECT_EQ(found->core, temporary_.File("build/lib/libgpubound_core.so"));
}

TEST_F(LibraryFilesTest, AreFoundInAnInstallation) {
  PutLibraries("usr/lib/gpubound");
  EXPECT_TRUE(FindFrom("usr/bin").ok());
}

TEST_F(LibraryFilesTest, ThePythonHookBelongsToTheLibrariesBesideIt) {
  for (const auto& [libraries, package] :
       {std::pair("build/lib", "build/python/gpubound"),                    // a build tree
        std::pair("site-packages/gpubound/lib", "site-packages/gpubound"),  // a wheel
        std::pair("usr/lib", "usr/lib/gpubound/python/gpubound")}) {        // an installation
    const std::string startup = temporary_.File(std::string(package) + "/startup");
    EXPECT_EQ(FindPythonStartup(temporary_.File(libraries)), "");
    std::filesystem::create_directories(startup);
    temporary_.Write(std::string(package) + "/startup/sitecustomize.py", "");
    EXPECT_EQ(FindPythonStartup(temporary_.File(libraries)), startup);
  }
}

TEST_F(LibraryFilesTest, ExtensionsOfThePackageAreListedByName) {
  std::filesystem::create_directories(temporary_.File("build/python/gpubound"));
  for (const char* name : {"_core.cpython-39-x.so", "_core.abi3.so", "_core.pyi", "_api.py"}) {
    temporary_.Write(std::string("build/python/gpubound/") + name, "");
  }
  EXPECT_EQ(PythonExtensions(temporary_.File("build/python/gpubound/startup")),
            (std::vector<std::string>{"_core.abi3.so", "_core.cpython-39-x.so"}));
  EXPECT_TRUE(PythonExtensions("").empty());
}

TEST_F(LibraryFilesTest, TheVariableIsAskedAlone) {
  PutLibraries("build/lib");
  PutLibraries("elsewhere");
  const auto found = FindFrom("build/bin", {{kLibraryDirVariable, temporary_.File("elsewhere")}});
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found->shim, temporary_.File("elsewhere/libgpubound.so"));
  EXPECT_FALSE(FindFrom("build/bin", {{kLibraryDirVariable, "/nonexistent"}}).ok());
}

TEST_F(LibraryFilesTest, TheErrorNamesWhatIsMissingWhere) {
  PutLibraries("build/lib");
  std::filesystem::remove(temporary_.File("build/lib/libgpubound_core.so"));
  const auto found = FindFrom("build/bin");
  ASSERT_FALSE(found.ok());
  EXPECT_THAT(found.error().found,
              HasSubstr("no libgpubound_core.so in " + temporary_.File("build/lib")));
  EXPECT_THAT(found.error().remedy, HasSubstr(kLibraryDirVariable));
}

TEST_F(LibraryFilesTest, APathThatTheLoaderTakesAsItIsStays) {
  const auto libraries = MakePreloadable({"/opt/lib/libgpubound.so", "/opt/lib/x"}, "");
  ASSERT_TRUE(libraries.ok());
  EXPECT_EQ(libraries->shim, "/opt/lib/libgpubound.so");
}

TEST_F(LibraryFilesTest, APathThatTheLoaderWouldSplitIsNamedThroughALink) {
  for (const char* folder : {"my files/lib", "a:b/lib"}) {
    PutLibraries(folder);
    const LibraryFiles files = {temporary_.File(std::string(folder) + "/libgpubound.so"),
                                temporary_.File(std::string(folder) + "/libgpubound_core.so")};
    for (int time = 0; time < 2; ++time) {  // the second time the link is there
      const auto libraries = MakePreloadable(files, temporary_.File("cache/gpubound"));
      ASSERT_TRUE(libraries.ok()) << folder;
      EXPECT_EQ(libraries->shim.find_first_of(" :"), std::string::npos) << libraries->shim;
      EXPECT_TRUE(std::filesystem::equivalent(libraries->shim, files.shim));
      EXPECT_TRUE(std::filesystem::equivalent(libraries->core, files.core));
    }
  }
}

TEST_F(LibraryFilesTest, WithoutAPlaceForTheLinkAPathThatTheLoaderWouldSplitIsRefused) {
  const LibraryFiles files = {"/my files/libgpubound.so", ""};
  for (const std::string& cache :
       {std::string(), temporary_.File("my cache"), std::string("/proc/gpubound")}) {
    const auto libraries = MakePreloadable(files, cache);
    ASSERT_FALSE(libraries.ok()) << cache;
    EXPECT_THAT(libraries.error().remedy, testing::HasSubstr("set GPUBOUND_LIBRARY_DIR"));
  }
}

}  // namespace
}  // namespace gpubound
