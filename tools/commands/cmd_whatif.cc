// SPDX-License-Identifier: Apache-2.0
//
// `gpubound whatif RUN --scale PART=NAME:FACTOR`: what a run would be with a part made faster.
#include <unistd.h>

#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/report_options.h"
#include "analysis/correction/what_if_report.h"
#include "analysis/output/text/what_if_text.h"
#include "analysis/report/what_if_result.h"
#include "tools/commands/commands.h"
#include "tools/commands/operations_option.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"

namespace gpubound {
namespace {

constexpr CommandHelp kWhatifHelp = {
    "gpubound whatif", "[OPTIONS] RUN [--scale PART=NAME:FACTOR]...",
    "Replays a run with parts of it made faster or slower, and says how long it would have taken.",
    "PART is operation (its GPU work and its CPU code; also operation-gpu and operation-cpu), "
    "layer\n"
    "(CPU time: waits for the GPU follow), kernel (GPU work whose name contains NAME), or\n"
    "device:FACTOR for all GPU work. FACTOR multiplies the time.\n"
    "--graph-capture: launches inside the operation become one graph launch per occurrence;\n"
    "--fuse: its kernels one kernel. --gpu: kernels as another GPU would run them.\n"
    "--vectorise: K times as many environments in each launch. --copies: up to K runs like this\n"
    "one on the same GPU. --move-gpus: K of the GPUs of role FROM work for role TO.\n"
    "docs/what_if.md says what is assumed.\n"
    "Exit status: 0; 1 if stdout cannot be written; 2 for a change that makes no sense;\n"
    "3 if the run cannot be read.\n",
    "  gpubound whatif train.gpubound --scale operation=simulation:0.5\n"
    "  gpubound whatif train.gpubound --scale kernel=gemm:0.8 --scale layer=python:0\n"
    "  gpubound whatif train.gpubound --graph-capture inference --json\n"
    "  gpubound whatif train.gpubound --gpu 'RTX 4090'\n"
    "  gpubound whatif train.gpubound --vectorise 8\n"
    "  gpubound whatif train.gpubound --copies 4\n"
    "  gpubound whatif train.gpubound --move-gpus rollout:train:1\n"};

}  // namespace

int ImagineChanges(const Arguments& words) {
  std::string run;
  std::vector<std::string> scalings;
  WhatIfQuestion question;
  WhatIf& changes = question.changes;
  ReportOptions options;
  std::string gpu;
  std::string move;
  uint64_t copies = 0;
  bool json = false;
  OptionParser parser(kWhatifHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  parser.AddOption("--scale", &scalings, "Multiply the time of a part")
      .Value("PART=NAME:FACTOR")
      .TakeOneEach();
  parser.AddOption("--graph-capture", &changes.graph_capture, "Capture an operation into a graph")
      .Value("OPERATION")
      .TakeOneEach();
  parser.AddOption("--fuse", &changes.fuse, "Make one kernel of those of an operation")
      .Value("OPERATION")
      .TakeOneEach();
  parser.AddOption("--gpu", &gpu, "Run kernels on another GPU").Value("NAME");
  parser.AddOption("--vectorise", &changes.environments, "Times as many environments a launch")
      .Value("K")
      .Check(NumberWithin(1, kMostEnvironments));
  parser.AddOption("--copies", &copies, "Up to as many runs like this one on its GPU")
      .Value("K")
      .Check(WholeNumber(1, kMostCopies));
  parser.AddOption("--move-gpus", &move, "Give GPUs of a role to another one").Value("FROM:TO:K");
  AddOperationsOption(&parser, &options.operations);
  parser.AddFlag("--json", &json, "JSON (gpubound.whatif.v1), the stable form");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (run.empty()) {
    parser.Complain("RUN is missing.");
    return kExitWrongUse;
  }
  question.copies = static_cast<uint32_t>(copies);
  if (const Status added = AddWords(scalings, gpu, move, &question); !added.ok()) {
    PrintError(added.error());
    return kExitWrongUse;
  }
  options.calibration_folder = CalibrationFolder();
  PrepareAnalysisOfMapped();
  const Result<WhatIfReport> imagined = [&] {
    const ProgressNote note("replaying " + run);
    return ImagineRun(run, options, question);
  }();
  if (!imagined.ok()) {
    PrintError(imagined.error());
    return imagined.error().doing == "changing" ? kExitWrongUse : kExitUnreadable;
  }
  const TextOptions terminal = TextOptionsFor(FactsOf(STDOUT_FILENO), EnvironmentVariable);
  return WriteStdout(json ? RenderWhatIfJson(*imagined)
                          : RenderWhatIfText(*imagined, terminal.width, terminal.unicode));
}

}  // namespace gpubound
