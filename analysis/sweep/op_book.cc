// SPDX-License-Identifier: Apache-2.0
//
// Numbers rows of work once, then adds. One object, one caller.
#include "analysis/sweep/op_book.h"

#include <utility>

#include "analysis/trace/work_classes.h"

namespace gpubound {

OpBook::OpBook(const ProcessTrace& process, const Interval& span) : process_(process), span_(span) {
  if (process.ops.size() <= 1) return;
  place_of_.reserve(process.works.size());
  for (const Work& work : process.works) {
    Place& place = place_of_.emplace_back();
    if (work.op == 0 || work.op >= process.ops.size()) continue;
    place = {RowOf(process.ops[work.op], work.name, ClassOf(work)), work.begins_op};
  }
}

uint32_t OpBook::RowOf(const Op& op, const std::string& name, WorkClass work_class) {
  const auto next = static_cast<uint32_t>(rows_.size());
  const auto [found, is_new] = row_of_.try_emplace(Key(op, name, work_class), next);
  if (is_new) rows_.push_back({op, name, work_class});
  return found->second;
}

void OpBook::Visit(StateArchive& archive) {
  std::vector<uint32_t> used;
  for (uint32_t row = 0; row < rows_.size(); ++row) {
    if (rows_[row].count > 0) used.push_back(row);
  }
  uint64_t count = used.size();
  archive.All(count);
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    OpTime time;
    if (!archive.reads()) time = rows_[used[i]];
    archive.All(time.op.name, time.op.dims, time.op.types, time.op.values, time.name, time.count,
                time.calls, time.sum_ns);
    archive.IndexBelow(kWorkClasses, time.work_class);
    if (!archive.reads() || archive.failed()) continue;
    const uint32_t row = RowOf(time.op, time.name, time.work_class);
    rows_[row] = std::move(time);
  }
}

std::vector<OpTime> OpBook::Take() {
  std::erase_if(rows_, [](const OpTime& row) { return row.count == 0; });
  return std::move(rows_);
}

}  // namespace gpubound
