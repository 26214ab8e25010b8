// SPDX-License-Identifier: Apache-2.0
//
// Device work as the sweep sees it: an interval with its class, its device and its SM fill. One
// object, one thread.
#ifndef GPUBOUND_ANALYSIS_TIMELINE_GPU_WORK_H_
#define GPUBOUND_ANALYSIS_TIMELINE_GPU_WORK_H_

#include <compare>
#include <cstdint>
#include <vector>

#include "analysis/timeline/sm_fill.h"
#include "analysis/trace/known_graphs.h"
#include "analysis/trace/run.h"
#include "analysis/trace/work_classes.h"

namespace gpubound {

// What is known of work beside its times; but for whole graphs it is that of the work's row. It
// fills a register, so that what was just put together can be copied without waiting for its parts.
struct alignas(16) WorkFacts {
  Fill fill = 0;
  WorkId work{};
  uint32_t graph = 0;   // recorded as a whole: which
  uint16_t device = 0;  // DeviceId
  WorkClass work_class = kCompute;
  bool fill_known : 1 = true;  // else the work was taken as filling the device
  // Of a copy that another item stands for: its device is busy, no more.
  bool other_end : 1 = false;
  bool is_graph : 1 = false;  // recorded as a whole: busy throughout, as far as can be told
};
static_assert(sizeof(WorkFacts) == 16);

struct GpuItem : WorkFacts {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  template <typename Archive>
  void Visit(Archive& archive) {
    bool is_known = fill_known;
    bool is_other_end = other_end;
    bool of_graph = is_graph;
    archive.All(begin_ns, end_ns, fill, device, work, is_known, is_other_end, of_graph, graph);
    archive.IndexBelow(kWorkClasses, work_class);
    fill_known = is_known;
    other_end = is_other_end;
    is_graph = of_graph;
  }
};

// Looks up class and fill once per distinct work row and place, not once per record; but for whole
// graphs, which share a row. A place is a device or, of its green contexts, those with so many
// multiprocessors.
class WorkClassifier {
 public:
  explicit WorkClassifier(const ProcessTrace& process);  // outlives the object

  // What is known since other work of that row and place was classified; null: nothing.
  const WorkFacts* Known(const DeviceWork& work) const {
    const size_t place = PlaceOf(work.stream);
    const size_t row = Raw(work.work);
    if (place >= known_places_ || row >= known_works_) return nullptr;
    const WorkFacts& known = known_[place * known_works_ + row];
    return known.device == kNotLookedUp ? nullptr : &known;
  }
  GpuItem Classify(const DeviceWork& work) {
    const WorkFacts* const known = Known(work);
    return known != nullptr ? GpuItem{*known, work.start_ns, work.end_ns} : ClassifySlowPath(work);
  }

  // All device numbers are below.
  uint32_t devices() const { return devices_; }
  // Work whose geometry or device is not known was taken as filling the device.
  bool fill_is_upper_bound() const { return fill_is_upper_bound_; }
  // Whole graphs whose nodes are of several classes: all of them count as compute.
  uint64_t mixed_graphs() const { return mixed_graphs_; }
  template <typename Archive>
  void Visit(Archive& archive) {
    archive.All(fill_is_upper_bound_, mixed_graphs_);
  }

 private:
  struct Place {
    uint32_t device = 0;           // DeviceId
    uint32_t multiprocessors = 0;  // that work may use; 0: all of the device's
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  static constexpr uint16_t kNotLookedUp = 0xffff;  // as a device
  size_t PlaceOf(StreamId stream) const {
    return Raw(stream) < place_of_.size() ? place_of_[Raw(stream)] : 0;
  }
  GpuItem ClassifySlowPath(const DeviceWork& work);
  void DescribeGraph(uint32_t graph, GpuItem* item);

  const ProcessTrace& process_;
  const KnownGraphs graphs_;
  std::vector<WorkClass> classes_;  // by work row
  std::vector<Place> places_;       // the first is that of a stream that is not known
  std::vector<uint32_t> place_of_;  // by stream
  size_t known_places_ = 0;
  size_t known_works_ = 0;
  std::vector<WorkFacts> known_;  // by place and work row
  uint32_t devices_ = 1;
  bool fill_is_upper_bound_ = false;
  uint64_t mixed_graphs_ = 0;
};

}  // namespace gpubound

#endif  // GPUBOUND_ANALYSIS_TIMELINE_GPU_WORK_H_
