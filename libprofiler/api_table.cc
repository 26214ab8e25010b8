// SPDX-License-Identifier: Apache-2.0
//
// From the C table to thread buffers. There are two tables, one for each clock that slots can be
// stamped with, so that the hot path does not choose.
#include "libprofiler/api_table.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <exception>
#include <string_view>

#include "libprofiler/clock.h"
#include "libprofiler/collector.h"
#include "libprofiler/current_thread.h"
#include "libprofiler/debug_log.h"
#include "libprofiler/lifecycle.h"
#include "proto/invariant_tsc.h"

namespace gpubound {
namespace {

// Whatever a program passes: a slot keeps as many bits as it has room for.
static_assert(kBlockScope == GPUBOUND_LABEL_BLOCK);
constexpr LabelId ToLabel(uint32_t label) { return static_cast<LabelId>(label); }

uint32_t InternForApi(uint32_t kind, uint32_t layer, const char* domain, const char* text,
                      size_t text_length) noexcept {
  Collector* collector = EnsureCollector();
  if (collector == nullptr) return 0;
  const bool known_kind = kind >= GPUBOUND_LABEL_OPERATION && kind <= GPUBOUND_LABEL_COUNTER;
  const bool known_layer = kind == GPUBOUND_LABEL_LAYER && layer <= GPUBOUND_LAYER_backend;
  try {
    return Raw(collector->labels()->Intern(
        known_kind ? static_cast<LabelKind>(kind) : LabelKind::kAnnotation,
        known_layer ? static_cast<Layer>(layer) : Layer::kUnset,
        domain == nullptr ? std::string_view() : std::string_view(domain),
        text == nullptr ? std::string_view() : std::string_view(text, text_length)));
  } catch (const std::exception&) {                              // out of memory
    return Raw(static_cast<LabelId>(GPUBOUND_LABEL_OPERATION));  // (other names)
  }
}

// The innermost open operation of the calling thread; 0 without one.
LabelId InnermostOperation(Collector* collector) {
  const ThreadBuffer* buffer = BufferOfThisThread();
  for (uint32_t index = buffer->open_depth(); index-- > 0;) {
    const LabelId label = buffer->open_label(index);
    if (collector->labels()->KindOf(label) == LabelKind::kOperation) return label;
  }
  return LabelId{0};
}

void AddToLedger(const char* counter, uint64_t amount, const char* note,
                 size_t note_length) noexcept {
  Collector* collector = EnsureCollector();
  if (collector == nullptr) return;
  for (int index = 0; counter != nullptr && index < kRecordedCounters; ++index) {
    if (std::strcmp(kLedgerCounters[index].name, counter) != 0) continue;
    collector->ledger()->Add(static_cast<LedgerCounter>(index), amount);
    if (note != nullptr && kLedgerCounters[index].severity == Severity::kInfo) {
      DebugLog("%s: %.*s", counter, static_cast<int>(note_length), note);
      return;  // a mere fact is nothing that a report has to say
    }
    break;
  }
  if (note == nullptr) return;
  DebugLog("note: %.*s", static_cast<int>(note_length), note);
  try {
    collector->device_tables()->AddNote(collector->clock()->MonotonicNs(), {note, note_length});
  } catch (const std::exception&) {  // out of memory: the counter stands without its prose
  }
}

// None once the recording has ended: ends that nobody follows would leave them open for ever.
uint32_t CopyOpenScopes(uint32_t* labels, uint32_t capacity) noexcept {
  const ThreadBuffer* buffer = BufferOfThisThread();
  const uint32_t depth = RecordingIsOver() ? 0 : buffer->open_depth();
  for (uint32_t index = 0; index < std::min(depth, capacity); ++index) {
    labels[index] = buffer->open_scope(index);
  }
  return depth;
}

// A fork child goes on in its parent's phase.
std::atomic<uint32_t> g_phase{0};

uint32_t CurrentPhase() noexcept { return g_phase.load(std::memory_order_relaxed); }

uint32_t HasEnded() noexcept { return RecordingIsOver() ? 1 : 0; }

template <SplitTicks (*ReadTicks)() noexcept>
struct Entries {
  // Aligned, so that each takes two lines of the instruction cache wherever the linker puts it.
  [[gnu::aligned(64)]] static void Begin(uint32_t label) noexcept {
    BufferOfThisThread()->Begin(ToLabel(label), ReadTicks());
  }
  [[gnu::aligned(64)]] static void End(uint32_t label) noexcept {
    BufferOfThisThread()->End(ToLabel(label), ReadTicks());
  }

  static uint64_t Now() noexcept { return ReadTicks().Joined(); }

