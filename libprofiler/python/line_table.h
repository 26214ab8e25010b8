// SPDX-License-Identifier: Apache-2.0
//
// The line of a position in a code object, from what the compiler noted (LineTable). Pure.
//
// Sources: PEP 626 and Objects/lnotab_notes.txt (3.9, 3.10), Objects/locations.md (from 3.11 on),
// all of CPython.
#ifndef GPUBOUND_LIBPROFILER_PYTHON_LINE_TABLE_H_
#define GPUBOUND_LIBPROFILER_PYTHON_LINE_TABLE_H_

#include <cstdint>
#include <span>

#include "libprofiler/python/interpreter_layout.h"

namespace gpubound {

// |position| in bytes of bytecode; before the first instruction that of the function itself. 0: no
// line belongs to it, or the table is none.
uint32_t LineOf(LineTable kind, std::span<const uint8_t> table, uint32_t first_line,
                int64_t position);

}  // namespace gpubound

#endif  // GPUBOUND_LIBPROFILER_PYTHON_LINE_TABLE_H_
