// SPDX-License-Identifier: Apache-2.0
//
// Entry point of the `gpubound` command where it lies in libgpubound_engine.so (cmake/OneLibrary.cmake), whose
// main.cc has the rest.
extern "C" int gpubound_command(int argc, char** argv);

int main(int argc, char** argv) { return gpubound_command(argc, argv); }
