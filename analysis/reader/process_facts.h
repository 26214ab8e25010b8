// SPDX-License-Identifier: Apache-2.0
//
// What the rows of `meta` say of a process, and which times of its rows cannot be times. Pure.
#ifndef GPUBOUND_ANALYSIS_READER_PROCESS_FACTS_H_
#define GPUBOUND_ANALYSIS_READER_PROCESS_FACTS_H_

#include <cstdint>
#include <optional>

#include "analysis/segments/segment.h"
#include "analysis/trace/run.h"

namespace gpubound {

// When a process began and ended, where its rows say so, and the part of that which was to be
// recorded: where certain iterations were.
struct RecordedSpan {
  std::optional<int64_t> begin_ns;
  std::optional<int64_t> end_ns;
  std::optional<int64_t> steps_begin_ns;
  std::optional<int64_t> steps_end_ns;
};

// Sets |process|'s facts and |span| to what |meta| says; without any rows, leaves them. A time that
// cannot be one (plausible_time.h) is taken as absent and counted (times_impossible).
void ReadFacts(const MetaRows& meta, ProcessTrace* process, RecordedSpan* span);

// How the life of |process|, of which |span| is known, ended.
SpanEnd SpanEndOf(const ProcessTrace& process, const RecordedSpan& span);

// Takes the span of |process|, which is all that |span| says of its life, to the part that was to
// be recorded.
void ClipToSteps(const RecordedSpan& span, ProcessTrace* process);

// Sets the device kind of a process that did not close and was killed before its device was
// described: what says so then is that CUPTI recorded in it.
void InferDeviceKind(ProcessTrace* process);

// Removes rows of unknown time and samples of clocks that cannot be, and counts them. An open end is
// none of these.
void DropImpossibleRows(ProcessTrace* process);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_READER_PROCESS_FACTS_H_
