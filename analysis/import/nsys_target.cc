// SPDX-License-Identifier: Apache-2.0
//
// Reads the TARGET_INFO tables. No state.
#include "analysis/import/nsys_target.h"

#include <string>

#include "analysis/base/base_name.h"
#include "analysis/import/nsys_table.h"

namespace gpubound {
namespace {

// A host's name is a part of file names.
std::string PlainHost(std::string host) {
  for (char& c : host) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return host;
}

Status ReadSession(NsysExport* from) {
  Database* const database = &from->database();
  ForeignTrace* const trace = &from->trace();
  NsysTable environment(database, "TARGET_INFO_SYSTEM_ENV", {"name", "value"});
  while (environment.HasFirst(2) && environment.Step()) {
    if (environment.Text(0) == "Hostname" && !environment.Text(1).empty()) {
      trace->host = PlainHost(environment.Text(1));
    }
  }
  if (environment.failed()) return from->Checked(environment);
  NsysTable start(database, "TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"});
  if (start.HasFirst(1) && start.Step()) trace->realtime_ns = start.Int(0).value_or(0);
  if (start.failed()) return from->Checked(start);
  NsysTable processes(database, "PROCESSES", {"globalPid", "name"});
  while (processes.HasFirst(2) && processes.Step()) {
    const std::string name = BaseName(processes.Text(1));
    trace->names.NameProcess(std::to_string(NsysPid(processes.Int(0).value_or(0))), name);
  }
  return from->Checked(processes);
}

Status ReadDevices(NsysExport* from, GpuOfOrdinal* gpus) {
  Database* const database = &from->database();
  ForeignTrace* const trace = &from->trace();
  NsysTable table(
      database, "TARGET_INFO_GPU",
      {"id", "name", "uuid", "smCount", "maxWarpsPerSm", "maxBlocksPerSm", "maxRegistersPerSm",
       "maxShmemPerSm", "threadsPerWarp", "computeMajor", "computeMinor", "totalMemory"});
  while (table.HasFirst(2) && table.Step()) {
    Device& device = trace->names.DeviceAt(U32OrZero(table.Int(0)));
    if (!table.Text(1).empty()) device.name = table.Text(1);
    device.uuid = table.Text(2);
    if (!device.uuid.empty() && !device.uuid.starts_with("GPU-")) {
      device.uuid.insert(0, "GPU-");
    }
    DeviceInfo& info = device.info;
    info.multiprocessors = U32OrZero(table.Int(3));
    info.max_warps_per_multiprocessor = U32OrZero(table.Int(4));
    info.max_blocks_per_multiprocessor = U32OrZero(table.Int(5));
    info.max_registers_per_multiprocessor = U32OrZero(table.Int(6));
    info.max_shared_bytes_per_multiprocessor = U32OrZero(table.Int(7));
    if (const uint32_t threads = U32OrZero(table.Int(8)); threads != 0) {
      info.threads_per_warp = threads;
    }
    info.compute_capability_major = U32OrZero(table.Int(9));
    info.compute_capability_minor = U32OrZero(table.Int(10));
    info.memory_bytes = static_cast<uint64_t>(table.Int(11).value_or(0));
  }
  if (table.failed()) return from->Checked(table);
  // Each process numbers the devices that it may see.
  for (const char* name : {"TARGET_INFO_CUDA_DEVICE", "TARGET_INFO_CUDA_GPU"}) {
    NsysTable visible(database, name, {"gpuId", "cudaId", "pid"});
    while (visible.HasFirst(3) && visible.Step()) {
      (*gpus)[{visible.Int(2).value_or(0), visible.Int(1).value_or(0)}] = U32OrZero(visible.Int(0));
    }
    if (visible.failed()) return from->Checked(visible);
  }
  return Ok{};
}

}  // namespace

Status ReadNsysTarget(NsysExport* from, GpuOfOrdinal* gpus) {
  const Status session = ReadSession(from);
  return session.ok() ? ReadDevices(from, gpus) : session;
}

}  // namespace gpubound
