// SPDX-License-Identifier: Apache-2.0
//
// Expands the table of variables in libprofiler/env_vars.h.
#include "tools/commands/environment_listing.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analysis/base/text_table.h"
#include "libprofiler/env_vars.h"
#include "tools/commands/shell_quote.h"

namespace gpubound {
namespace {

using Json = nlohmann::ordered_json;

// Read by the `gpubound` command itself, so it is not in the table of the injected library.
constexpr EnvVar kOwnVariable = {kLibraryDirVariable, "",
                                 "Folder with libgpubound.so and libgpubound_core.so; unset: found "
                                 "beside the gpubound command."};

std::vector<EnvVar> AllVariables() {
  std::vector<EnvVar> variables(std::begin(kEnvVars), std::end(kEnvVars));
  variables.push_back(kOwnVariable);
  return variables;
}

std::string Described(const EnvVar& listed, const GetVariable& variable) {
  const char* value = variable(listed.name);
  std::string state = *listed.default_value == '\0'
                          ? "unset by default"
                          : fmt::format("default {}", listed.default_value);
  if (value != nullptr) state += fmt::format(", now {}", EscapeName(ShellQuote(value)));
  return fmt::format("#   {} ({})\n#     {}\n", listed.name, state, listed.help);
}

}  // namespace

std::string RenderExports(const std::vector<Assignment>& assignments, const GetVariable& variable) {
  std::string text =
      "# Set these where the program is started by something else than `gpubound run`:\n"
      "#   eval \"$(gpubound env)\"             # this shell and what it starts from here on\n"
      "#   srun, sbatch (Slurm)               # hands on the environment: --export=ALL, the "
      "default\n"
      "#   torchrun                           # hands on the environment to its workers\n"
      "#   ray.init(runtime_env={\"env_vars\": json.loads(subprocess.check_output(\n"
      "#       [\"gpubound\", \"env\", \"--json\"]))[\"set\"]})\n"
      "# GPUBOUND_RUN is one directory for the whole run: with several hosts, one that all of "
      "them\n"
      "# can write.\n";
  for (const Assignment& assignment : assignments) {
    text += fmt::format("export {}={}\n", assignment.name, ShellQuote(assignment.value));
  }
  text += "#\n# Settings, all optional:\n";
  for (const EnvVar& listed : AllVariables()) text += Described(listed, variable);
  return text;
}

std::string RenderEnvironmentJson(const std::vector<Assignment>& assignments,
                                  const GetVariable& variable) {
  Json set = Json::object();
  for (const Assignment& assignment : assignments) set[assignment.name] = assignment.value;
  Json variables = Json::array();
  for (const EnvVar& listed : AllVariables()) {
    const char* value = variable(listed.name);
    variables.push_back({{"name", listed.name},
                         {"default", listed.default_value},
                         {"value", value == nullptr ? Json(nullptr) : Json(value)},
                         {"help", listed.help}});
  }
  const Json json = {
      {"format", "gpubound.env.v1"}, {"set", std::move(set)}, {"variables", std::move(variables)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpubound
