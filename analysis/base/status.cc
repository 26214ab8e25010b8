// SPDX-License-Identifier: Apache-2.0
//
// Turns an Error into the sentence that the user sees. No state.
#include "analysis/base/status.h"

namespace gpubound {

std::string Error::ToString() const {
  std::string text = doing + " " + object + ": ";
  if (!found.empty()) text += "found " + found;
  if (!found.empty() && !expected.empty()) text += ", ";
  if (!expected.empty()) text += "expected " + expected;
  if (found.empty() && expected.empty()) text += "failed";
  text += ".";
  if (!remedy.empty()) text += "\n" + remedy;
  return text;
}

}  // namespace gpubound
