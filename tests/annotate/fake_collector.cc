// SPDX-License-Identifier: Apache-2.0
//
// The table of the fake collector. Labels are numbered from 1 and keep their kind and text.
#include "tests/annotate/fake_collector.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

namespace gpubound {
namespace {

struct State {
  std::mutex mutex;
  std::vector<std::string> calls;
  std::vector<std::string> labels;  // by id - 1
  std::map<std::string, uint32_t> ids;
  int lookups = 0;
  int label_requests = 0;
  bool withdrawn = false;
};

std::atomic<uint32_t> g_ended{0};
std::atomic<uint32_t> g_phase{0};

State& Fake() {
  static State* state = new State;  // outlives threads and static destructors
  return *state;
}

std::string KindName(uint32_t kind, uint32_t layer) {
  switch (kind) {
    case GPUBOUND_LABEL_OPERATION:
      return "operation";
    case GPUBOUND_LABEL_ANNOTATION:
      return "annotation";
    case GPUBOUND_LABEL_LAYER:
      return "layer(" + std::to_string(layer) + ")";
    case GPUBOUND_LABEL_PHASE:
      return "phase";
    case GPUBOUND_LABEL_COUNTER:
      return "counter";
    default:
      return "kind(" + std::to_string(kind) + ")";
  }
}

void Note(const std::string& verb, uint32_t label, const std::string& more = "") {
  label &= ~GPUBOUND_LABEL_BLOCK;
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  const bool known = label >= 1 && label <= fake.labels.size();
  fake.calls.push_back(verb + (known ? fake.labels[label - 1] : "unknown label") + more);
}

void Note(const std::string& call) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  fake.calls.push_back(call);
}

uint32_t InternLabel(uint32_t kind, uint32_t layer, const char* domain, const char* text,
                     size_t length) {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  ++fake.label_requests;
  const std::string prefix = domain == nullptr ? "" : std::string(domain) + ":";
  const std::string label = KindName(kind, layer) + " " + prefix + std::string(text, length);
  const auto [entry, added] =
      fake.ids.emplace(label, static_cast<uint32_t>(fake.labels.size() + 1));
  if (added) fake.labels.push_back(label);
  // A label of no layer is for no scope: the name itself is what is told.
  if (kind == GPUBOUND_LABEL_LAYER && layer == GPUBOUND_LAYER_unset) {
    fake.calls.push_back("fact " + prefix + std::string(text, length));
  }
  return entry->second;
}

std::string Number(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), " %g", value);
  return text;
}

constexpr uint64_t kToken = 77;

thread_local std::vector<uint32_t> t_open;

uint32_t CopyOpenScopes(uint32_t* labels, uint32_t capacity) {
  std::copy_n(t_open.begin(), std::min<size_t>(t_open.size(), capacity), labels);
  return static_cast<uint32_t>(t_open.size());
}

constexpr gpubound_api kWholeTable = {
    sizeof(gpubound_api),
    GPUBOUND_API_VERSION,
    InternLabel,
    [](uint32_t label) {
      Note("begin ", label);
      t_open.push_back(label);
    },
    [](uint32_t label) {
      Note("end ", label);
      const auto innermost = std::find(t_open.rbegin(), t_open.rend(), label);
      if (innermost != t_open.rend()) t_open.erase(std::next(innermost).base());
    },
    [](uint32_t label) {
      Note("", label);
      g_phase = label;
    },
    [](uint64_t iteration) { Note("step " + std::to_string(iteration)); },
    [](uint32_t label, double value) { Note("", label, Number(value)); },
    []() {
      Note("hand over");
      return kToken;
    },
    [](uint64_t token) { Note("adopt " + std::to_string(token)); },
    [](uint64_t token) { Note("drop " + std::to_string(token)); },
    []() { Note("pause"); },
    []() { Note("resume"); },
    [](const char* counter, uint64_t amount, const char* note, size_t length) {
      Note("ledger " + std::string(counter == nullptr ? "-" : counter) + " " +
           std::to_string(amount) + " " + std::string(note == nullptr ? "" : note, length));
    },
    CopyOpenScopes,
    []() { return g_ended.load(); },
    [](uint64_t what) { Note("wake " + std::to_string(what)); },
    [](uint64_t what) { Note("woken " + std::to_string(what)); },
    [](uint64_t what) { Note("found " + std::to_string(what)); },
    []() { return g_phase.load(); },
    []() { Note("iterations begin"); },
};

gpubound_api g_table = kWholeTable;

}  // namespace

void FakeCollector::Reset() {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  fake.calls.clear();
  fake.lookups = 0;
  fake.label_requests = 0;
  fake.withdrawn = false;
  g_table = kWholeTable;
  g_phase = 0;
}

void FakeCollector::Withdraw() { Fake().withdrawn = true; }
void FakeCollector::SetTableSize(size_t bytes) { g_table.size = static_cast<uint32_t>(bytes); }
void FakeCollector::SetEnded(bool ended) { g_ended = ended ? 1 : 0; }
void FakeCollector::SetVersion(uint32_t version) { g_table.version = version; }

std::vector<std::string> FakeCollector::Take() {
  State& fake = Fake();
  const std::lock_guard lock(fake.mutex);
  return std::exchange(fake.calls, {});
}

int FakeCollector::lookups() { return Fake().lookups; }
int FakeCollector::label_requests() { return Fake().label_requests; }

}  // namespace gpubound

extern "C" __attribute__((visibility("default"))) const gpubound_api* gpubound_api_v1(void) {
  gpubound::State& fake = gpubound::Fake();
  const std::lock_guard lock(fake.mutex);
  ++fake.lookups;
  return fake.withdrawn ? nullptr : &gpubound::g_table;
}
