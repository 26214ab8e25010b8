// SPDX-License-Identifier: Apache-2.0
//
// Classifies work. One object, one thread.
#include "analysis/timeline/gpu_work.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace gpubound {
namespace {

// More devices than any machine has; what a damaged trace may name.
constexpr uint32_t kMaxDevices = 1024;
constexpr size_t kMaxPlaces = 1024;

// Multiprocessors of green contexts, by number of the device and of the context.
using Shares = std::map<std::pair<uint32_t, uint32_t>, uint32_t>;

Shares SharesOf(const ProcessTrace& process) {
  Shares shares;
  for (const ContextInfo& context : process.contexts) {
    if (context.is_green) shares[{context.device, context.context}] = context.multiprocessors;
  }
  return shares;
}

}  // namespace

WorkClassifier::WorkClassifier(const ProcessTrace& process)
    : process_(process), graphs_(process), places_(1), known_works_(process.works.size()) {
  classes_.reserve(process.works.size());
  for (const Work& work : process.works) classes_.push_back(ClassOf(work));
  const Shares shares = SharesOf(process);
  std::map<Place, uint32_t> numbers = {{places_.front(), 0}};
  for (const Stream& stream : process.streams) {
    Place place{std::min(Raw(stream.device), kMaxDevices - 1), 0};
    const auto share = shares.find({process.DeviceOf(stream.device).info.index, stream.context});
    if (share != shares.end()) place.multiprocessors = share->second;
    const auto [number, is_new] = numbers.try_emplace(place, static_cast<uint32_t>(places_.size()));
    if (is_new) places_.push_back(place);
    place_of_.push_back(number->second);
    devices_ = std::max(devices_, place.device + 1);
  }
  known_places_ = std::min<size_t>(places_.size(), kMaxPlaces);
  WorkFacts not_looked_up;
  not_looked_up.device = kNotLookedUp;
  known_.resize(known_places_ * known_works_, not_looked_up);
}

GpuItem WorkClassifier::ClassifySlowPath(const DeviceWork& work) {
  const size_t number = PlaceOf(work.stream);
  const Place& place = places_[number];
  const size_t row = Raw(work.work);
  GpuItem item;
  item.begin_ns = work.start_ns;
  item.end_ns = work.end_ns;
  item.device = static_cast<uint16_t>(place.device);
  item.work = work.work;
  std::optional<Fill> fill;
  if (row < known_works_) {
    const WorkInfo& info = process_.works[row].info;
    item.work_class = classes_[row];
    item.other_end = info.is_other_end();
    if (place.device < process_.devices.size()) {
      fill = SmFill(info, process_.devices[place.device].info, place.multiprocessors);
    }
  }
  item.fill = fill.value_or(kFillOne);
  item.fill_known = fill.has_value();
  fill_is_upper_bound_ |= !item.fill_known;
  if (process_.WorkOf(work.work).info.kind == WorkKind::kGraph) {
    DescribeGraph(work.graph, &item);
  } else if (number < known_places_ && row < known_works_) {
    known_[number * known_works_ + row] = item;
  }
  return item;
}

void WorkClassifier::DescribeGraph(uint32_t graph, GpuItem* item) {
  item->is_graph = true;
  item->graph = graph;
  const KnownGraph* known = graphs_.Find(graph);
  if (known == nullptr) return;
  item->work_class = known->work_class;
  if (known->mixed) ++mixed_graphs_;
}

}  // namespace gpubound
