// SPDX-License-Identifier: Apache-2.0
//
// See nvtx_ranges.h. A thread's open ranges are one array; NVTX keeps a stack for each domain, and
// the innermost range of a domain is the last entry of it.
//
//   [ ("", "step") , ("NCCL", "AllReduce") , ("", "forward") ]
//                     ^ what a pop in NCCL closes
#include "cupti_hooks/nvtx/nvtx_ranges.h"

#include <pthread.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "cupti_hooks/nvtx/xla_ranges.h"
#include "proto/scope_domains.h"

namespace gpubound {
namespace {

constexpr std::string_view kUnnamed = "(unnamed)";

struct OpenRange {
  const NvtxDomain* domain;
  LabelId label;
  int depth;  // in its domain
};
using OpenRanges = std::vector<OpenRange>;

// The calling thread's stack. A plain pointer, freed by a key's destructor: a thread_local object
// would run its destructor while other libraries' destructors still push and pop.
thread_local constinit OpenRanges* t_open __attribute__((tls_model("initial-exec"))) = nullptr;

// Without one where the program has taken all keys up: its threads' stacks then outlive them.
std::optional<pthread_key_t> EndOfThreadKey() {
  static const std::optional<pthread_key_t> key = []() -> std::optional<pthread_key_t> {
    pthread_key_t made{};
    const auto on_end = [](void* open) {
      t_open = nullptr;
      delete static_cast<OpenRanges*>(open);
    };
    if (pthread_key_create(&made, on_end) != 0) return std::nullopt;
    return made;
  }();
  return key;
}

OpenRanges& CallingThreadsRanges() {
  if (t_open == nullptr) {
    t_open = new OpenRanges();
    t_open->reserve(32);
    if (const auto key = EndOfThreadKey()) pthread_setspecific(*key, t_open);
  }
  return *t_open;
}

OpenRanges::iterator InnermostOf(OpenRanges* open, const NvtxDomain* domain) {
  const auto found = std::find_if(open->rbegin(), open->rend(), [domain](const OpenRange& range) {
    return range.domain == domain;
  });
  return found == open->rend() ? open->end() : std::prev(found.base());
}

std::string_view NameOf(const NvtxDomain* domain) {
  return domain == nullptr ? std::string_view() : std::string_view(domain->name);
}

// The innermost scope of the program's own in the path of a launch by XLA; 0 when there is none.
// Tracing, in which a scope becomes known, comes before every launch of what it made.
LabelId ScopeOf(DeviceHost* host, std::string_view path) {
  LabelId scope{};
  while (!path.empty() && scope == LabelId{}) {
    scope = host->FindLabel(LabelKind::kOperation, kJittedDomain, TakeInnermost(&path));
  }
  return scope;
}

LabelId LabelOfText(DeviceHost* host, const NvtxDomain* domain, std::string_view text) {
  if (domain == nullptr || !domain->is_xla) return host->InternRange(NameOf(domain), text);
  const LabelId scope = ScopeOf(host, XlaPathOf(text));
  return scope != LabelId{} ? scope : host->InternRange(domain->name, XlaLabelOf(text));
}

}  // namespace

NvtxDomain* NvtxRanges::Domain(std::string_view name) {
  const std::lock_guard<std::mutex> lock(mutex_);
  NvtxDomain*& domain = domain_by_name_[std::string(name)];
  if (domain == nullptr)
    domain = &domains_.emplace_back(NvtxDomain{std::string(name), name == kXlaDomain});
  return domain;
}

NvtxString* NvtxRanges::RegisterString(const NvtxDomain* domain, std::string_view text) {
  // The pointer itself is the key. NOLINTNEXTLINE(bugprone-sizeof-expression)
  std::string key(reinterpret_cast<const char*>(&domain), sizeof(domain));
  key += text;
  const std::lock_guard<std::mutex> lock(mutex_);
  NvtxString*& string = string_by_key_[std::move(key)];
  if (string == nullptr) {
    string = &strings_.emplace_back();
    string->text = text;
    string->domain = domain;
  }
  return string;
}

LabelId NvtxRanges::LabelOf(DeviceHost* host, const NvtxDomain* domain,
                            const NvtxMessage& message) {
  switch (message.kind) {
    case NvtxMessageKind::kAscii:
      return LabelOfText(host, domain, static_cast<const char*>(message.value));
    case NvtxMessageKind::kWide:
      return LabelOfText(host, domain, Utf8Of(static_cast<const wchar_t*>(message.value)));
    case NvtxMessageKind::kRegistered: {
      auto* string = static_cast<NvtxString*>(const_cast<void*>(message.value));
      if (string->domain != domain) return LabelOfText(host, domain, string->text);
      const uint32_t known = string->label.load(std::memory_order_relaxed);
      if (known != 0) return static_cast<LabelId>(known);
      const LabelId label = LabelOfText(host, domain, string->text);
      string->label.store(Raw(label), std::memory_order_relaxed);
      return label;
    }
    case NvtxMessageKind::kNone:
      break;
  }
  return host->InternRange(NameOf(domain), kUnnamed);
}

int NvtxRanges::Push(const NvtxDomain* domain, const NvtxMessage& message) {
  DeviceHost* host = host_();
  if (host == nullptr) return kNotTracked;
  const LabelId label = LabelOf(host, domain, message);
  OpenRanges& open = CallingThreadsRanges();
  const auto outer = InnermostOf(&open, domain);
  const int depth = outer == open.end() ? 0 : outer->depth + 1;
  open.push_back({domain, label, depth});
  host->BeginScope(label);
  return depth;
}

int NvtxRanges::Pop(const NvtxDomain* domain) {
  DeviceHost* host = host_();
  const auto innermost = t_open == nullptr ? OpenRanges::iterator() : InnermostOf(t_open, domain);
  if (t_open == nullptr || innermost == t_open->end()) {
    if (host != nullptr) host->Count(LedgerCounter::unbalanced_scopes, 1);
    return kNotTracked;
  }
  const OpenRange range = *innermost;
  t_open->erase(innermost);
  if (host != nullptr) host->EndScope(range.label);
  return range.depth;
}

uint64_t NvtxRanges::Start(const NvtxDomain* domain, const NvtxMessage& message) {
  DeviceHost* host = host_();
  if (host == nullptr) return 0;
  const LabelId label = LabelOf(host, domain, message);
  // The id brings its label along, so that ending a range needs no table.
  const uint64_t range =
      (next_range_.fetch_add(1, std::memory_order_relaxed) << kSlotLabelBits) | Raw(label);
  host->StartRange(label, range);
  return range;
}

void NvtxRanges::End(uint64_t range) {
  const LabelId label = static_cast<LabelId>(range & (kMaxLabels - 1));
  DeviceHost* host = host_();
  if (host != nullptr && label != LabelId{}) host->EndRange(label, range);
}

void NvtxRanges::Mark(const NvtxDomain* domain, const NvtxMessage& message) {
  DeviceHost* host = host_();
  if (host != nullptr) host->Mark(LabelOf(host, domain, message));
}

}  // namespace gpubound
