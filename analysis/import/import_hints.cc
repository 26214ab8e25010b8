// SPDX-License-Identifier: Apache-2.0
//
// What tools leave in their files. No state beyond the objects.
#include "analysis/import/import_hints.h"

#include <algorithm>
#include <iterator>

namespace gpubound {
namespace {

constexpr ToolHint kXProf{
    "a trace of JAX's or TensorFlow's profiler, whose events have no category",
    "Record the program with `gpubound run -- CMD`, or with `nsys profile --trace cuda,nvtx` and "
    "import its `nsys export --type sqlite`."};
constexpr ToolHint kVizTracer{
    "a trace of VizTracer, which has calls of Python functions and no GPU work",
    "Record the program with `gpubound run -- CMD`, or with torch.profiler and import its "
    "export_chrome_trace."};
constexpr ToolHint kRocprof{
    "results of rocprof",
    "Profile with torch.profiler on ROCm and import its export_chrome_trace, or record the program "
    "with `gpubound run -- CMD`."};
constexpr ToolHint kExecutionTrace{
    "an execution trace (Chakra), which has operators and no times",
    "Import the profile of the same run instead: torch.profiler's export_chrome_trace."};
constexpr ToolHint kPerfetto{
    "a trace of Perfetto",
    "Import the trace that it was made from: torch.profiler's export_chrome_trace, or "
    "`nsys export --type sqlite`."};
constexpr ToolHint kXPlane{
    "an XPlane file of JAX's or TensorFlow's profiler",
    "Record the program with `gpubound run -- CMD`, or with `nsys profile --trace cuda,nvtx` and "
    "import its `nsys export --type sqlite`."};
constexpr ToolHint kNsysReport{
    "a report of Nsight Systems in its own format",
    "Export it: nsys export --type sqlite FILE, and import what that writes."};
constexpr ToolHint kNsightCompute{
    "a report of Nsight Compute, which has single kernels and no timeline",
    "Profile the run with `nsys profile --trace cuda,nvtx`, and import its "
    "`nsys export --type sqlite`."};
constexpr ToolHint kNvprof{
    "a database of nvprof",
    "Profile with `nsys profile --trace cuda,nvtx` instead, and import its "
    "`nsys export --type sqlite`; or record the program with `gpubound run -- CMD`."};
constexpr ToolHint kRocpd{
    "a rocpd database of rocprof",
    "Profile with torch.profiler on ROCm and import its export_chrome_trace, or record the program "
    "with `gpubound run -- CMD`."};
constexpr ToolHint kTar{"a tar archive",
                        "Unpack it: tar -xOf FILE NAME.json | gpubound import - -o RUN; `tar -tf "
                        "FILE` lists what is in it."};
constexpr ToolHint kUtf16{"text in UTF-16",
                          "Convert it: iconv -f UTF-16 -t UTF-8 FILE | gpubound import - -o RUN."};

constexpr size_t kTarMagicAt = 257;
constexpr std::string_view kTarMagic = "ustar";

}  // namespace

void ToolHints::SeeMember(std::string_view key) {
  if (key == "viztracer_metadata") See(kVizTracer);
  if (key.starts_with("rocprofiler")) See(kRocprof);
  if (key == "nodes" || key == "schema") See(kExecutionTrace);
}

void ToolHints::SeeProcess(std::string_view name) {
  if (name.starts_with("/device:") || name.starts_with("/host:")) See(kXProf);
  const bool rocprof =
      name.ends_with("CPU HIP API") || name.ends_with("CPU HSA API") || name.ends_with("Markers");
  if (rocprof) See(kRocprof);
}

void ToolHints::SeeCategory(std::string_view category) {
  if (category == "FEE") See(kVizTracer);
}

const ToolHint* HintOfTable(std::string_view table) {
  if (table.starts_with("rocpd_")) return &kRocpd;
  // Nsight Systems has StringIds, and no table of this name.
  if (table == "CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL" || table == "StringTable") return &kNvprof;
  return nullptr;
}

const ToolHint* HintOfFile(std::string_view path, std::string_view head) {
  if (head.substr(std::min(head.size(), kTarMagicAt)).starts_with(kTarMagic)) return &kTar;
  if (head.starts_with("\xff\xfe") || head.starts_with("\xfe\xff")) return &kUtf16;
  struct Suffix {
    std::string_view suffix;
    const ToolHint* hint;
  };
  static constexpr Suffix kSuffixes[] = {
      {".nsys-rep", &kNsysReport},        {".qdrep", &kNsysReport},
      {".ncu-rep", &kNsightCompute},      {".xplane.pb", &kXPlane},
      {".perfetto-trace", &kPerfetto},    {".pftrace", &kPerfetto},
      {".perfetto-trace.gz", &kPerfetto}, {".pftrace.gz", &kPerfetto},
  };
  const auto* found =
      std::find_if(std::begin(kSuffixes), std::end(kSuffixes),
                   [path](const Suffix& known) { return path.ends_with(known.suffix); });
  return found == std::end(kSuffixes) ? nullptr : found->hint;
}

}  // namespace gpubound
