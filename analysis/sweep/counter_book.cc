// SPDX-License-Identifier: Apache-2.0
//
// One cursor for each device; each sample is visited once for each operation that it covers.
#include "analysis/sweep/counter_book.h"

#include <algorithm>
#include <map>

namespace gpubound {

CounterBook::CounterBook(const std::vector<CounterSample>& samples, int64_t begin_ns,
                         OperationIndex operation)
    : operation_(operation), now_ns_(begin_ns) {
  std::map<uint32_t, Device> devices;
  for (const CounterSample& sample : samples) devices[sample.device].samples.push_back(&sample);
  for (auto& [number, device] : devices) devices_.push_back(std::move(device));
}

void CounterBook::BookUntil(int64_t now_ns) {
  if (accounts_.size() <= operation_) accounts_.resize(operation_ + 1);
  Account& account = accounts_[operation_];
  const Interval time{now_ns_, now_ns};
  for (Device& device : devices_) {
    for (; device.next < device.samples.size(); ++device.next) {
      const CounterSample& sample = *device.samples[device.next];
      if (sample.begin_ns >= now_ns) break;
      Book(sample, Interval{sample.begin_ns, sample.end_ns}.ClippedTo(time).length(), &account);
      if (sample.end_ns > now_ns) break;
    }
  }
  now_ns_ = now_ns;
}

void CounterBook::Book(const CounterSample& sample, int64_t ns, Account* account) {
  account->sampled_ns += ns;
  for (size_t quantity = 0; quantity < kCounterQuantities; ++quantity) {
    if (sample.percent[quantity] < 0) continue;
    account->percent_ns[quantity] += sample.percent[quantity] * static_cast<double>(ns);
    account->known_ns[quantity] += ns;
  }
}

std::vector<CounterMeans> CounterBook::Finish(int64_t end_ns, size_t operations) {
  if (devices_.empty() && accounts_.empty()) return {};
  BookUntil(end_ns);
  accounts_.resize(operations);
  std::vector<CounterMeans> means(operations);
  for (size_t i = 0; i < operations; ++i) {
    means[i].sampled_ns = accounts_[i].sampled_ns;
    for (size_t quantity = 0; quantity < kCounterQuantities; ++quantity) {
      const auto known_ns = static_cast<double>(accounts_[i].known_ns[quantity]);
      if (known_ns > 0)
        means[i].share[quantity] = accounts_[i].percent_ns[quantity] / 100 / known_ns;
    }
  }
  return means;
}

}  // namespace gpubound
