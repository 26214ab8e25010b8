// SPDX-License-Identifier: Apache-2.0
//
// The C functions that NVTX calls, and the tables that they go into. Categories, colours, payloads
// and the names of CUDA objects say nothing that is recorded: they are left to NVTX's own no-ops.
#include "cupti_hooks/nvtx/nvtx_injection.h"

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>

#include <cwchar>
#include <exception>

#include "cupti_hooks/nvtx/nvtx_ranges.h"

namespace gpubound {
namespace {

constinit std::atomic<NvtxHostFunction> g_host{nullptr};

DeviceHost* CurrentHost() {
  const NvtxHostFunction host = g_host.load(std::memory_order_acquire);
  return host == nullptr ? nullptr : host();
}

// Leaked: programs use NVTX until their last instruction.
NvtxRanges& Ranges() {
  static NvtxRanges* const ranges = new NvtxRanges(&CurrentHost);
  [[maybe_unused]] static const int handlers =
      pthread_atfork([] { ranges->LockForFork(); }, [] { ranges->UnlockAfterFork(); },
                     [] { ranges->UnlockAfterFork(); });
  return *ranges;
}

// The program must not see an exception of ours (out of memory): it gets |otherwise|.
template <typename Result, typename Body>
Result Guarded(Result otherwise, Body&& body) noexcept {
  try {
    return body();
  } catch (const std::exception&) {
    return otherwise;
  }
}

NvtxMessage Text(const char* message) {
  return message == nullptr ? NvtxMessage{} : NvtxMessage{NvtxMessageKind::kAscii, message};
}
NvtxMessage Text(const wchar_t* message) {
  return message == nullptr ? NvtxMessage{} : NvtxMessage{NvtxMessageKind::kWide, message};
}
NvtxMessage Text(const nvtxEventAttributes_t* attributes) {
  return MessageOf(reinterpret_cast<const NvtxEventAttributes*>(attributes));
}

const NvtxDomain* Own(nvtxDomainHandle_t domain) {
  return reinterpret_cast<const NvtxDomain*>(domain);
}

template <typename Message>
int Push(const NvtxDomain* domain, Message message) noexcept {
  return Guarded(NvtxRanges::kNotTracked, [&] { return Ranges().Push(domain, Text(message)); });
}
int Pop(const NvtxDomain* domain) noexcept {
  return Guarded(NvtxRanges::kNotTracked, [&] { return Ranges().Pop(domain); });
}
template <typename Message>
nvtxRangeId_t Start(const NvtxDomain* domain, Message message) noexcept {
  return Guarded(nvtxRangeId_t{0}, [&] { return Ranges().Start(domain, Text(message)); });
}
void End(nvtxRangeId_t range) noexcept {
  Guarded(0, [&] { return Ranges().End(range), 0; });
}
template <typename Message>
void Mark(const NvtxDomain* domain, Message message) noexcept {
  Guarded(0, [&] { return Ranges().Mark(domain, Text(message)), 0; });
}

std::string Copy(const char* text) { return text == nullptr ? std::string() : std::string(text); }
std::string Copy(const wchar_t* text) { return Utf8Of(text); }

template <typename Char>
nvtxDomainHandle_t NVTX_API CreateDomain(const Char* name) {
  return Guarded(nvtxDomainHandle_t{nullptr},
                 [&] { return reinterpret_cast<nvtxDomainHandle_t>(Ranges().Domain(Copy(name))); });
}
template <typename Char>
nvtxStringHandle_t NVTX_API RegisterString(nvtxDomainHandle_t domain, const Char* text) {
  return Guarded(nvtxStringHandle_t{nullptr}, [&] {
    return reinterpret_cast<nvtxStringHandle_t>(Ranges().RegisterString(Own(domain), Copy(text)));
  });
}

// The default domain.
template <typename Message>
int NVTX_API RangePush(Message message) {
  return Push(nullptr, message);
}
int NVTX_API RangePop() { return Pop(nullptr); }
template <typename Message>
nvtxRangeId_t NVTX_API RangeStart(Message message) {
  return Start(nullptr, message);
}
void NVTX_API RangeEnd(nvtxRangeId_t range) { End(range); }
template <typename Message>
void NVTX_API MarkNow(Message message) {
  Mark(nullptr, message);
}

// A domain of the program's.
int NVTX_API DomainPush(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return Push(Own(domain), event);
}
int NVTX_API DomainPop(nvtxDomainHandle_t domain) { return Pop(Own(domain)); }
nvtxRangeId_t NVTX_API DomainStart(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  return Start(Own(domain), event);
}
void NVTX_API DomainEnd(nvtxDomainHandle_t, nvtxRangeId_t range) { End(range); }
void NVTX_API DomainMark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  Mark(Own(domain), event);
}

// Programs check the handle, so that it must not be null; nothing is kept of the resource.
nvtxResourceHandle_t NVTX_API CreateResource(nvtxDomainHandle_t, nvtxResourceAttributes_t*) {
  static char resource;
  return reinterpret_cast<nvtxResourceHandle_t>(&resource);
}
void NVTX_API DestroyResource(nvtxResourceHandle_t) {}
void NVTX_API DestroyDomain(nvtxDomainHandle_t) {}

struct Entry {
  uint32_t id;
  NvtxFunctionPointer function;
};

template <typename Function>
Entry At(uint32_t id, Function function) {
  return {id, reinterpret_cast<NvtxFunctionPointer>(function)};
}

// Puts |entries| into the module's table of |module|. Ids that an older header does not have are
// left out; what is not put in becomes NVTX's no-op.
template <size_t n>
void Fill(const NvtxExportTableCallbacks& callbacks, NvtxCallbackModule module,
          const Entry (&entries)[n]) {
  NvtxFunctionTable table = nullptr;
  unsigned int size = 0;
  if (callbacks.GetModuleFunctionTable(module, &table, &size) == 0 || table == nullptr) return;
  for (const Entry& entry : entries) {
    if (entry.id < size && table[entry.id] != nullptr) *table[entry.id] = entry.function;
  }
}

void FillCore(const NvtxExportTableCallbacks& callbacks) {
  using Event = const nvtxEventAttributes_t*;
  const Entry core[] = {
      At(NVTX_CBID_CORE_MarkEx, &MarkNow<Event>),
      At(NVTX_CBID_CORE_MarkA, &MarkNow<const char*>),
      At(NVTX_CBID_CORE_MarkW, &MarkNow<const wchar_t*>),
      At(NVTX_CBID_CORE_RangeStartEx, &RangeStart<Event>),
      At(NVTX_CBID_CORE_RangeStartA, &RangeStart<const char*>),
      At(NVTX_CBID_CORE_RangeStartW, &RangeStart<const wchar_t*>),
      At(NVTX_CBID_CORE_RangeEnd, &RangeEnd),
      At(NVTX_CBID_CORE_RangePushEx, &RangePush<Event>),
      At(NVTX_CBID_CORE_RangePushA, &RangePush<const char*>),
      At(NVTX_CBID_CORE_RangePushW, &RangePush<const wchar_t*>),
      At(NVTX_CBID_CORE_RangePop, &RangePop),
  };
  Fill(callbacks, NVTX_CB_MODULE_CORE, core);
}

void FillDomains(const NvtxExportTableCallbacks& callbacks) {
  const Entry domains[] = {
      At(NVTX_CBID_CORE2_DomainMarkEx, &DomainMark),
      At(NVTX_CBID_CORE2_DomainRangeStartEx, &DomainStart),
      At(NVTX_CBID_CORE2_DomainRangeEnd, &DomainEnd),
      At(NVTX_CBID_CORE2_DomainRangePushEx, &DomainPush),
      At(NVTX_CBID_CORE2_DomainRangePop, &DomainPop),
      At(NVTX_CBID_CORE2_DomainResourceCreate, &CreateResource),
      At(NVTX_CBID_CORE2_DomainResourceDestroy, &DestroyResource),
      At(NVTX_CBID_CORE2_DomainRegisterStringA, &RegisterString<char>),
      At(NVTX_CBID_CORE2_DomainRegisterStringW, &RegisterString<wchar_t>),
      At(NVTX_CBID_CORE2_DomainCreateA, &CreateDomain<char>),
      At(NVTX_CBID_CORE2_DomainCreateW, &CreateDomain<wchar_t>),
      At(NVTX_CBID_CORE2_DomainDestroy, &DestroyDomain),
  };
  Fill(callbacks, NVTX_CB_MODULE_CORE2, domains);
}

uint8_t NVTX_API DomainIsEnabled(nvtxDomainHandle_t) { return 1; }

}  // namespace

