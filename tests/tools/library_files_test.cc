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

TEST_F(LibraryFilesTest, APathThatTheLoaderWouldSplitIsRefused) {
  EXPECT_TRUE(CheckPreloadable({"/opt/lib/libgpubound.so", ""}).ok());
  EXPECT_FALSE(CheckPreloadable({"/my files/libgpubound.so", ""}).ok());
  EXPECT_FALSE(CheckPreloadable({"/a:b/libgpubound.so", ""}).ok());
}

}  // namespace
}  // namespace gpubound
