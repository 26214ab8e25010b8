// SPDX-License-Identifier: Apache-2.0
//
// Lays the list out. No state.
#include "analysis/output/text/report_kernels.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/demangle.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"

namespace gpubound {
namespace {

constexpr size_t kShownKernels = 6;  // of an operation
constexpr size_t kShownNodes = 4;    // of a graph
constexpr int kWidthWithClass = 96;

// Kernels of one operation lie side by side, the longest in front.
using Kernels = std::vector<ReportOperationKernel>;
using KernelIterator = Kernels::const_iterator;

// Of several; without lengths.
ReportKernel SumOf(KernelIterator begin, KernelIterator end) {
  ReportKernel sum;
  for (KernelIterator row = begin; row != end; ++row) {
    sum.count += row->kernel.count;
    sum.sum_ns += row->kernel.sum_ns;
    sum.sm_filled_ns += row->kernel.sm_filled_ns;
    sum.sm_fill_is_upper_bound |= row->kernel.sm_fill_is_upper_bound;
  }
  return sum;
}

class Listing {
 public:
  explicit Listing(const TextOptions& options)
      : options_(options), with_class_(options.width >= kWidthWithClass), table_(Heads()) {}

  void AddOperation(KernelIterator begin, KernelIterator end) {
    Add(ShownName(begin->operation), SumOf(begin, end), /*lengths=*/false);
    const auto shown = std::min<std::ptrdiff_t>(end - begin, kShownKernels);
    for (KernelIterator row = begin; row != begin + shown; ++row) {
      Add("  " + NameOf(row->kernel), row->kernel, /*lengths=*/true);
      AddNodes(row->kernel.nodes);
    }
    if (begin + shown == end) return;
    Add("  and " + std::to_string(end - begin - shown) + " more", SumOf(begin + shown, end),
        /*lengths=*/false);
  }

  std::string Render() const {
    std::string text = "\n" + table_.Render(options_.width, 0, options_.unicode);
    const auto say = [&](const char* sentence) { text += Wrap(sentence, options_.width, 2); };
    if (any_bound_) say("<= work of unknown geometry was taken as filling the device.");
    if (any_rounded_) say("Median and p95 of many lengths are rounded down by up to 0.4 %.");
    return text;
  }

 private:
  std::vector<std::string> Heads() const {
    std::vector<std::string> heads{"Device work"};
    if (with_class_) heads.emplace_back("class");
    for (const char* head : {"count", "sum", "mean", "median", "p95", "SM fill"}) {
      heads.emplace_back(head);
    }
    return heads;
  }

  // The operator says more than templates made for it: "aten::mul: elementwise_kernel".
  std::string NameOf(const ReportKernel& kernel) const {
    const std::string name = Demangled(kernel.name);
    if (kernel.op.empty() || options_.full) return ShownName(name);
    return ShownName(kernel.op + ": " + BareName(name));
  }

  std::string Time(int64_t ns) const { return FormatTime(ns, options_.raw); }

  // What a graph runs each time, by where it was captured. Only the graph has a length.
  void AddNodes(const std::vector<ReportGraphNode>& nodes) {
    const size_t shown = std::min(nodes.size(), kShownNodes);
    std::set<std::string> operations;
    for (size_t i = 0; i < shown; ++i) {
      const std::string& operation = nodes[i].captured_in;
      if (!operations.insert(operation).second) continue;
      AddNote("    captured in " + EscapeName(operation), "");
      for (size_t n = i; n < shown; ++n) {
        if (nodes[n].captured_in == operation) AddNode(nodes[n]);
      }
    }
    if (shown < nodes.size()) {
      AddNote("      and " + std::to_string(nodes.size() - shown) + " more", "");
    }
  }

  void AddNode(const ReportGraphNode& node) {
    AddNote("      " + FormatCount(node.count) + " x " + ShownName(Demangled(node.name)),
            node.work_class);
  }

  void AddNote(const std::string& name, const std::string& work_class) {
    std::vector<std::string> cells(Heads().size());
    cells[0] = name;
    if (with_class_) cells[1] = work_class;
    table_.AddRow(std::move(cells));
  }

  void Add(const std::string& name, const ReportKernel& row, bool lengths) {
    std::vector<std::string> cells{name};
    if (with_class_) cells.push_back(row.work_class);
    cells.push_back(FormatCount(row.count));
    cells.push_back(Time(row.sum_ns));
    for (const int64_t ns : {row.mean_ns, row.median_ns, row.p95_ns}) {
      cells.push_back(lengths ? Time(ns) : "");
    }
    // Copies fill nothing, and of some work the geometry is not known.
    cells.push_back(row.sm_filled_ns == 0 ? "-"
                                          : (row.sm_fill_is_upper_bound ? "<= " : "") +
                                                FormatShare(ShareOf(row.sm_filled_ns, row.sum_ns)));
    table_.AddRow(std::move(cells));
    any_bound_ |= row.sm_fill_is_upper_bound;
    any_rounded_ |= row.lengths_rounded;
  }

  const TextOptions& options_;
  const bool with_class_;
  TextTable table_;
  bool any_bound_ = false;
  bool any_rounded_ = false;
};

}  // namespace

std::string KernelTable(const ReportProcess& process, const TextOptions& options) {
  const Kernels& kernels = process.operation_kernels;
  if (kernels.empty()) return {};
  Listing listing(options);
  for (KernelIterator begin = kernels.begin(); begin != kernels.end();) {
    const KernelIterator end = std::find_if(
        begin, kernels.end(), [&](const auto& row) { return row.operation != begin->operation; });
    listing.AddOperation(begin, end);
    begin = end;
  }
  return listing.Render();
}

}  // namespace gpubound
