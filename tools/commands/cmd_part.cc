// SPDX-License-Identifier: Apache-2.0
//
// `gpubound part` and `gpubound merge`: a run of many machines, reduced where the files of each lie.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/base/text_table.h"
#include "analysis/parts/machine_part.h"
#include "analysis/parts/part_file.h"
#include "analysis/parts/part_report.h"
#include "analysis/reader/process_presence.h"
#include "tools/commands/commands.h"
#include "tools/commands/operations_option.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/prepare_analysis.h"
#include "tools/console/console.h"
#include "tools/console/exit_codes.h"
#include "tools/console/progress_note.h"

namespace gpubound {
namespace {

constexpr CommandHelp kPartHelp = {
    "gpubound part", "[OPTIONS] RUN -o FILE",
    "Reduces what machines recorded into RUN to a small file: what a report is made from, without\n"
    "the events. It runs where the files lie; 'gpubound report' takes the file, several that were\n"
    "merged, or a folder of them, as a run. The run stays as it is.",
    "-o DIR writes HOST.part into a folder. --machine this: of what this machine recorded, as "
    "where\n"
    "many share the folder of a run. A report of parts has no corrected values, no critical path "
    "and\n"
    "no timeline. docs/many_machines.md has commands for Slurm, torchrun, Ray and Kubernetes.\n"
    "Exit status: 0; 1 if FILE cannot be written; 2 for wrong use; 3 if the run cannot be read.\n",
    "  gpubound part /local/train.gpubound -o node7.part\n"
    "  gpubound part /shared/train.gpubound --machine this -o parts/\n"};

constexpr CommandHelp kMergeHelp = {
    "gpubound merge", "[OPTIONS] PART... -o FILE",
    "Puts parts of a run together that 'gpubound part' made, in any order and in as many steps as "
    "is\n"
    "convenient. Of a machine that is there twice the part counts that was made last.",
    "PART is a file, or a folder with files NAME.part.\n"
    "Exit status: 0; 1 if FILE cannot be written; 2 for wrong use; 3 if a part cannot be read.\n",
    "  gpubound merge parts/ -o train.part && gpubound report train.part\n"
    "  gpubound merge rack1.part rack2.part -o train.part\n"};

constexpr char kThisMachine[] = "this";

// Where the part of |host| goes that -o says.
std::string FileOf(const std::string& output, const std::string& host) {
  std::error_code ignored;
  const bool is_folder = output.ends_with('/') || std::filesystem::is_directory(output, ignored);
  if (!is_folder) return output;
  std::filesystem::create_directories(output, ignored);
  return (std::filesystem::path(output) / (host + kPartSuffix)).string();
}

int Store(const std::string& file, const std::vector<StoredPart>& parts) {
  const Status written = WriteParts(file, parts);
  if (written.ok()) return 0;
  PrintError(written.error());
  return kExitCheckFailed;
}

}  // namespace

int MakePartOfRun(const Arguments& words) {
  std::string run;
  std::string output;
  std::string machine;
  std::string merged;
  std::vector<std::string> operations;
  OptionParser parser(kPartHelp);
  parser.AddOption("RUN", &run, "Directory of a run").Value("");
  parser.AddOption("-o,--output", &output, "File to write, or a folder; - is stdout")
      .Check(NotEmpty())
      .Value("FILE");
  parser
      .AddOption("--machine", &machine,
                 "Of this host alone, as the names of its files begin, or 'this'")
      .Check(NotEmpty())
      .Value("HOST");
  parser
      .AddOption("--late", &merged,
                 "Merged parts of all machines: say of ranks that were late there what they did")
      .Check(NotEmpty())
      .Value("MERGED");
  AddOperationsOption(&parser, &operations);
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (run.empty() || output.empty()) {
    parser.Complain(run.empty() ? "RUN is missing." : "-o FILE is missing.");
    return kExitWrongUse;
  }
  PrepareAnalysis();
  if (machine == kThisMachine) machine = OwnHost();
  const Result<std::vector<MachinePart>> parts = [&]() -> Result<std::vector<MachinePart>> {
    const ProgressNote note("reducing " + run);
    Lateness lateness;
    if (!merged.empty()) {
      Result<std::vector<MachinePart>> all = LoadParts(merged);
      if (!all.ok()) return all.error();
      Result<Lateness> found = LatenessOf(std::move(*all));
      if (!found.ok()) return found.error();
      lateness = std::move(*found);
    }
    return MakeParts(run, machine, operations, lateness);
  }();
  if (!parts.ok()) {
    PrintError(parts.error());
    return kExitUnreadable;
  }
  const std::string host = machine.empty() ? OwnHost() : machine;
  return Store(FileOf(output, host), StoreParts(*parts));
}

int MergePartsOfRun(const Arguments& words) {
  std::vector<std::string> inputs;
  std::string output;
  OptionParser parser(kMergeHelp);
  parser.AddOption("PART", &inputs, "Files or folders of parts").Value("");
  parser.AddOption("-o,--output", &output, "File to write; - is stdout")
      .Check(NotEmpty())
      .Value("FILE");
  if (const auto over = parser.Parse(words, kExitWrongUse)) return *over;
  if (inputs.empty() || output.empty()) {
    parser.Complain(inputs.empty() ? "PART is missing." : "-o FILE is missing.");
    return kExitWrongUse;
  }
  std::vector<StoredPart> all;
  for (const std::string& input : inputs) {
    Result<std::vector<StoredPart>> parts = ReadParts(input);
    if (!parts.ok()) {
      PrintError(parts.error());
      return kExitUnreadable;
    }
    for (StoredPart& part : *parts) all.push_back(std::move(part));
  }
  return Store(output, MergeParts(std::move(all)));
}

}  // namespace gpubound
