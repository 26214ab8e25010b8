// SPDX-License-Identifier: Apache-2.0
//
// `gpubound doctor`: without a run, whether this machine is ready to record; with one, everything
// that could make a number of it wrong.
#include <unistd.h>

#include <algorithm>

#include "analysis/output/text/ledger_text.h"
#include "analysis/report/report.h"
#include "tools/commands/commands.h"
#include "tools/commands/ledger_listing.h"
#include "tools/commands/load_report.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/commands/recorder_logs.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/launch/machine_facts.h"
#include "tools/launch/readiness.h"

namespace gpubound {
namespace {

constexpr CommandHelp kDoctorHelp = {
    "gpubound doctor", "[OPTIONS] [RUN]",
    "With RUN, prints the ledger of that trace: everything that was lost, guessed or doubtful "
    "while\n"
    "it was recorded, and the logs that GPUBOUND_LOG=debug left there. Without, checks whether "
    "this\n"
    "machine is ready to record.",
    "Exit status: 0; 1 if the ledger holds an error or the machine a problem; 3 if RUN cannot be\n"
    "read.\n",
    "  gpubound doctor\n"
    "  gpubound doctor train.gpubound --all\n"};

int CheckMachine(const TextOptions& options) {
  const std::vector<Check> checks = JudgeMachine(GatherMachineFacts());
  const int written = WriteStdout(RenderChecks(checks, options));
  return HasProblem(checks) ? kExitCheckFailed : written;
}

int PrintLedger(const std::string& run, bool all, const TextOptions& options) {
  PrepareAnalysis();
  const Result<Report> report = LoadReport(run);
  if (!report.ok()) {
    PrintError(report.error());
    return kExitUnreadable;
  }
  std::string text = RenderLedger(*report, options);
  if (all) text += "\n" + RenderZeroCounters(*report, options);
  text += RenderRecorderLogs(run);
  const int written = WriteStdout(text);
  return LedgerHasError(*report) ? kExitCheckFailed : written;
}

}  // namespace

int RunDoctor(const Arguments& words) {
  std::string run;
  bool all = false;
  OptionParser parser(kDoctorHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  parser.AddFlag("--all", &all, "List the counters that are zero too");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;

  const TextOptions options = TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable);
  if (!run.empty()) return PrintLedger(run, all, options);
  if (all) {
    parser.Complain("--all needs a RUN.");
    return kExitWrongUse;
  }
  return CheckMachine(options);
}

}  // namespace gpubound
