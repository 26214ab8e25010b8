// SPDX-License-Identifier: Apache-2.0
//
// Look-ups in a run that hold for any id, known or not. No state.
#include "analysis/trace/run.h"

#include <algorithm>

#include "proto/given_names.h"

namespace gpubound {
namespace {

template <typename Row, typename Id>
const Row& RowOf(const std::vector<Row>& rows, Id id) {
  static const Row none{};
  return Raw(id) < rows.size() ? rows[Raw(id)] : none;
}

}  // namespace

// Every trace has a row for functions beyond the table's capacity, whether it has calls or none.
bool ProcessFacts::MakesCalls() const {
  return std::any_of(labels.begin(), labels.end(), [](const Label& label) {
    return label.kind == LabelKind::kApi && label.text != kOtherNames;
  });
}

const Label& ProcessFacts::LabelOf(LabelId id) const { return RowOf(labels, id); }
const Device& ProcessFacts::DeviceOf(DeviceId id) const { return RowOf(devices, id); }
const Stream& ProcessFacts::StreamOf(StreamId id) const { return RowOf(streams, id); }
const Work& ProcessFacts::WorkOf(WorkId id) const { return RowOf(works, id); }
const Function& ProcessFacts::FunctionOf(FunctionId id) const { return RowOf(functions, id); }
const Frame& ProcessFacts::FrameOf(FrameId id) const { return RowOf(frames, id); }

}  // namespace gpubound
