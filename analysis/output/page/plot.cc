// SPDX-License-Identifier: Apache-2.0
//
// Groups, averages, lays out. No state.
#include "analysis/output/page/plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/page/helvetica.h"
#include "analysis/output/page/svg_writer.h"

namespace gpubound {
namespace {

constexpr double kWidth = 720;  // points
constexpr double kLeft = 170;   // of the bars of time
constexpr double kTimeWidth = 300;
constexpr double kCountLeft = 520;
constexpr double kCountWidth = 170;
constexpr double kRow = 16;
constexpr double kBar = 11;
constexpr double kMargin = 10;
constexpr double kTextSize = 10;
// Other fonts that may stand in for Helvetica are wider, DejaVu Sans by up to a quarter.
constexpr double kWiderFont = 1.25;
constexpr int kMostColumns = 200;  // in columns; nothing here is wider

struct ColumnStyle {
  const char* name;
  const char* legend;
  const char* fill;
};
// Names are those of the report JSON, less "_ns".
constexpr ColumnStyle kStyles[kPlotColumns] = {
    {"gpu_only", "GPU only", "#0072B2"}, {"cpu_gpu", "CPU+GPU", "stripes"},
    {"cpu_only", "CPU only", "#E69F00"}, {"waiting", "waiting", "dots"},
    {"idle", "idle", "#C9CDD3"},         {"unknown", "unknown", "hatch"}};

const ReportProcess* ShownProcess(const Report& report) {
  const ReportProcess* shown = nullptr;
  for (const ReportProcess& process : report.processes) {
    if (shown == nullptr || process.gpu_busy_ns > shown->gpu_busy_ns) shown = &process;
  }
  return shown;
}

// Empty where the run has none of |keys|.
std::string MetadataName(const PlotRun& run, const std::vector<std::string>& keys) {
  std::string name;
  for (const std::string& key : keys) {
    const auto value = run.metadata.find(key);
    if (value == run.metadata.end()) continue;
    if (!name.empty()) name += ", ";
    name += value->second;
  }
  return name;
}

void AddRun(const ReportProcess& process, std::map<std::string, PlotOperation>* sums) {
  for (const ReportOperation& row : process.operations) {
    PlotOperation& sum = (*sums)[row.operation];
    sum.operation = row.operation;
    const int64_t columns[] = {row.gpu_only_ns, row.cpu_gpu_ns, row.cpu_only_ns,
                               row.waiting_ns,  row.idle_ns,    row.unknown_ns};
    for (size_t i = 0; i < kPlotColumns; ++i) sum.ns[i] += columns[i];
    for (const auto& [name, count] : row.transitions) sum.transitions[name] += count;
  }
}

PlotGroup GroupOf(const std::string& name, const std::vector<const PlotRun*>& runs) {
  PlotGroup group;
  group.name = name;
  group.runs = runs.size();
  std::map<std::string, PlotOperation> sums;
  for (const PlotRun* run : runs) {
    group.simulated = group.simulated || run->report->device_kind == "simulated";
    if (const ReportProcess* process = ShownProcess(*run->report)) AddRun(*process, &sums);
  }
  for (auto& [operation, sum] : sums) {
    for (int64_t& ns : sum.ns) ns /= static_cast<int64_t>(runs.size());
    for (auto& [transition, count] : sum.transitions) count /= runs.size();
    group.operations.push_back(std::move(sum));
  }
  std::stable_sort(group.operations.begin(), group.operations.end(),
                   [](const auto& a, const auto& b) { return a.wall_ns() > b.wall_ns(); });
  return group;
}

// The next of 1, 2, 5, 10, 20 ... that is not less than |value|.
double NiceStep(double value) {
  const double power = std::pow(10, std::floor(std::log10(std::max(value, 1e-9))));
  for (const double step : {1.0, 2.0, 5.0}) {
    if (step * power >= value * 0.999999) return step * power;
  }
  return 10 * power;
}

// |name| in at most |room| points at |size|, whatever font it is shown in: cut in the middle, since
// names differ at both ends.
std::string Fitting(const std::string& name, double room, double size) {
  const std::string shown = ShownName(name);
  int columns = std::min(DisplayWidth(shown), kMostColumns);
  const auto cut = [&] { return PadRight(shown, columns, true); };
  while (columns > 1 && kWiderFont * HelveticaWidth(cut(), size) > room) --columns;
  return cut();
}

class Picture {
 public:
  Picture(const std::vector<PlotGroup>& groups, SvgWriter* drawing)
      : groups_(groups), drawing_(*drawing) {
    int64_t longest_ns = 1;
    uint64_t most = 1;
    for (const PlotGroup& group : groups) {
      for (const PlotOperation& row : group.operations) {
        longest_ns = std::max(longest_ns, row.wall_ns());
        for (const auto& [name, count] : row.transitions) most = std::max(most, count);
      }
    }
    ns_per_unit_ = static_cast<double>(longest_ns) / kTimeWidth;
    count_per_unit_ = static_cast<double>(most) / kCountWidth;
  }

  std::string Render() {
    drawing_.Pattern("stripes", 5, "#009E73", {{1, 0, 1, 5}});
    drawing_.Pattern("dots", 5, "#CC79A7",
                     {{2, 2, 3, 2}, {3, 2, 3, 3}, {3, 3, 2, 3}, {2, 3, 2, 2}});
    drawing_.Pattern("hatch", 5, "#FFFFFF", {{0, 5, 5, 0}, {0, 0, 5, 5}});
    DrawLegend();
    for (const PlotGroup& group : groups_) DrawGroup(group);
    DrawAxes();
    char scales[128];
    std::snprintf(scales, sizeof(scales), "data-ns-per-unit=\"%.9g\" data-count-per-unit=\"%.9g\"",
                  ns_per_unit_, count_per_unit_);
    return drawing_.Document(kWidth, y_ + kMargin, "gpubound: time and transitions by operation",
                             scales);
  }

