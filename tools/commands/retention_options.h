// SPDX-License-Identifier: Apache-2.0
//
// The options that say which detail of a long run is kept, for the commands that keep it.
#ifndef GPUBOUND_TOOLS_COMMANDS_RETENTION_OPTIONS_H_
#define GPUBOUND_TOOLS_COMMANDS_RETENTION_OPTIONS_H_

#include <string>

#include "analysis/compact/retention.h"
#include "tools/commands/option_parser.h"

namespace gpubound {

// As they are written.
struct RetentionOptions {
  std::string window = "10m";
  std::string detail = "slow:3x";
  std::string max_size = "1GB";
};

// |options| outlive parsing, which accepts only what RetentionOf() understands.
void AddRetentionOptions(OptionParser* parser, RetentionOptions* options);

// True once one of them was given.
bool GaveRetentionOption(const OptionParser& parser);

// Of options that were parsed.
Retention RetentionOf(const RetentionOptions& options);

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_RETENTION_OPTIONS_H_
