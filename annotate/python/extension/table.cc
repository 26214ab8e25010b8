// SPDX-License-Identifier: Apache-2.0
//
// Copies the collector's table over one of functions that do nothing.
#include "annotate/python/extension/table.h"

#include <cstring>

#include "annotate/include/gpubound/detail/lookup.h"

namespace gpubound {
namespace {

constexpr gpubound_api kNoCollector = {
    sizeof(gpubound_api),
    GPUBOUND_API_VERSION,
    [](uint32_t, uint32_t, const char*, const char*, size_t) -> uint32_t { return 0; },
    [](uint32_t) {},
    [](uint32_t) {},
    [](uint32_t) {},
    [](uint64_t) {},
    [](uint32_t, double) {},
    []() -> uint64_t { return 0; },
    [](uint64_t) {},
    [](uint64_t) {},
    []() {},
    []() {},
    [](const char*, uint64_t, const char*, size_t) {},
    [](uint32_t*, uint32_t) -> uint32_t { return 0; },
    []() -> uint32_t { return 0; },
    [](uint64_t) {},
    [](uint64_t) {},
    [](uint64_t) {},
    []() -> uint32_t { return 0; },
    []() {},
};

}  // namespace

gpubound_api g_table = kNoCollector;
const gpubound_api* g_scopes = &kNoCollector;

namespace {

bool CopyTable() {
  const gpubound_api* found = gpubound_table_();
  if (found == nullptr) return false;
  // An older collector's table is a prefix of ours, a newer one's begins with ours.
  const size_t shared = found->size < sizeof(g_table) ? found->size : sizeof(g_table);
  std::memcpy(&g_table, found, shared);
  g_scopes = found;
  return true;
}

}  // namespace

bool CanSuspend() { return g_table.open_scopes != kNoCollector.open_scopes; }

bool LoadTable() {
  static const bool loaded = CopyTable();
  return loaded;
}

bool LoadTableAgain() {
  if (LoadTable() || g_scopes != &kNoCollector) return true;
  __atomic_store_n(&gpubound_table_word_, uintptr_t{GPUBOUND_TABLE_UNKNOWN_}, __ATOMIC_RELEASE);
  return CopyTable();
}

}  // namespace gpubound
