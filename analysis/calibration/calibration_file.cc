// SPDX-License-Identifier: Apache-2.0
//
// JSON of calibrations, and the folder that keeps them. No state.
#include "analysis/calibration/calibration_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "analysis/base/folder_entries.h"
#include "analysis/base/plain_file.h"
#include "analysis/base/write_all.h"

namespace gpubound {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr char kFormatFamily[] = "gpubound.calibration.v";
constexpr char kFormat[] = "gpubound.calibration.v1";
constexpr char kFileStem[] = "calibration-";
constexpr char kMeasureAgain[] = "Measure again: gpubound calibrate";

Error Unreadable(const std::string& path, const std::string& found, const std::string& expected,
                 const std::string& remedy) {
  return {"reading the calibration", path, found, expected, remedy};
}

// The members of the machine's key, by their names in the file.
constexpr std::pair<const char*, std::string MachineKey::*> kMachineFields[] = {
    {"cpu_model", &MachineKey::cpu_model}, {"device_kind", &MachineKey::device_kind},
    {"driver", &MachineKey::driver},       {"cupti", &MachineKey::cupti},
    {"python", &MachineKey::python},       {"gpubound", &MachineKey::gpubound}};

std::optional<CostKind> KindNamed(const std::string& name) {
  for (size_t i = 0; i < kCostKindCount; ++i) {
    if (CostKindName(static_cast<CostKind>(i)) == name) return static_cast<CostKind>(i);
  }
  return std::nullopt;
}

constexpr double kMostOfAnEventNs = 1e9;
// Start and end of a process, on a busy machine whose libraries lie on another one.
constexpr double kMostOfALifeNs = 60e9;

// A cost may come out below zero where there is next to none, but by no more than a millisecond.
bool MakesSense(const Cost& cost, double most_ns) {
  const auto is_time = [most_ns](double ns) {
    return std::isfinite(ns) && ns > -1e6 && ns < most_ns;
  };
  return is_time(cost.inside_ns) && is_time(cost.outside_ns) && std::isfinite(cost.variance_ns2) &&
         cost.variance_ns2 >= 0 && std::isfinite(cost.standard_error_ns) &&
         cost.standard_error_ns >= 0;
}

Cost FiguresFrom(const Json& json, double most_ns, std::string* problem) {
  const Cost cost = {.inside_ns = json.at("inside_ns").get<double>(),
                     .outside_ns = json.at("outside_ns").get<double>(),
                     .variance_ns2 = json.at("variance_ns2").get<double>(),
                     .standard_error_ns = json.at("standard_error_ns").get<double>(),
                     .samples = json.at("samples").get<uint64_t>()};
  if (!MakesSense(cost, most_ns)) *problem = "a cost that cannot be: " + json.dump();
  return cost;
}

void PutFigures(const Cost& cost, Json* json) {
  (*json)["inside_ns"] = cost.inside_ns;
  (*json)["outside_ns"] = cost.outside_ns;
  (*json)["variance_ns2"] = cost.variance_ns2;
  (*json)["standard_error_ns"] = cost.standard_error_ns;
  (*json)["samples"] = cost.samples;
}

// Throws what nlohmann-json throws where a member is missing or of another type.
MeasuredCost CostFrom(const Json& json, std::string* problem) {
  MeasuredCost measured;
  const auto name = json.at("kind").get<std::string>();
  const std::optional<CostKind> kind = KindNamed(name);
  if (kind) {
    measured.kind = *kind;
  } else {
    *problem = "costs of a kind '" + name + "'";
  }
  measured.api = json.at("api").get<std::string>();
  measured.condition = json.at("condition").get<std::string>();
  measured.cost = FiguresFrom(json, kMostOfAnEventNs, problem);
  const auto entry = json.find("entry_ns");  // older files lack it
  if (entry != json.end() && entry->is_number()) measured.cost.entry_ns = entry->get<double>();
  if (!(measured.cost.entry_ns >= 0 && measured.cost.entry_ns < kMostOfAnEventNs)) {
    *problem = "an entry that cannot be: " + json.dump();
  }
  return measured;
}

Calibration CalibrationFrom(const Json& json, std::string* problem) {
  Calibration calibration;
  const Json& machine = json.at("machine");
  for (const auto& [name, member] : kMachineFields) {
    calibration.machine.*member = machine.at(name).get<std::string>();
  }
  calibration.measured_realtime_ns = json.at("measured_realtime_ns").get<int64_t>();
  calibration.duration_ns = json.at("duration_ns").get<int64_t>();
  calibration.seed = json.at("seed").get<uint64_t>();
  for (const Json& cost : json.at("costs")) calibration.costs.push_back(CostFrom(cost, problem));
  for (const Json& process : json.at("processes")) {
    calibration.processes.push_back({process.at("condition").get<std::string>(),
                                     FiguresFrom(process, kMostOfALifeNs, problem)});
  }
  for (const Json& missing : json.at("missing")) {
    calibration.missing.push_back(
        {missing.at("what").get<std::string>(), missing.at("why").get<std::string>()});
  }
  return calibration;
}

bool WriteWhole(const std::string& path, std::string_view text) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const int error = WriteAll(file, text);
  const bool closed = close(file) == 0;
  if (error != 0) errno = error;
  return error == 0 && closed;
}

