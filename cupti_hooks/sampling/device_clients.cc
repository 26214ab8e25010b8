// SPDX-License-Identifier: Apache-2.0
//
// Compares each listing with the one before.
#include "cupti_hooks/sampling/device_clients.h"

#include "libprofiler/proc_file.h"

namespace gpubound {
namespace {

// Empty for a process of another user that hides, or of another namespace.
std::string NameOf(const std::string& proc, uint32_t pid) {
  std::string name = ReadProcFile(proc + "/" + std::to_string(pid) + "/comm");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

}  // namespace

void DeviceClients::Update(const std::string& uuid, const std::vector<NvmlApi::Client>& clients,
                           int64_t now_ns) {
  for (const NvmlApi::Client& client : clients) {
    const auto [entry, is_new] = present_.try_emplace({uuid, client.pid});
    Present& present = entry->second;
    present.seen_ns = now_ns;
    // A client of MPS is listed both ways.
    if (!is_new && (present.client.through_mps || !client.through_mps)) continue;
    if (is_new) {
      present.client.pid = client.pid;
      present.client.first_ns = now_ns;
      present.name = NameOf(proc_, client.pid);
    }
    present.client.through_mps = client.through_mps;
    host_->AddClient(present.client, uuid, present.name);
  }
  for (auto entry = present_.begin(); entry != present_.end();) {
    Present& present = entry->second;
    if (entry->first.first != uuid || present.seen_ns == now_ns) {
      ++entry;
      continue;
    }
    present.client.last_ns = present.seen_ns;
    host_->AddClient(present.client, uuid, present.name);
    entry = present_.erase(entry);
  }
}

}  // namespace gpubound
