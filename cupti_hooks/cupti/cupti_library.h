// SPDX-License-Identifier: Apache-2.0
//
// Which libcupti a process gets. A second copy beside one that is loaded fights it for the driver,
// and a copy that is loaded too early breaks a framework that was linked with a newer one; so this
// runs inside cuInit, after the frameworks were imported, and takes what is there if it can. The
// only file that knows library names.
#ifndef GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_LIBRARY_H_
#define GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_LIBRARY_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cupti_hooks/cupti/cupti_api.h"

namespace gpubound {

// What the choice depends on.
struct CuptiSearch {
  std::string override_path;               // GPUBOUND_CUPTI_LIBRARY; empty: none
  std::vector<std::string> loaded_paths;   // of every library in the process
  int driver_major = 0;                    // CUDA major version of the driver; 0: not known
  std::string driver_version;              // of the driver itself; empty: not known
  std::string toolkit;                     // CUDA_HOME; empty: the usual place
  std::string conda;                       // CONDA_PREFIX; empty: none
  std::vector<std::string> site_packages;  // of the Python environment that is active
};

struct CuptiCandidate {
  std::string path;  // a path, or a soname for the dynamic linker to find
  bool loaded;       // the process has it already
};

// In order of preference. An override is the only candidate. Behind a copy that is loaded already
// come the others, for the case that it does not know this GPU. Pure.
std::vector<CuptiCandidate> CuptiCandidates(const CuptiSearch& search);

// 13 for ".../libcupti.so.13"; 0 when |path| is not called |stem|.so.NN. Pure.
int SonameMajor(std::string_view path, std::string_view stem);

// The CUDA major version that a driver library called ".../libcuda.so.580.65.06" speaks, from the
// branch of the driver; 0 when the name does not tell. Pure.
int DriverCudaMajor(std::string_view driver_path);

// "580.65.06" of ".../libcuda.so.580.65.06"; empty when the name does not tell. Pure.
std::string DriverVersion(std::string_view driver_path);

// This process as it is now. Makes no CUDA call.
CuptiSearch DescribeProcess(std::string override_path);

// Of the libcudart that is loaded; empty where none is, or it is linked statically. Pure.
std::string CudaRuntimePath(const CuptiSearch& search);

// Opens the first candidate from place |*next| on that can be used, and leaves the place behind it
// in |*next|: there the search goes on when CUPTI then says that it is the wrong one for this GPU.
// False: there is none, and |*why| says what was tried. A loaded copy that cannot be used ends the
// search, since a second one beside it would fight it for the driver.
bool LoadCupti(const CuptiSearch& search, size_t* next, CuptiApi* api, std::string* why);

// The path of the copy that records this process's work, which need not be the one that was loaded
// first; empty: none does. Any thread.
void SetCuptiInUse(const std::string& path);
std::string CuptiInUse();

}  // namespace gpubound

#endif  // GPUBOUND_CUPTI_HOOKS_CUPTI_CUPTI_LIBRARY_H_