Error CannotWrite(const std::string& path, int error) {
  return {"writing the calibration", path, std::generic_category().message(error),
          "a file of a few kilobytes", "Free some space, or set XDG_CACHE_HOME to another folder."};
}

}  // namespace

std::string RenderCalibration(const Calibration& calibration) {
  Json json = {{"format", kFormat}};
  for (const auto& [name, member] : kMachineFields) {
    json["machine"][name] = calibration.machine.*member;
  }
  json["measured_realtime_ns"] = calibration.measured_realtime_ns;
  json["duration_ns"] = calibration.duration_ns;
  json["seed"] = calibration.seed;
  json["costs"] = Json::array();
  for (const MeasuredCost& measured : calibration.costs) {
    Json row = {{"kind", CostKindName(measured.kind)},
                {"api", measured.api},
                {"condition", measured.condition}};
    PutFigures(measured.cost, &row);
    const double entry_ns = measured.cost.entry_ns;
    row["entry_ns"] = entry_ns > 0 ? Json(entry_ns) : Json(nullptr);
    json["costs"].push_back(std::move(row));
  }
  json["processes"] = Json::array();
  for (const ProcessCost& process : calibration.processes) {
    Json row = {{"condition", process.condition}};
    PutFigures(process.cost, &row);
    json["processes"].push_back(std::move(row));
  }
  json["missing"] = Json::array();
  for (const NotMeasured& missing : calibration.missing) {
    json["missing"].push_back({{"what", missing.what}, {"why", missing.why}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<Calibration> ParseCalibration(std::string_view text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto format = json.is_object() ? json.find("format") : json.end();
  if (!json.is_object() || format == json.end() || !format->is_string()) {
    return Unreadable(path, "no JSON object with a format", kFormat, kMeasureAgain);
  }
  const auto name = format->get<std::string>();
  if (name != kFormat) {
    const bool ours = name.starts_with(kFormatFamily);
    return Unreadable(
        path, "format '" + name + "'", std::string("format '") + kFormat + "'",
        ours ? "Read it with the gpubound that wrote it, or upgrade this one." : kMeasureAgain);
  }
  std::string problem;
  try {
    Calibration calibration = CalibrationFrom(json, &problem);
    if (problem.empty()) return calibration;
  } catch (const Json::exception& failure) {
    problem = failure.what();
  }
  return Unreadable(path, problem, "the fields of " + std::string(kFormat), kMeasureAgain);
}

Result<Calibration> ReadCalibration(const std::string& path) {
  if (IsNoPlainFile(path)) return Unreadable(path, kNoPlainFile, "a file", kMeasureAgain);
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return Unreadable(path, std::generic_category().message(errno), "a readable file",
                      kMeasureAgain);
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return ParseCalibration(text, path);
}

Status WriteCalibration(const std::string& path, const Calibration& calibration) {
  const std::string temporary = path + "." + std::to_string(getpid()) + ".tmp";
  if (WriteWhole(temporary, RenderCalibration(calibration)) &&
      rename(temporary.c_str(), path.c_str()) == 0) {
    return Ok{};
  }
  const int error = errno;
  unlink(temporary.c_str());
  return CannotWrite(path, error);
}

std::string CalibrationFolder() {
  const auto value = [](const char* name) -> std::string {
    const char* text = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nothing here sets any
    return text == nullptr ? "" : text;
  };
  if (const std::string cache = value("XDG_CACHE_HOME"); !cache.empty()) return cache + "/gpubound";
  const std::string home = value("HOME");
  return home.empty() ? "" : home + "/.cache/gpubound";
}

// Readable, and different where the keys differ: what the words lose is in the number.
std::string CalibrationPath(const std::string& folder, const MachineKey& machine) {
  std::string name = kFileStem;
  uint64_t hash = 14695981039346656037u;  // FNV-1a, which is the same everywhere and for ever
  for (const auto& [field, member] : kMachineFields) {
    const std::string& value = machine.*member;
    for (const char c : value + '\n') hash = (hash ^ static_cast<uint8_t>(c)) * 1099511628211u;
    const bool is_word = !value.empty() && std::all_of(value.begin(), value.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.';
    });
    if (is_word) name += value + "-";
  }
  char digits[17] = {};
  for (int i = 15; i >= 0; --i, hash >>= 4) digits[i] = "0123456789abcdef"[hash & 0xf];
  return folder + "/" + name + digits + ".json";
}

Status StoreCalibration(const std::string& folder, const Calibration& calibration) {
  std::error_code error;
  const fs::path parent = fs::path(folder).parent_path();
  fs::create_directories(parent, error);
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) return CannotWrite(folder, errno);
  return WriteCalibration(CalibrationPath(folder, calibration.machine), calibration);
}

Result<Calibration> FindCalibration(const std::string& folder, const MachineKey& key) {
  std::optional<Calibration> best;
  std::string why = "not measured yet on this machine";
  std::optional<size_t> agreeing;  // of the one that |why| is about
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : EntriesOf(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kFileStem) && name.ends_with(".json")) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());  // so that the reason given is always the same
  for (const fs::path& path : files) {
    Result<Calibration> found = ReadCalibration(path.string());
    if (!found.ok()) {
      if (!agreeing) why = found.error().object + ": " + found.error().found;
      continue;
    }
    if (const auto difference = DifferenceOf(found->machine, key)) {
      if (agreeing && *agreeing >= difference->agreeing) continue;  // this one is no closer
      agreeing = difference->agreeing;
      why = "not measured yet " + difference->recorded + ", only " + difference->measured;
    } else if (!best || found->measured_realtime_ns > best->measured_realtime_ns) {
      best = std::move(found).value();
    }
  }
  if (best) return *std::move(best);
  return Error{"looking for a calibration", folder.empty() ? "(no cache folder)" : folder, why,
               "one measured with what the run was recorded with",
               key.python.empty()
                   ? "gpubound calibrate measures it in under a minute"
                   : "gpubound calibrate --python PATH measures it in under a minute"};
}

