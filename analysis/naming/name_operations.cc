// SPDX-License-Identifier: Apache-2.0
//
// One pass over each thread. No state.
#include "analysis/naming/name_operations.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "analysis/naming/fact_table.h"
#include "analysis/naming/named_source.h"
#include "analysis/naming/thread_namer.h"
#include "analysis/trace/memory_source.h"

namespace gpubound {
namespace {

void ReadThread(const EventSource& source, uint32_t thread, ThreadNamer* namer) {
  const std::unique_ptr<ThreadCursor> cursor = source.ThreadEvents(thread);
  ThreadBatch batch;
  while (cursor->Next(&batch)) {
    if (batch.resync || batch.thinned) namer->Resync(batch.open);
    for (const ThreadEvent& event : batch.events) namer->Add(event);
  }
}

}  // namespace

void NameOperations(ProcessTrace* process) {
  const FactTable facts(process);
  if (facts.empty()) return;
  const std::shared_ptr<const EventSource> source = SourceOf(*process);
  std::vector<ThreadNamer> namers(process->threads.size(), ThreadNamer(facts));
  for (uint32_t thread = 0; thread < namers.size(); ++thread) {
    ReadThread(*source, thread, &namers[thread]);
  }
  const bool any = std::any_of(namers.begin(), namers.end(),
                               [](const ThreadNamer& namer) { return namer.has_gradients(); });
  NamingEdits edits;
  for (ThreadNamer& namer : namers) edits.push_back(namer.Finish(any));
  ApplyEdits(std::move(edits), process);
}

bool HoldNamedEvents(ProcessTrace* process) {
  const auto named = std::dynamic_pointer_cast<const NamedSource>(process->source);
  if (named == nullptr) return false;
  TakeEvents(*named, process);
  return true;
}

}  // namespace gpubound
