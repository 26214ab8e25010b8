// SPDX-License-Identifier: Apache-2.0
//
// Adds up, keeps the largest, and writes runs. No state beyond the object.
#include "analysis/output/page/share_band.h"

#include <algorithm>

namespace gpubound {

BucketGrid GridOver(int64_t span_ns, uint32_t buckets) {
  const int64_t span = std::max<int64_t>(span_ns, 1);
  BucketGrid grid;
  grid.bucket_ns = (span - 1) / std::max<uint32_t>(buckets, 1) + 1;
  grid.buckets = static_cast<uint32_t>((span - 1) / grid.bucket_ns + 1);
  return grid;
}

void ShareBand::Add(int64_t begin_ns, int64_t end_ns, uint32_t name) {
  int64_t from = std::max({begin_ns, end_ns_, int64_t{0}});
  const int64_t until = std::min(end_ns, grid_.end_ns());
  while (from < until) {
    const auto bucket = static_cast<uint32_t>(from / grid_.bucket_ns);
    while (bucket_ < bucket) CloseBucket();
    const int64_t part = std::min(until, (bucket + 1) * grid_.bucket_ns) - from;
    const auto known = std::find_if(times_.begin(), times_.end(),
                                    [&](const auto& time) { return time.first == name; });
    if (known != times_.end()) {
      known->second += part;
    } else {
      times_.emplace_back(name, part);
    }
    from += part;
    end_ns_ = from;
  }
}

void ShareBand::CloseBucket() {
  std::sort(times_.begin(), times_.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  int64_t other_ns = 0;
  Shares shares;
  const auto share = [this](int64_t ns) {
    return static_cast<uint8_t>(
        std::max<int64_t>(1, (ns * 255 + grid_.bucket_ns / 2) / grid_.bucket_ns));
  };
  for (size_t i = 0; i < times_.size(); ++i) {
    if (i < kKept) {
      shares.emplace_back(times_[i].first, share(times_[i].second));
    } else {
      other_ns += times_[i].second;
    }
  }
  if (other_ns > 0) shares.emplace_back(kOther, share(other_ns));
  times_.clear();
  if (run_length_ > 0 && shares != run_) WriteRun();
  run_ = std::move(shares);
  ++run_length_;
  ++bucket_;
}

void ShareBand::WriteRun() {
  column_.Varint(uint64_t{run_length_} * coarser_);
  column_.Varint(run_.size());
  for (const auto& [name, share] : run_) {
    column_.Varint(name);
    column_.Byte(share);
  }
  run_length_ = 0;
}

const ByteColumn& ShareBand::Finish() {
  if (!times_.empty()) CloseBucket();
  if (run_length_ > 0) WriteRun();
  return column_;
}

}  // namespace gpubound
