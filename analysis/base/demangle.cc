// SPDX-License-Identifier: Apache-2.0
//
// The C++ runtime's demangler behind a value. No state.
#include "analysis/base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace gpubound {

std::string Demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

std::string_view HeadOfName(std::string_view name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)";
  size_t end = name.find_first_of("<(");
  while (end != std::string_view::npos && name.substr(end).starts_with(kAnonymous)) {
    end = name.find_first_of("<(", end + kAnonymous.size());
  }
  return name.substr(0, end);
}

}  // namespace gpubound
