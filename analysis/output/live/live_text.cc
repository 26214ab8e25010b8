// SPDX-License-Identifier: Apache-2.0
//
// Renders a glance. No state.
#include "analysis/output/live/live_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <tuple>
#include <vector>

#include "analysis/base/base_name.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"
#include "analysis/output/live/recent_time.h"
#include "analysis/output/text/pid_text.h"
#include "analysis/output/text/rates.h"
#include "analysis/output/text/report_screen.h"
#include "analysis/report/simulated_mark.h"

namespace gpubound {
namespace {

constexpr size_t kMostRows = 8;  // operations, and processes
constexpr int kGaps = 3;         // between the columns of processes, at least

// A recorder writes every second; one that has not for so long is stopped, or its disk is.
constexpr int64_t kSilentNs = 10'000'000'000;

double Ratio(int64_t part, int64_t whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

// The windows that are longer than the one before: a young run has no last minute.
std::vector<size_t> ShownWindows(const LiveGlance& glance) {
  std::vector<size_t> shown{0};
  for (size_t window = 1; window < glance.windows_ns.size(); ++window) {
    if (glance.windows_ns[window] > glance.windows_ns[window - 1]) shown.push_back(window);
  }
  return shown;
}

// Of several processes the table is one's.
std::vector<std::string> Heads(const LiveGlance& glance, const TextOptions& options) {
  std::vector<std::string> heads{""};
  if (glance.processes.size() > 1) {
    const LiveGlance::ProcessRow& shown = glance.Leading();
    heads[0] = ShortName(ShownName(shown.name), kNameInSentence, options.unicode) + " " +
               PidText(glance.processes, options.unicode).Of(shown.pid, shown.host);
  }
  for (const size_t window : ShownWindows(glance)) {
    heads.push_back("last " + FormatTime(glance.windows_ns[window]));
  }
  return heads;
}

void AddShares(const std::string& name, const LiveTimes& times, const LiveGlance& glance,
               TextTable* table) {
  std::vector<std::string> cells{name};
  for (const size_t window : ShownWindows(glance)) {
    cells.push_back(FormatShare(Ratio(times[window], glance.windows_ns[window])));
  }
  table->AddRow(std::move(cells));
}

std::string Rate(double amount, int64_t window_ns) {
  constexpr double kSecondNs = 1e9;
  return window_ns > 0 ? RateText(amount * kSecondNs / static_cast<double>(window_ns)) + " /s"
                       : "-";
}

// What the windows leave out.
std::string Coverage(const LiveGlance& glance, const TextOptions& options) {
  std::string text;
  if (glance.windows_ns.back() == 0) {
    text = "Less than " + FormatTime(2 * kBucketNs) +
           (glance.thinned ? " of detail is left" : " is recorded") +
           ": too short for shares of time, which gpubound report has.";
  } else if (glance.thinned) {
    text = "Only the last " + FormatTime(glance.windows_ns.back()) +
           " have all detail; gpubound report has sums of the rest.";
  }
  return text.empty() ? text : Wrap(text, options.width, 0);
}

std::string OperationTable(const LiveGlance& glance, const TextOptions& options) {
  TextTable table(Heads(glance, options));
  for (const LiveGlance::DeviceRow& device : glance.devices) {
    AddShares("GPU busy, " + EscapeName(device.name), device.busy_ns, glance, &table);
  }
  LiveTimes none = glance.windows_ns;
  LiveTimes others{};
  // A row that stands for one operation may as well be that operation's.
  const size_t rows = glance.Leading().operations.size();
  const size_t shown = rows > kMostRows + 1 ? kMostRows : rows;
  for (size_t i = 0; i < rows; ++i) {
    const LiveGlance::OperationRow& row = glance.Leading().operations[i];
    for (size_t window = 0; window < none.size(); ++window) {
      none[window] -= row.ns[window];
      if (i >= shown) others[window] += row.ns[window];
    }
    if (i < shown) AddShares(ShownName(row.name), row.ns, glance, &table);
  }
  if (shown < rows) {
    AddShares("others (" + std::to_string(rows - shown) + ")", others, glance, &table);
  }
  if (!glance.processes.empty()) {
    AddShares(glance.Leading().operations_known ? "(no operation)" : "(not known)", none, glance,
              &table);
  }
  for (const LiveGlance::WorkRow& row : glance.Leading().work) {
    std::vector<std::string> cells{WorkText(row.counter)};
    for (const size_t window : ShownWindows(glance)) {
      cells.push_back(Rate(static_cast<double>(row.done[window]), glance.windows_ns[window]));
    }
    table.AddRow(std::move(cells));
  }
  if (glance.Leading().steps.back() > 0) {
    std::vector<std::string> cells{"iterations"};
    for (const size_t window : ShownWindows(glance)) {
      cells.push_back(
          Rate(static_cast<double>(glance.Leading().steps[window]), glance.windows_ns[window]));
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(options.width, 0, options.unicode);
}

// "train.py:205 act"; of what is in no function the place alone.
std::string LineText(const LiveGlance::LineRow& row, bool unicode) {
  std::string place = EscapeName(BaseName(row.file));
  if (row.line != 0) place += ":" + std::to_string(row.line);
  if (row.function.starts_with('<')) return place;
  return place + " " + ShortName(ShownName(row.function), kNameInSentence, unicode);
}

std::string LineTable(const LiveGlance& glance, const TextOptions& options) {
  std::vector<std::string> heads{"At line"};
  for (const size_t window : ShownWindows(glance)) {
    heads.push_back("last " + FormatTime(glance.windows_ns[window]));
  }
  TextTable table(heads);
  for (const LiveGlance::LineRow& row : glance.Leading().lines) {
    std::vector<std::string> cells{LineText(row, options.unicode)};
    for (const size_t window : ShownWindows(glance)) {
      cells.push_back(FormatShare(row.share[window]));
    }
    table.AddRow(std::move(cells));
  }
  return table.Render(options.width, 0, options.unicode);
}

std::string StateOf(const LiveGlance::ProcessRow& row, int width, bool unicode) {
  if (row.ended) return "(ended)";
  if (row.age_ns && *row.age_ns >= kSilentNs) return "(silent for " + FormatTime(*row.age_ns) + ")";
  return row.operation ? ShortName(ShownName(*row.operation), width, unicode) : "-";
}

// Where there are too many, the one whose operations are shown and those that use a device most or
// at least go on; in their own order, so that rows do not jump.
std::vector<size_t> ShownProcesses(const LiveGlance& glance) {
  std::vector<size_t> shown(glance.processes.size());
  std::iota(shown.begin(), shown.end(), size_t{0});
  if (shown.size() <= kMostRows) return shown;
  const auto rank = [&glance](size_t i) {
    const LiveGlance::ProcessRow& row = glance.processes[i];
    return std::tuple(i != glance.leading, -row.busy_ns[1], row.ended);
  };
  std::stable_sort(shown.begin(), shown.end(),
                   [&rank](size_t a, size_t b) { return rank(a) < rank(b); });
  shown.resize(kMostRows);
  std::sort(shown.begin(), shown.end());
  return shown;
}

std::string ProcessTable(const LiveGlance& glance, const TextOptions& options) {
  const bool too_short = glance.windows_ns[1] == 0;
  const std::vector<std::string> heads{
      "Process", "pid", "now in",
      too_short ? "GPU busy" : "GPU busy, last " + FormatTime(glance.windows_ns[1])};
  TextTable table(heads);
  const std::vector<size_t> shown = ShownProcesses(glance);
  // What the other columns leave, of which the first takes little.
  int state_width = options.width - kSmallestTableName - DisplayWidth(heads.back()) - kGaps;
  int widest_pid = DisplayWidth(heads[1]);
  const PidText pids(glance.processes, options.unicode);
  for (const size_t i : shown) {
    const LiveGlance::ProcessRow& row = glance.processes[i];
    widest_pid = std::max(widest_pid, DisplayWidth(pids.Of(row.pid, row.host)));
  }
  state_width = std::max(state_width - widest_pid, kSmallestTableName);
  for (const size_t i : shown) {
    const LiveGlance::ProcessRow& row = glance.processes[i];
    table.AddRow({ShortName(ShownName(row.name), kNameInSentence, options.unicode),
                  pids.Of(row.pid, row.host), StateOf(row, state_width, options.unicode),
                  too_short ? "-" : FormatShare(Ratio(row.busy_ns[1], glance.windows_ns[1]))});
  }
  std::string text = table.Render(options.width, 0, options.unicode);
  if (shown.size() < glance.processes.size()) {
    text += "and " + std::to_string(glance.processes.size() - shown.size()) + " more\n";
  }
  return text;
}

// What the report says of what was recorded until then.
std::string SoFar(const Report& report, int height, const TextOptions& options) {
  constexpr int kTall = 30;  // lines: below that the tables need them
  return Wrap("So far (" + FormatTime(report.run.wall_ns) + "):", options.width, 0) +
         VerdictLines(report, options, /*with_action=*/height >= kTall) + IdleLine(report, options);
}

// The first |height| lines of |text|.
std::string Cut(const std::string& text, int height) {
  size_t at = 0;
  for (int line = 0; line < height; ++line) {
    at = text.find('\n', at);
    if (at == std::string::npos) return text;
    ++at;
  }
  return text.substr(0, at);
}

}  // namespace

std::string RenderGlance(const LiveGlance& glance, const std::string& run, int height,
                         const TextOptions& options, const Report* so_far) {
  std::string text = PadRight(EscapeName(run), options.width, options.unicode);
  while (text.ends_with(' ')) text.pop_back();
  text += "\n";
  if (glance.processes.empty()) return text + "Nothing is recorded yet.\n";
  if (glance.simulated) text += Wrap(kSimulatedMark, options.width, 0);
  if (glance.age_ns) text += "newest record: " + FormatTime(*glance.age_ns) + " ago\n";
  if (so_far != nullptr) text += "\n" + SoFar(*so_far, height, options);
  text += Coverage(glance, options);
  if (glance.windows_ns.back() > 0) text += "\n" + OperationTable(glance, options);
  text += "\n" + ProcessTable(glance, options);
  if (!glance.Leading().lines.empty()) text += "\n" + LineTable(glance, options);
  return Cut(text, height);
}

}  // namespace gpubound
