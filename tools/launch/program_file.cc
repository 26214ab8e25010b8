// SPDX-License-Identifier: Apache-2.0
//
// Reads the ELF head and the program headers of an executable.
#include "tools/launch/program_file.h"

#include <elf.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "analysis/base/text_table.h"
#include "analysis/diagnosis/nothing_recorded.h"
#include "libprofiler/env_vars.h"
#include "tools/launch/library_files.h"

namespace gpubound {
namespace {

#if defined(__x86_64__)
constexpr int kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr int kThisMachine = EM_AARCH64;
#else
#error "gpubound supports x86-64 and AArch64"
#endif

// Static-PIE executables have dynamic relocations of their own but name no loader.
bool NamesLoader(std::ifstream& file, const Elf64_Ehdr& head) {
  for (int i = 0; i < head.e_phnum; ++i) {
    Elf64_Phdr segment = {};
    file.seekg(static_cast<std::streamoff>(head.e_phoff) + i * head.e_phentsize);
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof(segment))) return true;  // cut short
    if (segment.p_type == PT_INTERP) return true;
  }
  return false;
}

// Empty: not by GPUBOUND_PYTHON, which `gpubound run` and `gpubound env` set to a folder of ours.
std::string WhyPythonIsLeftAlone(const GetVariable& variable) {
  const char* const folder = variable("GPUBOUND_PYTHON");
  if (folder == nullptr || *folder == '\0') return "";
  if (access(fmt::format("{}/sitecustomize.py", folder).c_str(), R_OK) == 0) return "";
  return fmt::format(
      "GPUBOUND_PYTHON is set to {}, under which no library of a Python program is hooked: unset "
      "it to record them.",
      EscapeName(folder));
}

}  // namespace

std::string FindProgram(const std::string& name, const GetVariable& variable) {
  if (name.find('/') != std::string::npos) return access(name.c_str(), F_OK) == 0 ? name : "";
  const char* path = variable("PATH");
  std::string_view folders = path == nullptr ? "/bin:/usr/bin" : path;
  for (bool more = true; more;) {
    const size_t colon = folders.find(':');
    more = colon != std::string_view::npos;
    const std::string_view folder = folders.substr(0, colon);
    if (more) folders.remove_prefix(colon + 1);
    const std::string file = fmt::format("{}/{}", folder.empty() ? "." : folder, name);
    struct stat status = {};
    if (stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
        access(file.c_str(), X_OK) == 0) {
      return file;
    }
  }
  return "";
}

ProgramFile InspectProgram(const std::string& path) {
  ProgramFile program;
  struct stat status = {};
  if (path.empty() || stat(path.c_str(), &status) != 0) return program;
  program.path = path;
  program.other_rights = (status.st_mode & (S_ISUID | S_ISGID)) != 0;
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr head = {};
  file.read(reinterpret_cast<char*>(&head), sizeof(head));
  const bool has_identity = file.gcount() >= EI_NIDENT;
  program.is_elf = has_identity && std::memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
  if (!program.is_elf) return program;
  program.other_machine = head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != kThisMachine;
  if (!program.other_machine && file) program.is_static = !NamesLoader(file, head);
  return program;
}

std::vector<std::string> WhyNothingRecorded(const ProgramFile& program, bool hooks_python,
                                            const GetVariable& variable) {
  const std::string path = EscapeName(program.path);
  std::vector<std::string> reasons;
  const char* const disable = variable("GPUBOUND_DISABLE");
  if (disable != nullptr && SaysDisabled(disable)) {
    reasons.push_back("GPUBOUND_DISABLE is set: unset it to record.");
  }
  if (program.other_rights) {
    reasons.push_back(path +
                      " runs with other rights (set-user-ID or set-group-ID), and the dynamic "
                      "loader preloads nothing into such a program: start the program that it "
                      "starts directly.");
  }
  if (program.other_machine) {
    reasons.push_back(path +
                      " is not a program for this machine's 64-bit CPU: the library does not fit "
                      "into it.");
  }
  if (program.is_static) {
    reasons.push_back(path +
                      " is statically linked, so nothing can be preloaded into it: link it "
                      "dynamically.");
  }
  if (!reasons.empty()) return reasons;
  const char* const nvtx = variable("NVTX_INJECTION64_PATH");
  if (nvtx != nullptr && *nvtx != '\0' && !std::string_view(nvtx).ends_with(kCoreFile)) {
    reasons.push_back("NVTX_INJECTION64_PATH is set to " + EscapeName(nvtx) +
                      ", which is respected: NVTX ranges go to that library and not to gpubound. "
                      "Unset it to record them.");
  }
  if (!hooks_python) {
    reasons.emplace_back(
        "This gpubound has no Python hooks, as its Python extension was not built: nothing is "
        "recorded of a Python program but its CUDA calls. Install Python's headers (Debian: "
        "python3-dev) and build gpubound again, or install it with pip.");
  } else if (const std::string reason = WhyPythonIsLeftAlone(variable); !reason.empty()) {
    reasons.push_back(reason);
  }
  reasons.insert(reasons.end(), kWhyNothingRecorded.begin(), kWhyNothingRecorded.end());
  return reasons;
}

}  // namespace gpubound
