// SPDX-License-Identifier: Apache-2.0
//
// Text that is compared with a file word for word, and written there where the environment has
// GPUBOUND_WRITE_GOLDEN, to be read in the diff.
#ifndef GPUBOUND_TESTS_GOLDEN_GOLDEN_FILE_H_
#define GPUBOUND_TESTS_GOLDEN_GOLDEN_FILE_H_

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace gpubound::golden {

// |name|: of the file, from tests/golden on.
inline void ExpectGolden(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(GPUBOUND_GOLDEN_FOLDER) / name;
  if (std::getenv("GPUBOUND_WRITE_GOLDEN") != nullptr) std::ofstream(path) << text;
  std::ifstream file(path);
  const std::string written{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  EXPECT_EQ(text, written) << path;
}

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_GOLDEN_FILE_H_
