// SPDX-License-Identifier: Apache-2.0
//
// `gpubound export RUN --FORMAT FILE`: gives a run to other tools.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/output/export/export.h"
#include "analysis/output/export/output_file.h"
#include "analysis/output/export/unfinished_outputs.h"
#include "tools/commands/commands.h"
#include "tools/commands/ending_signals.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/report_file.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"
#include "tools/launch/scratch_folder.h"

namespace gpubound {
namespace {

constexpr CommandHelp kExportHelp = {
    "gpubound export", "RUN --FORMAT FILE...",
    "Gives a run to other tools, in one or more formats. A file is written whole or\n"
    "not at all. - in place of FILE writes text formats to stdout.",
    "Exit status: 0; 1 if a file cannot be written; 2 for wrong use, or a file that\n"
    "is there already; 3 if the run cannot be read.\n",
    "  gpubound export train.gpubound --perfetto train.pftrace\n"
    "  gpubound export train.gpubound --sqlite train.db && sqlite3 train.db\n"
    "  gpubound export train.gpubound --parquet tables\n"
    "  gpubound export train.gpubound --prometheus train.prom --force\n"
    "  gpubound export train.gpubound --otlp otlp://localhost:4318\n"};

struct Format {
  ExportFormat format;
  const char* option;
  const char* type;
  const char* description;
};

constexpr Format kFormats[] = {
    {ExportFormat::kPerfetto, "--perfetto", "FILE", "Perfetto trace, for ui.perfetto.dev"},
    {ExportFormat::kChrome, "--chrome", "FILE", "Chrome JSON; gpubound import reads it again"},
    {ExportFormat::kSqlite, "--sqlite", "FILE", "SQLite database of plain, indexed tables"},
    {ExportFormat::kCsv, "--csv", "DIR", "The same tables as comma-separated values"},
    {ExportFormat::kParquet, "--parquet", "DIR", "The same tables as Parquet files"},
    {ExportFormat::kPrometheus, "--prometheus", "FILE", "Figures in Prometheus's text format"},
    {ExportFormat::kSpeedscope, "--speedscope", "FILE", "Python stacks, for speedscope.app"},
    {ExportFormat::kCollapsed, "--collapsed", "FILE", "Python stacks as lines, for flame graphs"},
};
constexpr size_t kFormatCount = std::size(kFormats);

// Exit status of one export, whose errors it prints, and of its problems those that are not |said|.
int ExportOne(const Format& format, const std::string& run, const std::string& path, bool force,
              std::set<std::string>* said) {
  ExportOutcome outcome;
  {
    const ProgressNote note("writing " + path);
    outcome = ExportRunTo(format.format, run, path, force);
  }
  for (const std::string& problem : outcome.problems) {
    if (said->insert(problem).second) PrintWarning("read in part only: " + EscapeName(problem));
  }
  if (outcome.status.ok()) return kExitSuccess;
  PrintError(outcome.status.error());
  if (outcome.input_failed) return kExitUnreadable;
  const bool is_there = outcome.status.error().expected == kNothingThere;
  return is_there ? kExitWrongUse : kExitCheckFailed;
}

bool IsText(ExportFormat format) {
  return format != ExportFormat::kPerfetto && format != ExportFormat::kSqlite &&
         format != ExportFormat::kCsv && format != ExportFormat::kParquet;
}

// Written whole or not at all, like a file.
int ExportToStdout(const Format& format, const std::string& run, std::set<std::string>* said) {
  const ScratchFolder folder;
  if (const Status made = folder.Made(); !made.ok()) {
    PrintError(made.error());
    return kExitCheckFailed;
  }
  const std::string path = folder.File("export");
  const int exported = ExportOne(format, run, path, false, said);
  if (exported != kExitSuccess) return exported;
  std::ifstream file(path, std::ios::binary);
  std::string bytes(size_t{1} << 20, '\0');
  while (file) {
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    const auto size = static_cast<size_t>(file.gcount());
    if (const int status = WriteStdout(bytes.substr(0, size)); status != kExitSuccess)
      return status;
  }
  return kExitSuccess;
}

}  // namespace

int ExportRun(const Arguments& words) {
  std::string run;
  std::vector<std::string> paths(kFormatCount);
  bool force = false;
  std::string sent_to;
  OptionParser parser(kExportHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  for (size_t i = 0; i < kFormatCount; ++i) {
    parser.AddOption(kFormats[i].option, &paths[i], kFormats[i].description)
        .Value(kFormats[i].type);
  }
  parser.AddOption("--otlp", &sent_to, "Send iterations and operations as spans: otlp://HOST:PORT")
      .Value("TO")
      .Check(NotEmpty());
  parser.AddFlag("--force", &force, "Replace what is there");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (!sent_to.empty()) {
    parser.Complain(
        "--otlp is done by the Python package: pip install 'gpubound[live]', then "
        "python3 -m gpubound export RUN --otlp " +
        sent_to);
    return kExitWrongUse;
  }
  AllowManyFiles();
  const bool any =
      std::any_of(paths.begin(), paths.end(), [](const auto& p) { return !p.empty(); });
  if (run.empty() || !any) {
    std::string formats;
    for (const Format& format : kFormats) {
      formats += (formats.empty() ? "" : ", ") + std::string(format.option);
    }
    parser.Complain(run.empty() ? "RUN is missing." : "Name a format: " + formats + ".");
    return kExitWrongUse;
  }
  for (size_t i = 0; i < kFormatCount; ++i) {
    if (!IsStdout(paths[i]) || IsText(kFormats[i].format)) continue;
    parser.Complain(std::string(kFormats[i].option) + " is no text: name a " + kFormats[i].type +
                    ", not '" + paths[i] + "'.");
    return kExitWrongUse;
  }
  if (std::count_if(paths.begin(), paths.end(), &IsStdout) > 1) {
    parser.Complain("Two formats cannot both go to stdout.");
    return kExitWrongUse;
  }
  std::map<std::filesystem::path, const char*> written;
  for (size_t i = 0; i < kFormatCount; ++i) {
    if (paths[i].empty() || IsStdout(paths[i])) continue;
    std::error_code error;
    // Of what is not there, weakly_canonical leaves a relative name as it is.
    std::filesystem::path path = std::filesystem::absolute(paths[i], error);
    if (!error) path = std::filesystem::weakly_canonical(path, error);
    if (error) path = paths[i];
    const auto [first, is_new] = written.emplace(path, kFormats[i].option);
    if (is_new) continue;
    parser.Complain(std::string(first->second) + " and " + kFormats[i].option +
                    " name one file: '" + paths[i] + "'.");
    return kExitWrongUse;
  }
  const EndingSignals ending(&RemoveUnfinishedOutputs);
  std::set<std::string> said;
  for (size_t i = 0; i < kFormatCount; ++i) {
    if (paths[i].empty()) continue;
    const int status = IsStdout(paths[i]) ? ExportToStdout(kFormats[i], run, &said)
                                          : ExportOne(kFormats[i], run, paths[i], force, &said);
    if (status != kExitSuccess) return status;
  }
  return kExitSuccess;
}

}  // namespace gpubound
