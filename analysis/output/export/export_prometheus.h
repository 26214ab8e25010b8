// SPDX-License-Identifier: Apache-2.0
//
// The figures of a report in Prometheus's text exposition format (0.0.4), for node_exporter's
// textfile collector, a push gateway or OpenTelemetry's collector. Pure.
#ifndef GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PROMETHEUS_H_
#define GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PROMETHEUS_H_

#include <string>

#include "analysis/report/report.h"

namespace gpubound {

std::string RenderPrometheus(const Report& report);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_OUTPUT_EXPORT_EXPORT_PROMETHEUS_H_
