// SPDX-License-Identifier: Apache-2.0
//
// Interns names. A known name costs one look-up without allocation.
#include "libprofiler/interner.h"

#include <cstring>
#include <utility>

#include "libprofiler/current_thread.h"
#include "libprofiler/utf8.h"

namespace gpubound {
namespace {

// Of what is kept of each label: its kind, and above that its layer.
constexpr unsigned kKindBits = 4;
constexpr unsigned kKindMask = (1u << kKindBits) - 1;

constexpr uint32_t kLastReserved = static_cast<uint32_t>(LabelKind::kOverhead);

std::string MakeKey(LabelKind kind, Layer layer, std::string_view domain, std::string_view text) {
  std::string key;
  key.reserve(3 + domain.size() + text.size());
  key.push_back(static_cast<char>(kind));
  key.push_back(static_cast<char>(layer));
  key.append(domain);
  key.push_back('\0');
  key.append(text);
  return key;
}

}  // namespace

Interner::Interner(uint32_t max_labels, LiveMapping* mapping, Ledger* ledger)
    : max_labels_(max_labels),
      mapping_(mapping),
      ledger_(ledger),
      kinds_(new std::atomic<uint8_t>[max_labels + 1]()) {
  for (uint32_t kind = 1; kind <= kLastReserved; ++kind) {
    AddLocked(static_cast<LabelKind>(kind), Layer::kUnset, "", kOtherNames,
              MakeKey(static_cast<LabelKind>(kind), Layer::kUnset, "", kOtherNames));
  }
}

LabelId Interner::Intern(LabelKind kind, Layer layer, std::string_view domain,
                         std::string_view text) {
  const bool cut = text.size() > kMaxNameBytes || domain.size() > kMaxDomainBytes;
  text = CutUtf8(text, kMaxNameBytes);
  domain = CutUtf8(domain, kMaxDomainBytes);
  std::string key = MakeKey(kind, layer, domain, text);
  if (AtLock::IsHere()) return static_cast<LabelId>(kind);  // (other names)
  const AtLock at_lock;
  const std::lock_guard<std::mutex> lock(mutex_);
  if (const auto found = ids_.find(key); found != ids_.end()) return found->second;
  if (cut) ledger_->Add(LedgerCounter::names_truncated, 1);
  return AddLocked(kind, layer, domain, text, std::move(key));
}

LabelId Interner::Find(LabelKind kind, Layer layer, std::string_view domain,
                       std::string_view text) {
  if (AtLock::IsHere()) return {};
  const std::string key = MakeKey(kind, layer, domain, text);
  const AtLock at_lock;
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = ids_.find(key);
  return found == ids_.end() ? LabelId{} : found->second;
}

LabelId Interner::AddLocked(LabelKind kind, Layer layer, std::string_view domain,
                            std::string_view text, std::string key) {
  const uint32_t number = label_count_ + 1;
  const auto id = static_cast<LabelId>(number);
  if (number > max_labels_ || !AppendToHeapLocked(id, kind, layer, domain, text)) {
    ledger_->Add(LedgerCounter::labels_overflowed, 1);
    return static_cast<LabelId>(kind);
  }
  label_count_ = number;
  kinds_[number].store(
      static_cast<uint8_t>(static_cast<unsigned>(layer) << kKindBits | static_cast<unsigned>(kind)),
      std::memory_order_relaxed);
  ids_.emplace(std::move(key), id);
  return id;
}

bool Interner::AppendToHeapLocked(LabelId id, LabelKind kind, Layer layer, std::string_view domain,
                                  std::string_view text) {
  const size_t bytes = (sizeof(LiveLabel) + domain.size() + text.size() + 3) / 4 * 4;
  // The heap ends with a zero size, for which room must remain.
  if (heap_used_ + bytes + sizeof(LiveLabel) > kLiveLabelHeapBytes) return false;
  char* place = mapping_->label_heap() + heap_used_;
  LiveLabel* label = reinterpret_cast<LiveLabel*>(place);
  label->id = Raw(id);
  label->kind = static_cast<uint8_t>(kind);
  label->layer = static_cast<uint8_t>(layer);
  label->domain_bytes = static_cast<uint16_t>(domain.size());
  label->text_bytes = static_cast<uint32_t>(text.size());
  char* characters = place + sizeof(LiveLabel);
  characters += domain.copy(characters, domain.size());
  text.copy(characters, text.size());
  std::atomic_ref<uint32_t>(label->size)
      .store(static_cast<uint32_t>(bytes), std::memory_order_release);
  heap_used_ += static_cast<uint32_t>(bytes);
  return true;
}

LabelKind Interner::KindOf(LabelId id) const {
  if (Raw(id) > max_labels_) return LabelKind::kNone;
  return static_cast<LabelKind>(kinds_[Raw(id)].load(std::memory_order_relaxed) & kKindMask);
}

Layer Interner::LayerOf(LabelId id) const {
  if (Raw(id) > max_labels_) return Layer::kUnset;
  return static_cast<Layer>(kinds_[Raw(id)].load(std::memory_order_relaxed) >> kKindBits);
}

void Interner::CopyRowsSince(size_t* position, std::vector<LabelRow>* out) const {
  while (*position + sizeof(LiveLabel) <= kLiveLabelHeapBytes) {
    char* const place = mapping_->label_heap() + *position;
    LiveLabel* const label = reinterpret_cast<LiveLabel*>(place);
    const uint32_t size = std::atomic_ref<uint32_t>(label->size).load(std::memory_order_acquire);
    if (size == 0) return;
    const char* const domain = place + sizeof(LiveLabel);
    const char* const text = domain + label->domain_bytes;
    out->push_back({static_cast<LabelId>(label->id), static_cast<LabelKind>(label->kind),
                    static_cast<Layer>(label->layer), std::string(domain, label->domain_bytes),
                    std::string(text, label->text_bytes)});
    *position += size;
  }
}

void Interner::MoveTo(LiveMapping* mapping, Ledger* ledger) {
  // No further: the parent goes on adding its own names where both can see them.
  std::memcpy(mapping->label_heap(), mapping_->label_heap(), heap_used_);
  mapping_ = mapping;
  ledger_ = ledger;
}

}  // namespace gpubound