 private:
  void Text(double x, double y, const std::string& text,
            SvgWriter::Anchor anchor = SvgWriter::Anchor::kStart, double size = kTextSize) {
    drawing_.Text(x, y, text, anchor, size, false);
  }

  void DrawLegend() {
    double x = kMargin;
    for (const ColumnStyle& style : kStyles) {
      drawing_.Rect(x, y_, 12, 9, style.fill, {}, {});
      Text(x + 16, y_ + 8, style.legend);
      x += 32 + kWiderFont * HelveticaWidth(style.legend, kTextSize);
    }
    Text(kCountLeft, y_ + 8, "transitions");
    y_ += 22;
  }

  void DrawGroup(const PlotGroup& group) {
    constexpr double kSize = 11;
    std::string about;
    if (group.runs > 1) about += " (mean of " + std::to_string(group.runs) + " runs)";
    if (group.simulated) about += " - SIMULATED DEVICE";
    const double room = kWidth - 2 * kMargin - kWiderFont * HelveticaWidth(about, kSize);
    drawing_.Text(kMargin, y_ + 10, Fitting(group.name, room, kSize) + about,
                  SvgWriter::Anchor::kStart, kSize, true);
    y_ += 18;
    const double top = y_ - 2;
    for (const PlotOperation& row : group.operations) DrawOperation(row);
    drawing_.Line(kLeft, top, kLeft, y_, "#000000");
    drawing_.Line(kCountLeft, top, kCountLeft, y_, "#000000");
    y_ += 8;
  }

  void DrawOperation(const PlotOperation& row) {
    const std::string name = ShownName(row.operation);
    Text(kLeft - 6, y_ + 9, Fitting(row.operation, kLeft - 6 - kMargin, kTextSize),
         SvgWriter::Anchor::kEnd);
    double x = kLeft;
    for (size_t i = 0; i < kPlotColumns; ++i) {
      if (row.ns[i] <= 0) continue;
      const double width = static_cast<double>(row.ns[i]) / ns_per_unit_;
      drawing_.Rect(x, y_, width, kBar, kStyles[i].fill,
                    name + ", " + kStyles[i].legend + ": " + FormatTime(row.ns[i]),
                    std::string("class=\"") + kStyles[i].name + "\"");
      x += width;
    }
    Text(x + 4, y_ + 9, FormatTime(row.wall_ns()), SvgWriter::Anchor::kStart, 8.5);
    const double first = y_;
    for (const auto& [transition, count] : row.transitions) {
      const double width = static_cast<double>(count) / count_per_unit_;
      drawing_.Rect(kCountLeft, y_, width, kBar - 3, "#56B4E9",
                    name + ", " + transition + ": " + std::to_string(count),
                    "class=\"transition\"");
      Text(kCountLeft + 3, y_ + 7, transition + " " + FormatCount(count), SvgWriter::Anchor::kStart,
           7.5);
      y_ += kBar;
    }
    y_ = std::max(first + kRow, y_ + (row.transitions.empty() ? kRow : kRow - kBar));
  }

  void DrawAxes() {
    drawing_.Line(kLeft, y_, kLeft + kTimeWidth, y_, "#000000");
    const double step_ns = NiceStep(ns_per_unit_ * kTimeWidth / 5);
    const auto ticks = static_cast<int>(ns_per_unit_ * kTimeWidth / step_ns + 1e-4);
    for (int tick = 0; tick <= ticks; ++tick) {
      const double ns = tick * step_ns;
      const double x = kLeft + ns / ns_per_unit_;
      drawing_.Line(x, y_, x, y_ + 4, "#000000");
      Text(x, y_ + 14, FormatTime(static_cast<int64_t>(ns)), SvgWriter::Anchor::kMiddle, 9);
    }
    y_ += 18;
  }

  const std::vector<PlotGroup>& groups_;
  SvgWriter& drawing_;
  double y_ = kMargin;
  double ns_per_unit_ = 1;
  double count_per_unit_ = 1;
};

}  // namespace

int64_t PlotOperation::wall_ns() const {
  int64_t sum = 0;
  for (const int64_t part : ns) sum += part;
  return sum;
}

std::vector<PlotGroup> GroupForPlot(const std::vector<PlotRun>& runs,
                                    const std::vector<std::string>& keys) {
  std::vector<std::pair<std::string, std::vector<const PlotRun*>>> members;
  for (const PlotRun& run : runs) {
    const std::string name = MetadataName(run, keys);
    const auto known = std::find_if(members.begin(), members.end(), [&](const auto& member) {
      return !name.empty() && member.first == name;
    });
    if (known != members.end()) {
      known->second.push_back(&run);
    } else {
      members.push_back({name, {&run}});
    }
  }
  std::vector<PlotGroup> groups;
  for (const auto& [name, group] : members) {
    groups.push_back(GroupOf(name.empty() ? group.front()->name : name, group));
  }
  return groups;
}

std::string RenderPlot(const std::vector<PlotGroup>& groups) {
  SvgWriter svg;
  return Picture(groups, &svg).Render();
}

}  // namespace gpubound