  static void Phase(uint32_t label) noexcept {
    BufferOfThisThread()->Emit(SlotKind::kPhase, ToLabel(label), Now());
    g_phase.store(label, std::memory_order_relaxed);
    if (Collector* collector = CurrentCollector()) collector->OnPhase(ToLabel(label));
  }
  static void Step(uint64_t iteration) noexcept {
    const uint64_t ticks = Now();
    if (iteration == kIterationsBegin) --iteration;  // a -1 that a program means as a number
    BufferOfThisThread()->EmitWithPayload(SlotKind::kStep, LabelId{0}, iteration, ticks);
    Collector* collector = CurrentCollector();
    if (collector == nullptr) return;
    if (collector->context()->finished)
      return collector->OnLaterStep(BufferOfThisThread(), iteration);
    if (collector->wants_steps()) collector->OnStep(BufferOfThisThread(), iteration, ticks);
  }
  static void BeginIterations() noexcept {
    BufferOfThisThread()->EmitWithPayload(SlotKind::kStep, LabelId{0}, kIterationsBegin, Now());
  }
  static void Counter(uint32_t label, double value) noexcept {
    BufferOfThisThread()->EmitWithPayload(SlotKind::kCounter, ToLabel(label),
                                          std::bit_cast<uint64_t>(value), Now());
  }

  static uint64_t HandOver() noexcept {
    Collector* collector = CurrentCollector();
    if (collector == nullptr || collector->ended()) return 0;
    const LabelId operation = InnermostOperation(collector);
    if (operation == LabelId{0}) return 0;
    const uint64_t token = collector->NewHandOverToken(operation);
    BufferOfThisThread()->EmitWithPayload(SlotKind::kHandOver, operation, token, Now());
    return token;
  }
  static void Adopt(uint64_t token) noexcept {
    if (token == 0) return;
    const LabelId operation = Collector::LabelOfToken(token);
    const uint64_t ticks = Now();
    BufferOfThisThread()->EmitWithPayload(SlotKind::kAdopt, operation, token, ticks);
    BufferOfThisThread()->Begin(operation, ticks);
  }
  static void Drop(uint64_t token) noexcept {
    if (token == 0) return;
    BufferOfThisThread()->End(Collector::LabelOfToken(token), ReadTicks());
  }

  // A thread that has recorded nothing needs no buffer for this: nobody knows when it came to let
  // others go on, and who let it go on is told once it records anything.
  static void Wake(uint64_t what) noexcept {
    ThreadBuffer* buffer = BufferOfThisThread();
    if (buffer->context() == nullptr) return;
    buffer->EmitWithPayload(SlotKind::kHandOver, LabelId{0}, what, Now());
  }
  static void GoOn(SlotKind kind, uint64_t what) noexcept {
    ThreadBuffer* buffer = BufferOfThisThread();
    if (buffer->context() == nullptr) return (void)(t_begun_by = what);
    buffer->EmitWithPayload(kind, LabelId{0}, what, Now());
  }
  static void Woken(uint64_t what) noexcept { GoOn(SlotKind::kWoken, what); }
  static void Found(uint64_t what) noexcept { GoOn(SlotKind::kAdopt, what); }

  static void Pause() noexcept { BufferOfThisThread()->Emit(SlotKind::kPause, LabelId{0}, Now()); }
  static void Resume() noexcept {
    BufferOfThisThread()->Emit(SlotKind::kResume, LabelId{0}, Now());
  }

  static void DoNothing(uint32_t) noexcept {}

  // Not constant: begin and end are exchanged when the recording ends before the program.
  static constinit inline gpubound_api table = {sizeof(gpubound_api),
                                                GPUBOUND_API_VERSION,
                                                &InternForApi,
                                                &Begin,
                                                &End,
                                                &Phase,
                                                &Step,
                                                &Counter,
                                                &HandOver,
                                                &Adopt,
                                                &Drop,
                                                &Pause,
                                                &Resume,
                                                &AddToLedger,
                                                &CopyOpenScopes,
                                                &HasEnded,
                                                &Wake,
                                                &Woken,
                                                &Found,
                                                &CurrentPhase,
                                                &BeginIterations};

  static void StopRecordingScopes() noexcept {
    __atomic_store_n(&table.begin, &DoNothing, __ATOMIC_RELAXED);
    __atomic_store_n(&table.end, &DoNothing, __ATOMIC_RELAXED);
  }
};

bool UsesTsc() noexcept {
  static const bool use_tsc = TscIsInvariant();
  return use_tsc;
}

}  // namespace

const gpubound_api* ApiTable() noexcept {
  return UsesTsc() ? &Entries<ReadSplitTsc>::table : &Entries<ReadSplitMonotonicNs>::table;
}

void StopRecordingScopes() noexcept {
  UsesTsc() ? Entries<ReadSplitTsc>::StopRecordingScopes()
            : Entries<ReadSplitMonotonicNs>::StopRecordingScopes();
}

}  // namespace gpubound
