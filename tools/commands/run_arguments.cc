// SPDX-License-Identifier: Apache-2.0
//
// Splits at the first `--` before CLI11 sees anything: it would look for our options behind it too.
#include "tools/commands/run_arguments.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "analysis/base/whole_number.h"
#include "libprofiler/env_vars.h"
#include "proto/step_range.h"
#include "tools/commands/option_parser.h"
#include "tools/commands/option_values.h"
#include "tools/commands/retention_options.h"
#include "tools/console/exit_codes.h"

namespace gpubound {
namespace {

constexpr CommandHelp kRunHelp = {
    "gpubound run", "[OPTIONS] [--] CMD...",
    "Starts CMD with the profiler in it and in every process that it starts, waits for it, and "
    "says\n"
    "on stderr where the time went. CMD and its output are left as they are.",
    "The exit status is that of CMD, 128+n if signal n ended it; 125 if gpubound itself failed, "
    "126\n"
    "if CMD could not be executed, 127 if it was not found. SIGINT and SIGQUIT are left to CMD;\n"
    "SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 are handed on to it.\n"
    "Further settings are environment variables: see `gpubound env`.\n",
    "  gpubound run -- python train.py --env CartPole-v1\n"
    "  gpubound run -o before.gpubound -- ./cartpole_ppo\n"
    "  gpubound run --steps 100:200 -- python train.py\n"
    "  gpubound run --long --window 1h -- python train.py\n"};

ValueRule Seconds() {
  const auto complaint = [](const std::string& text) {
    const auto parsed = ParseSeconds(text);
    const Complaint* const found = std::get_if<Complaint>(&parsed);
    return found == nullptr ? Complaint() : *found;
  };
  return {complaint, {}};
}

ValueRule StepsRule() {
  const auto complaint = [](const std::string& text) {
    if (ParseStepRange(text)) return Complaint();
    return Complaint("expected A:B, two whole numbers of which A is the smaller");
  };
  return {complaint, {}};
}

ValueRule StacksPerSecond() {
  const auto complaint = [](const std::string& text) {
    const std::optional<int64_t> number = ParseInt(text);
    const bool is_rate =
        number && *number >= kLeastStacksPerSecond && *number <= kMostStacksPerSecond;
    if (number == 0 || is_rate) return Complaint();
    return Complaint(fmt::format("expected 0, or a number from {} to {}", kLeastStacksPerSecond,
                                 kMostStacksPerSecond));
  };
  return {complaint, {}};
}

}  // namespace

std::optional<int> ParseRunArguments(const Arguments& words, RunArguments* arguments) {
  OptionParser parser(kRunHelp);
  parser.LetCommandFollow();
  parser
      .AddOption("-o,--output", &arguments->output,
                 "Run directory (default: $GPUBOUND_RUN, or a new one here)")
      .Check(NewFolder())
      .Value("DIR");
  parser
      .AddOption(
          "--graphs", &arguments->graphs,
          "CUDA graphs: each kernel (node, the default: exact, a record for each node of each "
          "launch), each launch as a whole (graph: one record; GPU busy is then an upper bound, "
          "since gaps between its nodes count as busy), or that with the nodes' names and where "
          "they were captured (auto: also two callbacks for each launch of a kernel)")
      .Check(OneOf({"node", "graph", "auto"}))
      .Value("LEVEL");
  parser
      .AddOption("--counters", &arguments->counters,
                 "Sample hardware counters per operation: multiprocessors and warps active, memory "
                 "throughput; CUDA 12.6, and mostly administrator rights")
      .Check(OneOf({"occupancy"}))
      .Value("SET");
  parser
      .AddOption("--stacks", &arguments->stacks,
                 "Look at the stack of each Python thread so many times a second, from 10 to 1000 "
                 "(default: 100); 0: never")
      .Check(StacksPerSecond())
      .Value("N");
  std::string duration;
  parser
      .AddOption("--duration", &duration,
                 "End the recording so many seconds after CMD has started (or 500ms, 10m, 2h, 1d); "
                 "CMD goes on without it")
      .Check(Seconds())
      .Value("S");
  parser
      .AddOption("--steps", &arguments->steps,
                 "Record iterations number A to B-1 only, as step() counts them, from 0 on; 100: "
                 "and :10 leave one side open. CMD goes on unrecorded after them")
      .Check(StepsRule())
      .Value("A:B");
  bool is_long = false;
  RetentionOptions retention;
  parser.AddFlag("--long", &is_long,
                 "Keep a long run small: exact sums of all of it, events as the options "
                 "below say. One of them does the same");
  AddRetentionOptions(&parser, &retention);
  parser.AddFlag("-q,--quiet", &arguments->quiet, "No summary at the end, no measuring");
  parser.AddFlag("--no-calibrate", &arguments->no_calibrate,
                 "Do not measure afterwards what the profiler costs on this machine, where "
                 "that is not known yet");

  const auto split = std::find(words.begin(), words.end(), "--");
  if (const auto over = parser.Parse({words.begin(), split}, kExitLauncherFailed)) return over;
  if (is_long || GaveRetentionOption(parser)) arguments->retention = RetentionOf(retention);
  if (arguments->retention && !arguments->steps.empty()) {
    parser.Complain("--steps records a part of the run, --long and its options sum all of it.");
    return kExitLauncherFailed;
  }
  if (!duration.empty()) arguments->duration_ns = std::get<int64_t>(ParseSeconds(duration));
  arguments->command = parser.Remaining();
  // In `run CMD -- X` the mark is an argument of CMD.
  const auto rest = split != words.end() && arguments->command.empty() ? split + 1 : split;
  arguments->command.insert(arguments->command.end(), rest, words.end());
  if (!arguments->command.empty()) return std::nullopt;
  parser.Complain("no command to run was given.");
  return kExitLauncherFailed;
}

}  // namespace gpubound
