// SPDX-License-Identifier: Apache-2.0
//
// Sums up device work. No state.
#include "analysis/attribution/kernel_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "analysis/attribution/op_rows.h"
#include "analysis/base/text_table.h"
#include "analysis/trace/device_kind.h"
#include "analysis/trace/row_names.h"
#include "analysis/trace/work_category.h"
#include "proto/given_names.h"

namespace gpubound {
namespace {

std::vector<ReportGraphNode> NodesOf(const KnownGraph& graph, const ProcessTrace& process) {
  std::vector<ReportGraphNode> rows;
  for (const SameNodes& nodes : graph.nodes) {
    const bool captured = nodes.operation != LabelId{};
    rows.push_back({nodes.name, nodes.work_class ? WorkClassName(*nodes.work_class) : "",
                    nodes.count, captured ? process.LabelOf(nodes.operation).text : kNoOperation});
  }
  return rows;
}

// Makes rows of one process. What a name says is looked up once.
class RowMaker {
 public:
  RowMaker(const ProcessTrace& process, const std::vector<OpTime>& ops)
      : process_(process), graphs_(process) {
    for (const OpTime& time : ops) {
      Facts& facts = facts_[{time.name, time.work_class}];
      facts.of_ops[time.op.name] += time.sum_ns;
    }
  }

  ReportKernel RowOf(const KernelTime& time) {
    ReportKernel row;
    row.name = time.name;
    row.work_class = WorkClassName(time.work_class);
    const Facts& facts = FactsOf(time.name, time.work_class);
    row.category = facts.category;
    row.op = facts.op;
    row.count = time.lengths.count();
    row.sum_ns = time.lengths.sum_ns();
    row.mean_ns = time.lengths.MeanNs();
    const LengthCounts::Quantiles quantiles = time.lengths.QuantilesNs();
    row.median_ns = quantiles.median_ns;
    row.p95_ns = quantiles.p95_ns;
    row.lengths_rounded = time.lengths.rounded();
    row.sm_filled_ns = static_cast<int64_t>(time.filled / kFillOne);
    row.sm_fill_is_upper_bound = !time.fill_known;
    const KnownGraph* known = time.graph == 0 ? nullptr : graphs_.Find(time.graph);
    if (known != nullptr) row.nodes = NodesOf(*known, process_);
    return row;
  }

 private:
  struct Facts {
    std::string category;  // empty: not asked for yet
    std::string op;        // that launched more than half of it
    std::map<std::string, int64_t> of_ops;
  };
  const Facts& FactsOf(const std::string& name, WorkClass work_class) {
    Facts& facts = facts_[{name, work_class}];
    if (!facts.category.empty()) return facts;
    int64_t all_ns = 0;
    for (const auto& [op, ns] : facts.of_ops) all_ns += ns;
    for (const auto& [op, ns] : facts.of_ops) {
      if (2 * ns > all_ns) facts.op = op;
    }
    facts.category = WorkCategoryName(CategoryOf(name, work_class, facts.op));
    return facts;
  }

  const ProcessTrace& process_;
  const KnownGraphs graphs_;
  std::map<std::pair<std::string, WorkClass>, Facts> facts_;
};

bool TakesLonger(const ReportKernel& a, const ReportKernel& b) {
  return std::tie(b.sum_ns, a.name, a.work_class) < std::tie(a.sum_ns, b.name, b.work_class);
}

void AddByName(const std::vector<KernelTime>& kernels, RowMaker* rows, ReportProcess* report) {
  std::map<std::pair<std::string, WorkClass>, KernelTime> by_name;
  for (const KernelTime& kernel : kernels) {
    KernelTime& sum = by_name[{kernel.name, kernel.work_class}];
    sum.name = kernel.name;
    sum.work_class = kernel.work_class;
    sum.lengths.Add(kernel.lengths);
    sum.filled += kernel.filled;
    sum.fill_known &= kernel.fill_known;
    sum.graph = kernel.graph;
  }
  for (const auto& [name, sum] : by_name) report->kernels.push_back(rows->RowOf(sum));
  std::sort(report->kernels.begin(), report->kernels.end(), TakesLonger);
}

// Of those that have streams; null where they are unlike each other, or nobody knows.
const DeviceKind* PeakOfDevices(const ProcessTrace& process) {
  std::set<const DeviceKind*> peaks;
  for (size_t id = 1; id < process.streams.size(); ++id) {
    peaks.insert(KindOfDevice(process.DeviceOf(process.streams[id].device).name));
  }
  return peaks.size() == 1 ? *peaks.begin() : nullptr;
}

void AddCategories(ReportProcess* report) {
  std::map<std::string, ReportCategory> sums;
  for (const ReportKernel& kernel : report->kernels) {
    ReportCategory& sum = sums[kernel.category];
    sum.category = kernel.category;
    sum.count += kernel.count;
    sum.sum_ns += kernel.sum_ns;
  }
  for (const auto& [name, sum] : sums) report->categories.push_back(sum);
  std::stable_sort(
      report->categories.begin(), report->categories.end(),
      [](const ReportCategory& a, const ReportCategory& b) { return a.sum_ns > b.sum_ns; });
}

}  // namespace

void NoteUnnamedNodes(Report* report) {
  uint64_t unnamed = 0;
  for (const ReportProcess& process : report->processes) {
    for (const ReportKernel& kernel : process.kernels) {
      for (const ReportGraphNode& node : kernel.nodes) {
        if (node.name == kUnnamedNode) unnamed += node.count;
      }
    }
  }
  if (unnamed == 0) return;
  report->notes.push_back(Counted(unnamed, "kernel") + " in CUDA graphs " +
                          (unnamed == 1 ? "has" : "have") +
                          " no name: the program added what has none itself, and the driver tells "
                          "its name since CUDA 12.3 only. --graphs node records each.");
}

void DropKernels(Report* report) {
  for (ReportProcess& process : report->processes) {
    process.kernels.clear();
    process.operation_kernels.clear();
    process.categories.clear();
    process.ops.clear();
  }
}

void AddKernelTables(const std::vector<KernelTime>& kernels, const std::vector<OpTime>& ops,
                     const std::vector<std::string>& operations, const ProcessTrace& process,
                     ReportProcess* report) {
  RowMaker rows(process, ops);
  AddByName(kernels, &rows, report);
  AddCategories(report);
  report->ops = OpRows(ops, PeakOfDevices(process));
  std::map<std::string, int64_t> sums;
  for (const KernelTime& kernel : kernels) {
    const std::string& operation = operations[kernel.operation];
    report->operation_kernels.push_back({operation, rows.RowOf(kernel)});
    sums[operation] += kernel.lengths.sum_ns();
  }
  std::sort(report->operation_kernels.begin(), report->operation_kernels.end(),
            [&sums](const ReportOperationKernel& a, const ReportOperationKernel& b) {
              if (a.operation == b.operation) return TakesLonger(a.kernel, b.kernel);
              return std::tuple(-sums[a.operation], a.operation) <
                     std::tuple(-sums[b.operation], b.operation);
            });
}

}  // namespace gpubound
