// SPDX-License-Identifier: Apache-2.0
//
// The message of a part as a .proto file, for those who read it with protoc's classes. Pure.
#ifndef GPUBOUND_ANALYSIS_PARTS_PART_PROTO_H_
#define GPUBOUND_ANALYSIS_PARTS_PART_PROTO_H_

#include <string>

namespace gpubound {

// What analysis/parts/part.proto holds, made from part_fields.h; a test compares the two.
std::string PartProto();

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_PARTS_PART_PROTO_H_
