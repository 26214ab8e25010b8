// SPDX-License-Identifier: Apache-2.0
//
// Parts of a run in a file (docs/many_machines.md): one or more, of one machine each.
//
//   "GPBDPART"  version (4)  then for each part:
//   key size (4)  key  made (8)  raw size (8)  stored size (8)  checksum (4)
//   zstd of the message MachinePart (part.proto)
//
// Numbers are little endian; the checksum is the CRC-32C of what is stored. The key says which machine
// it is. Merging takes parts as they are and looks into none: of a machine that is there twice the
// part stays that was made last, and parts lie in the order of their keys, so that neither the order
// of merging nor how often a part is given changes a byte. Pure but for I/O.
#ifndef GPUBOUND_ANALYSIS_PARTS_PART_FILE_H_
#define GPUBOUND_ANALYSIS_PARTS_PART_FILE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/base/status.h"
#include "analysis/parts/machine_part.h"

namespace gpubound {

// Raised with every change that a reader of before would take for something else.
inline constexpr uint32_t kPartVersion = 1;
inline constexpr char kPartSuffix[] = ".part";

// A part as it lies in a file.
struct StoredPart {
  std::string machine;  // KeyOf()
  int64_t made_realtime_ns = 0;
  uint64_t raw_bytes = 0;
  std::string bytes;  // compressed
};

// Whether |path| is such a file, or a folder with files NAME.part and no run.
bool HoldsParts(const std::string& path);

StoredPart StorePart(const MachinePart& part);
Result<MachinePart> LoadPart(const StoredPart& stored, const std::string& path);
// All of several, merged.
std::vector<StoredPart> StoreParts(const std::vector<MachinePart>& parts);
Result<std::vector<MachinePart>> LoadParts(const std::vector<StoredPart>& stored,
                                           const std::string& path);

// What a file of |parts| holds, and back. |path|: for messages.
std::string PackParts(const std::vector<StoredPart>& parts);
Result<std::vector<StoredPart>> UnpackParts(std::string_view text, const std::string& path);

// All that is in |path|, a file or a folder of them, merged. An error where it cannot be read, is
// damaged or of another version.
Result<std::vector<StoredPart>> ReadParts(const std::string& path);
// One of each machine.
std::vector<StoredPart> MergeParts(std::vector<StoredPart> parts);
// |path| is replaced as a whole. "-" is stdout.
Status WriteParts(const std::string& path, const std::vector<StoredPart>& parts);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_PART_FILE_H_
