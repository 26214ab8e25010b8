// SPDX-License-Identifier: Apache-2.0
//
// `gpubound import FILE -o RUN`: makes a run out of a trace that another tool wrote.
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>

#include "analysis/base/folder_entries.h"
#include "analysis/base/text_table.h"
#include "analysis/import/import.h"
#include "analysis/import/import_source.h"
#include "tools/commands/commands.h"
#include "tools/commands/ending_signals.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/shell_quote.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"
#include "tools/launch/run_directory.h"

namespace gpubound {
namespace {

constexpr CommandHelp kImportHelp = {
    "gpubound import", "[OPTIONS] FILE",
    "Makes a run out of a trace that another tool wrote, so that every command works on it. FILE "
    "is\n"
    "a PyTorch profile or other Chrome JSON of its kind (plain or gzip), or an SQLite export of\n"
    "Nsight Systems. Chrome JSON may come through a pipe; - is standard input.",
    "Exit status: 0; 1 if the run cannot be written; 2 for an output directory that cannot be "
    "used;\n"
    "3 if FILE cannot be read.\n",
    "  gpubound import trace.json.gz -o train.gpubound\n"
    "  ssh node cat trace.json.gz | gpubound import - -o train.gpubound\n"
    "  nsys export --type sqlite report.nsys-rep && gpubound import report.sqlite\n"
    "  gpubound report train.gpubound\n"};

constexpr int kTries = 100;

// What was written is of no use without the rest.
void RemoveRemains(const RunDirectory& directory) {
  for (const std::filesystem::directory_entry& entry : EntriesOf(directory.path)) {
    std::error_code ignored;
    if (entry.path().extension() == ".db") std::filesystem::remove(entry.path(), ignored);
  }
  RemoveIfEmpty(directory);
}

}  // namespace

int ImportRun(const Arguments& words) {
  std::string file;
  std::string output;
  OptionParser parser(kImportHelp);
  parser.AddOption("FILE", &file, "Trace to import; - for standard input").Value("");
  parser.AddOption("-o,--output", &output, "Directory of the run (default: NAME-TIME-PID.gpubound)")
      .Check(NewFolder())
      .Value("RUN");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (file.empty()) {
    parser.Complain("FILE is missing.");
    return kExitWrongUse;
  }
  if (file == "-") file = kStandardInput;
  if (output.empty()) output = DefaultRunName(file, std::time(nullptr), getpid());

  const Result<RunDirectory> directory = MakeRunDirectory(output, /*join=*/false);
  if (!directory.ok()) {
    PrintError(directory.error());
    return kExitWrongUse;
  }
  AllowManyFiles();
  const EndingSignals ending([&] {
    for (int i = 0; i < kTries; ++i) RemoveRemains(*directory);  // one more may come meanwhile
  });
  bool output_failed = false;
  const Result<ImportSummary> summary = [&] {
    const ProgressNote note("importing " + file);
    return ImportTrace(file, directory->path, &output_failed);
  }();
  if (!summary.ok()) {
    RemoveRemains(*directory);
    PrintError(summary.error());
    return output_failed ? kExitCheckFailed : kExitUnreadable;
  }
  PrintMessage(
      fmt::format("imported {} CPU and {} GPU events of {} process{}.\n"
                  "Report with: gpubound report {}",
                  summary->cpu_events, summary->device_events, summary->processes,
                  summary->processes == 1 ? "" : "es", EscapeName(ShellQuote(output))));
  if (summary->malformed > 0) {
    PrintWarning(fmt::format("{} event{} could not be read and {} missing.", summary->malformed,
                             summary->malformed == 1 ? "" : "s",
                             summary->malformed == 1 ? "is" : "are"));
  }
  if (!summary->cut_short.empty()) PrintWarning(EscapeName(summary->cut_short) + ".");
  for (const std::string& gap : summary->gaps) PrintWarning(EscapeName(gap));
  return kExitSuccess;
}

}  // namespace gpubound
