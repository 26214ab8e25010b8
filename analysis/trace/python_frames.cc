// SPDX-License-Identifier: Apache-2.0
//
// Knows where packages lie. No state.
#include "analysis/trace/python_frames.h"

#include <algorithm>
#include <iterator>

namespace gpubound {
namespace {

constexpr std::string_view kPython = "python";
constexpr std::string_view kFrozen = "<frozen ";

// What only hands on: whoever ends in that file and has that name; without a name all of the file.
struct HandsOn {
  std::string_view file;
  std::string_view function;
};
constexpr HandsOn kHandOn[] = {
    {"<frozen importlib._bootstrap>", ""},
    {"<frozen importlib._bootstrap_external>", ""},
    {"<frozen runpy>", ""},
    {"/runpy.py", ""},
    {"/importlib/__init__.py", ""},
    {"/torch/nn/modules/module.py", "_wrapped_call_impl"},
    {"/torch/nn/modules/module.py", "_call_impl"},
    {"/torch/utils/_contextlib.py", "decorate_context"},
    {"/torch/autograd/grad_mode.py", "decorate_context"},
    {"/contextlib.py", "inner"},
};

std::string_view LastName(std::string_view qualified) {
  const size_t dot = qualified.rfind('.');
  return dot == std::string_view::npos ? qualified : qualified.substr(dot + 1);
}

constexpr std::string_view kPackageFolders[] = {"/site-packages/", "/dist-packages/"};

// The path below the folder in which packages lie; empty where it lies in none.
std::string_view BelowPackageFolder(std::string_view file) {
  for (const std::string_view folder : kPackageFolders) {
    const size_t at = file.rfind(folder);
    if (at != std::string_view::npos) return file.substr(at + folder.size());
  }
  return {};
}

// The same of the standard library's.
std::string_view BelowStandardLibrary(std::string_view file) {
  constexpr std::string_view kFolder = "/lib/python3";
  const size_t at = file.rfind(kFolder);
  if (at == std::string_view::npos) return {};
  const size_t slash = file.find('/', at + kFolder.size());
  return slash == std::string_view::npos ? std::string_view() : file.substr(slash + 1);
}

// A module of our own hooks and annotations.
bool IsOurs(std::string_view file) {
  const size_t slash = file.rfind('/');
  return slash != std::string_view::npos && file.substr(slash).starts_with("/_") &&
         file.substr(0, slash).ends_with("/gpubound");
}

}  // namespace

std::string PackageOf(std::string_view file) {
  const std::string_view path = BelowPackageFolder(file);
  if (!path.empty()) {
    const std::string_view first = path.substr(0, path.find('/'));
    return std::string(first.ends_with(".py") ? first.substr(0, first.size() - 3) : first);
  }
  if (file.starts_with(kFrozen) || !BelowStandardLibrary(file).empty()) {
    return std::string(kPython);
  }
  return {};
}

std::string DottedModuleOf(std::string_view file) {
  constexpr std::string_view kEnding = ".py", kInit = "/__init__";
  std::string_view path = BelowPackageFolder(file);
  if (path.empty()) path = BelowStandardLibrary(file);
  if (path.empty()) path = file.substr(file.rfind('/') + 1);
  if (path.ends_with(kEnding)) path.remove_suffix(kEnding.size());
  if (path.ends_with(kInit)) path.remove_suffix(kInit.size());
  std::string name(path);
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

bool MayHaveCaller(int64_t id, int64_t caller, const ProcessFacts& process) {
  if (caller == 0) return true;
  return caller > 0 && caller < id && process.HasFrame(static_cast<FrameId>(caller));
}

bool OnlyHandsOn(const Function& function) {
  if (IsOurs(function.file)) return true;
  return std::any_of(std::begin(kHandOn), std::end(kHandOn), [&function](const HandsOn& known) {
    return std::string_view(function.file).ends_with(known.file) &&
           (known.function.empty() || LastName(function.name) == known.function);
  });
}

FrameId OwnFrame(FrameId innermost, const ProcessFacts& process) {
  for (FrameId at = innermost; at != FrameId{}; at = process.FrameOf(at).caller) {
    const Function& function = process.FunctionOf(process.FrameOf(at).function);
    if (PackageOf(function.file).empty() && !OnlyHandsOn(function)) return at;
  }
  return {};
}

// A binary search by number, since a file may say any number of looks. (clang 14 and 15 cannot
// compile the ranges of this library.)
uint32_t LooksBefore(const StackLooks& seen, int64_t time_ns) {
  __extension__ using Wide = __int128;
  const auto is_before = [&](uint32_t look) {
    if (seen.looks < 2) return seen.start_ns < time_ns;
    const Wide length_ns = Wide{seen.end_ns} - seen.start_ns;
    return seen.start_ns + static_cast<int64_t>(length_ns * look / (seen.looks - 1)) < time_ns;
  };
  uint32_t first = 0;
  for (uint32_t end = seen.looks; first < end;) {
    const uint32_t middle = first + (end - first) / 2;
    if (is_before(middle)) {
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first;
}

}  // namespace gpubound
