// SPDX-License-Identifier: Apache-2.0
//
// Calibrations as files, format gpubound.calibration.v1 (docs/calibration.md): one in a run
// directory, and one for each kind of machine and software in a folder of the user's cache.
//
// Pure but for the files; concurrent writers of one file replace it whole, so a reader never sees
// half of one.
#ifndef GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_FILE_H_
#define GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_FILE_H_

#include <string>
#include <string_view>

#include "analysis/base/status.h"
#include "analysis/calibration/calibration.h"

namespace gpubound {

inline constexpr char kCalibrationFile[] = "calibration.json";  // in a run directory

std::string RenderCalibration(const Calibration& calibration);

// |path| names the text in errors: not JSON, another format or a newer one, a field that is missing
// or makes no sense.
Result<Calibration> ParseCalibration(std::string_view text, const std::string& path);

Result<Calibration> ReadCalibration(const std::string& path);

// Mode 0600.
Status WriteCalibration(const std::string& path, const Calibration& calibration);

// $XDG_CACHE_HOME/gpubound, else ~/.cache/gpubound; empty where neither variable is set.
std::string CalibrationFolder();

// The file of |machine| in |folder|: one name for each key.
std::string CalibrationPath(const std::string& folder, const MachineKey& machine);

// Writes |calibration| to its place in |folder|, which is made with mode 0700 where it is missing.
Status StoreCalibration(const std::string& folder, const Calibration& calibration);

// The newest calibration in |folder| that serves a run with |key|. The error says why there is
// none, in words for the user.
Result<Calibration> FindCalibration(const std::string& folder, const MachineKey& key);

// What recording |run| cost: of the calibration in its directory, else of the one in |folder| that
// serves it. It may hold for some of the processes only, of several hosts for instance:
// CostModel::WhyNotOf. An error, where there is none for any, says why the run cannot be
// corrected.
Result<Calibration> CalibrationOf(const Run& run, const std::string& folder);

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_CALIBRATION_CALIBRATION_FILE_H_
