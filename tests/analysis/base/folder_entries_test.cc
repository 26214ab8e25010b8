// SPDX-License-Identifier: Apache-2.0
#include "analysis/base/folder_entries.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace gpubound {
namespace {

namespace fs = std::filesystem;

TEST(FolderEntriesTest, AreAllThatIsThere) {
  const fs::path folder = fs::path(testing::TempDir()) / "folder_entries_test";
  fs::create_directories(folder / "inner");
  std::ofstream(folder / "file") << "bytes";
  std::set<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : EntriesOf(folder, &error)) {
    names.insert(entry.path().filename().string());
  }
  EXPECT_FALSE(error);
  EXPECT_EQ(names, (std::set<std::string>{"inner", "file"}));
  fs::remove_all(folder);
}

TEST(FolderEntriesTest, OfWhatIsNoFolderAreNone) {
  for (const char* path : {"/nonexistent", "/dev/null"}) {
    std::error_code error;
    EXPECT_TRUE(EntriesOf(path, &error).empty());
    EXPECT_TRUE(error) << path;
    EXPECT_TRUE(EntriesOf(path).empty());
  }
}

}  // namespace
}  // namespace gpubound
