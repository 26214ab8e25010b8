// SPDX-License-Identifier: Apache-2.0
//
// The tables behind analysis/output/check/figure.h: what there is of a run, a process, an operation
// and the iterations, and how much of each value unknown GPU time could change. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_CATALOGUE_H_
#define GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_CATALOGUE_H_

#include <cstdint>
#include <span>

#include "analysis/output/check/figure.h"
#include "analysis/report/report.h"

namespace gpubound {

struct RunFigure {
  const char* name;
  FigureKind kind;
  Figure (*get)(const Report& report);
};
std::span<const RunFigure> RunFigures();

struct ProcessFigure {
  const char* name;
  FigureKind kind;
  Figure (*get)(const ReportProcess& process);
};
std::span<const ProcessFigure> ProcessFigures();

// What unknown time could add to a figure: nothing, as much as there is of it, or anything.
enum class Touch : uint8_t { kNothing, kUnknown, kUnbounded };

// A time of an operation.
struct OperationFigure {
  const char* name;
  int64_t ReportOperation::*ns;
  Touch touch;
};
std::span<const OperationFigure> OperationFigures();
Figure OperationTime(const ReportProcess& process, const ReportOperation& row,
                     const OperationFigure& figure);

// Of the launches of an operation.
struct LaunchFigure {
  const char* name;
  FigureKind kind;
  Figure (*get)(const ReportLaunches& launches);
};
std::span<const LaunchFigure> LaunchFigures();

// A time of the iterations, of a process that has some.
struct IterationFigure {
  const char* name;
  int64_t ReportIterations::*ns;
};
std::span<const IterationFigure> IterationFigures();
Figure IterationTime(const ReportProcess& process, const IterationFigure& figure);

// A number that is known, and one that is not (NaN).
Figure Exact(FigureKind kind, double value, double whole = 0);
Figure NotKnown(FigureKind kind);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_CHECK_FIGURE_CATALOGUE_H_