namespace {

// The one at |path| that lies beside the traces of |run|, where it is of one of its processes: a
// file may have been copied from another run, and traces from another machine.
Result<Calibration> OwnCalibration(const Run& run, const std::string& path) {
  Result<Calibration> own = ReadCalibration(path);
  if (!own.ok()) return own;
  std::string why;
  for (const ProcessTrace& process : run.processes) {
    const std::string reason = WhyNotServing(own->machine, KeyOf(process));
    if (reason.empty()) return own;
    if (why.empty()) why = reason;
  }
  if (why.empty()) return own;
  return Unreadable(path, "costs " + why, "one measured with what the run was recorded with",
                    "Remove it: that of this machine is then looked for (gpubound calibrate).");
}

}  // namespace

Result<Calibration> CalibrationOf(const Run& run, const std::string& folder) {
  const std::string own = run.path + "/" + kCalibrationFile;
  std::error_code ignored;
  if (fs::exists(own, ignored)) return OwnCalibration(run, own);
  const bool imported =
      std::any_of(run.processes.begin(), run.processes.end(),
                  [](const ProcessTrace& process) { return process.device_kind == "imported"; });
  if (imported) {
    return Error{"looking for a calibration", run.path, "a run that another tool recorded",
                 "one that gpubound recorded", ""};
  }
  return FindCalibration(folder, KeyOf(run));
}

}  // namespace gpubound