bool AttachNvtxModule(const void* (*get_export_table)(uint32_t), NvtxHostFunction host) noexcept {
  if (get_export_table == nullptr) return false;
  const auto* callbacks =
      static_cast<const NvtxExportTableCallbacks*>(get_export_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->struct_size < sizeof(NvtxExportTableCallbacks) ||
      callbacks->GetModuleFunctionTable == nullptr) {
    return false;
  }
  g_host.store(host, std::memory_order_release);
  FillCore(*callbacks);
  FillDomains(*callbacks);
  return true;
}

bool AttachNvtxExtension(void* module_info) noexcept {
  const auto* info = static_cast<const nvtxExtModuleInfo_t*>(module_info);
  if (info == nullptr || info->structSize < sizeof(nvtxExtModuleInfo_t)) return false;
  if (info->moduleId != NVTX_EXT_PAYLOAD_MODULEID || info->segments == nullptr) return true;
  for (size_t i = 0; i < info->segmentsCount; ++i) {
    const nvtxExtModuleSegment_t& segment = info->segments[i];
    if (segment.segmentId != 0 || segment.slotCount <= NVTX3EXT_CBID_nvtxDomainIsEnabled) continue;
    segment.functionSlots[NVTX3EXT_CBID_nvtxDomainIsEnabled] =
        reinterpret_cast<intptr_t>(&DomainIsEnabled);
  }
  return true;
}

}  // namespace gpubound
