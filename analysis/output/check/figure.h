// SPDX-License-Identifier: Apache-2.0
//
// Any single figure of a report by the name that docs/report.md gives it:
//
//   gpu_busy                   of the run
//   gpu_busy@worker            of every process of that name; also @PID
//   simulation.wall            of an operation of the main process; also simulation.wall@worker
//   "my.op".gpu_busy           a name with dots, or that of a group, in quotes; "" within is "
//   iteration.median           of the iterations after warm-up
//   ledger.chunks_corrupt      a counter of the trust ledger
//   time_to(return>=450)       until a target (analysis/report/target.h) was reached
//   /run/parts/0/wall_ns       anything else: a JSON pointer into the report JSON
//
// What `unknown` GPU time could change is a range, never one number. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.h"

namespace gpubound {

enum class FigureKind : uint8_t { kShare, kTime, kCount, kRatio };

struct FigureName {
  std::string group;    // an operation, "iteration" or "ledger"; empty for the run or a process
  bool quoted = false;  // the group is an operation, whatever it is called
  std::string field;
  std::string process;  // behind '@'; empty: the main process, or the run
  std::string pointer;  // a JSON pointer; nothing else is set then
  std::string target;   // of time_to(); likewise
};

struct Figure {
  FigureKind kind = FigureKind::kCount;
  double low = 0;  // shares are 0..1, times are ns; low < high where it is not exactly known
  double high = 0;
  double whole = 0;     // what a time is a share of; 0 where it is of nothing
  std::string process;  // "worker (pid 12)" where one was selected
};

// Why a name means nothing, as prose, and the word at fault with those that would do. |meant| is
// the figure of another group that the word names, as in "iteration.count"; may be empty.
struct NameProblem {
  std::string what;
  std::string word;
  std::vector<std::string> known;
  std::string meant = {};
  bool undecided = false;  // it means something, and nobody knows what it is
};

// A mistake in |name| that holds for every run.
std::optional<NameProblem> MistakeIn(const FigureName& name);

// The kind of a |name| without a mistake; absent for a pointer to a plain number, which is a count
// or a ratio as the report has it.
std::optional<FigureKind> KindOf(const FigureName& name);

struct FoundFigures {
  std::vector<Figure> figures;         // one, or one for each process that was selected
  std::optional<NameProblem> missing;  // why there is none in this report
};

// |name| is without a mistake.
FoundFigures FindFigures(const Report& report, const FigureName& name);

// So many significant digits and a unit: "41.37 %", "1.204 s", "2.4 x". Ranges as "from A to B".
inline constexpr int kFigureDigits = 4;
std::string FormatFigure(const Figure& figure, int digits = kFigureDigits);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_H_
