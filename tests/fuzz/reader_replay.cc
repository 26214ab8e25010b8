// SPDX-License-Identifier: Apache-2.0
//
// Gives the seeds of one reader to its fuzz target, where there is no libFuzzer: each whole, cut in
// the middle, and with every 61st byte changed. reader_replay FOLDER...
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

void Try(const std::string& bytes) {
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
}

void TryAll(const std::string& bytes) {
  Try(bytes);
  Try(bytes.substr(0, bytes.size() / 2));
  std::string changed = bytes;
  for (size_t i = 7; i < changed.size(); i += 61) changed[i] = static_cast<char>(changed[i] ^ 0x55);
  Try(changed);
}

}  // namespace

int main(int argc, char** argv) {
  int seeds = 0;
  for (int i = 1; i < argc; ++i) {
    for (const auto& entry : std::filesystem::directory_iterator(argv[i])) {
      std::ifstream file(entry.path(), std::ios::binary);
      TryAll({std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()});
      ++seeds;
    }
  }
  std::printf("%d seeds\n", seeds);
  return seeds == 0 ? 1 : 0;  // without seeds nothing was looked at
}
