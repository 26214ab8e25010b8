// SPDX-License-Identifier: Apache-2.0
//
// Which blocks of a live mapping go, and that it reads as before.
#include "tools/launch/trim_mappings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/tools/tool_fixtures.h"

namespace gpubound {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;

std::string HostHere() {
  char host[256] = {};
  gethostname(host, sizeof(host) - 1);
  return host;
}

std::string TextOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

size_t BytesOnDisk(const std::string& path) {
  struct stat info = {};
  stat(path.c_str(), &info);
  return static_cast<size_t>(info.st_blocks) * 512;
}

TEST(TrimMappings, AMappingOfAProcessThatHasEndedKeepsItsDataAlone) {
  const TemporaryFolder folder;
  std::string content(4 * kMebibyte, '\0');
  content[0] = 'h';
  content[kMebibyte + 5000] = 'd';
  // A process that began in 1970 has ended, whoever has its number now.
  const std::string path = folder.Write(HostHere() + ".1.1.live", content);
  TrimMappings(folder.path());
  EXPECT_EQ(TextOf(path), content);
  EXPECT_LE(BytesOnDisk(path), 64 * 1024u);
}

TEST(TrimMappings, FilesThatAreNoMappingsAndMappingsOfOtherHostsStayAsTheyAre) {
  const TemporaryFolder folder;
  const std::string content(kMebibyte, '\0');
  const std::string other = folder.Write("another-host.1.1.live", content);
  const std::string plain = folder.Write("notes.live", content);
  TrimMappings(folder.path());
  EXPECT_GE(BytesOnDisk(other), kMebibyte);
  EXPECT_GE(BytesOnDisk(plain), kMebibyte);
}

}  // namespace
}  // namespace gpubound
