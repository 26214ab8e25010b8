// SPDX-License-Identifier: Apache-2.0
//
// Any bytes in the place of one file of a run, or of a trace to be imported, up to the report:
// whatever comes of it, the program lives, memory is touched within bounds, and no report breaks
// its own invariants. $GPUBOUND_FUZZ_READER names the reader (kReaders), $GPUBOUND_FUZZ_SEEDS the
// folder that reader_seeds.cmake made. libFuzzer calls it; reader_replay.cc with the seeds alone.
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "analysis/calibration/calibration_file.h"
#include "analysis/correction/run_report.h"
#include "analysis/import/import.h"

namespace gpubound {
namespace {

namespace fs = std::filesystem;

struct Reader {
  const char* name;
  const char* run;     // the folder of seeds in which the file is replaced; null: an import
  const char* ending;  // of the file's name
};
constexpr Reader kReaders[] = {
    {"run_json", "closed", "run.json"},
    {"segment", "closed", ".db"},
    {"calibration", "closed", "calibration.json"},
    {"live", "killed", ".live"},
    {"killed_segment", "killed", ".db"},
    {"sums", "compacted", "sums.gpubound"},
    {"later", "part", ".later"},
    {"nsys", nullptr, ".sqlite"},
    {"chrome", nullptr, ".json"},
};

[[noreturn]] void Stop(const std::string& why) {
  std::fprintf(stderr, "reader_fuzz: %s\n", why.c_str());
  std::abort();
}

void Require(bool holds, const char* what) {
  if (!holds) Stop(what);
}

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr) Stop(std::string(name) + " is not set");
  return value;
}

const Reader& Chosen() {
  const std::string_view name = Variable("GPUBOUND_FUZZ_READER");
  for (const Reader& reader : kReaders) {
    if (name == reader.name) return reader;
  }
  Stop("no reader '" + std::string(name) + "'");
}

// In memory, where there is such a disk: each input is a file.
class Scratch {
 public:
  Scratch() {
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    std::string pattern = in_memory ? "/dev/shm/reader_fuzz.XXXXXX" : "/tmp/reader_fuzz.XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

void Write(const fs::path& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
}

// Every report that can be made: without and with replays, which read other parts.
void Report(const fs::path& run) {
  for (const bool replays : {false, true}) {
    ReportOptions options;
    options.replays = replays;
    options.savings = false;
    const Result<gpubound::Report> report = ReportOfRun(run, options);
    if (!report.ok()) {
      Require(!report.error().found.empty(), "an error says nothing");
      return;
    }
    for (const ReportProcess& process : report->processes) {
      int64_t cells_ns = 0;
      for (const auto& cell : process.cells) cells_ns += cell.ns;
      Require(cells_ns == process.span_ns, "cells do not add up to the span");
    }
  }
}

class FuzzedReader {
 public:
  FuzzedReader() : reader_(Chosen()) {
    if (reader_.run == nullptr) return;
    const fs::path seeds = Variable("GPUBOUND_FUZZ_SEEDS");
    fs::copy(seeds / "runs" / reader_.run, Run(), fs::copy_options::recursive);
    for (const auto& entry : fs::directory_iterator(Run())) {
      if (entry.path().string().ends_with(reader_.ending)) file_ = entry.path();
    }
    if (file_.empty())
      Stop(std::string("no file in ") + reader_.run + " ends with " + reader_.ending);
  }

  void Read(std::string_view input) {
    if (reader_.run != nullptr) {
      Write(file_, input);
      Report(Run());
      if (std::string_view(reader_.name) == "calibration") (void)ReadCalibration(file_);
      return;
    }
    const fs::path trace = scratch_.path() / (std::string("trace") + reader_.ending);
    Write(trace, input);
    fs::remove_all(Run());
    fs::create_directory(Run());
    if (ImportTrace(trace, Run()).ok()) Report(Run());
  }

 private:
  fs::path Run() const { return scratch_.path() / "x.gpubound"; }

  const Reader& reader_;
  const Scratch scratch_;
  fs::path file_;
};

}  // namespace
}  // namespace gpubound

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static gpubound::FuzzedReader target;
  target.Read({reinterpret_cast<const char*>(data), size});
  return 0;
}
