// SPDX-License-Identifier: Apache-2.0
#include "analysis/diagnosis/saving_words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "analysis/base/demangle.h"
#include "analysis/base/short_name.h"
#include "analysis/base/text_table.h"

namespace gpubound {

std::string SavingName(const std::string& part, const std::string& of, int width, bool unicode) {
  const std::string name = ShortName(ShownName(Demangled(of)), width, unicode);
  if (part == "gpu") return "all GPU work";
  if (part == "kernel") return "kernel " + name;
  if (part == "operation_gpu") return "GPU work of " + name;
  if (part == "operation_cpu") return "CPU code of " + name;
  if (part == "layer" && of == "python") return "all Python code";
  if (part == "layer" && of == "simulator") return "the simulator";
  if (part == "layer" && of == "cuda_api") return "all CUDA calls";
  return name;
}

std::string SavesText(const ReportSaving& saving) {
  constexpr int kPercent = 100;
  std::array<char, 48> text;
  std::snprintf(text.data(), text.size(), " (%.0f to %.0f)",
                std::floor(saving.saves_low * kPercent), std::ceil(saving.saves_high * kPercent));
  return FormatShare(std::max(0.0, saving.saves)) + text.data();
}

}  // namespace gpubound
