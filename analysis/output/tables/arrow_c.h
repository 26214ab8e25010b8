// SPDX-License-Identifier: Apache-2.0
//
// The structures of the Arrow C data interface, by which columns are handed to other libraries of a
// program without a copy and without a library of Arrow's. Their layout is Arrow's published ABI and
// may not change. Whoever holds one calls release(), once, which sets it to null.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_C_H_
#define GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_C_H_

#include <cstdint>

namespace gpubound {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  int64_t flags;
  int64_t child_count;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* owner;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t buffer_count;
  int64_t child_count;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* owner;
};

// Functions return 0 or an errno; at its end a stream gives an array that is released already.
struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema*);
  int (*get_next)(ArrowArrayStream*, ArrowArray*);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* owner;
};

inline constexpr int64_t kArrowNullable = 2;  // a flag of a schema

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_TABLES_ARROW_C_H_
