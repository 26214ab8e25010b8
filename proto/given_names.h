// SPDX-License-Identifier: Apache-2.0
//
// Names that the recorder gives to what has none, or to what it has no room for. The reader knows
// such rows by them, and the importers give the same ones. They are stored in traces: they never
// change.
#ifndef GPUBOUND_PROTO_GIVEN_NAMES_H_
#define GPUBOUND_PROTO_GIVEN_NAMES_H_

#include <string_view>

namespace gpubound {

// A row that stands for all names that had no room.
inline constexpr char kOtherNames[] = "(other names)";

// A kernel of which CUPTI, or another tool's trace, tells no name.
inline constexpr char kUnnamedKernel[] = "(unnamed kernel)";

// A kernel node of a graph of which nobody tells the name.
inline constexpr char kUnnamedNode[] = "(kernel)";

// By CUpti_ActivityMemcpyKind; the first where CUPTI tells none.
inline constexpr std::string_view kCopyNames[] = {
    "Memcpy",      "Memcpy HtoD", "Memcpy DtoH", "Memcpy HtoA", "Memcpy AtoH", "Memcpy AtoA",
    "Memcpy AtoD", "Memcpy DtoA", "Memcpy DtoD", "Memcpy HtoH", "Memcpy PtoP",
};

// Ends the name of a copy's second record, that of the device at its other end.
inline constexpr std::string_view kOtherEnd = " (other end)";

}  // namespace gpubound

#endif  // GPUBOUND_PROTO_GIVEN_NAMES_H_
