// SPDX-License-Identifier: Apache-2.0
//
// Windows and what follows from them. One object, one thread.
#include "cupti_hooks/query_sampler.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace gpubound {

void PeriodSum::Add(double ns, double per_ns) {
  const double calls = ns * per_ns;
  ++periods_;
  ns_ += ns;
  calls_ += calls;
  ns_ns_ += ns * ns;
  ns_calls_ += ns * calls;
  calls_calls_ += calls * calls;
}

std::optional<double> PeriodSum::StandardError(double ns) const {
  if (periods_ < 2 || ns_ <= 0) return std::nullopt;
  const auto n = static_cast<double>(periods_);
  // Of calls from what the rate over all periods would have in each.
  const double squares = calls_calls_ - 2 * Rate() * ns_calls_ + Rate() * Rate() * ns_ns_;
  return std::sqrt(std::max(0.0, squares) * n / (n - 1)) * ns / ns_;
}

QuerySampler::QuerySampler(World world, double share)
    : world_(std::move(world)), share_(share), begun_ns_(world_.now_ns()) {
  BeginPeriod(begun_ns_);
}

void QuerySampler::BeginPeriod(int64_t begin_ns) {
  begin_ns_ = begin_ns;
  const double free_ns = static_cast<double>(length_ns_) * (1 - share_);
  next_ns_ = begin_ns + static_cast<int64_t>(world_.random() * free_ns);
}

void QuerySampler::RunWindow() {
  if (last_) BookLast(last_->end_ns);
  const int64_t begin_ns = begin_ns_;
  const bool listens = world_.switch_callbacks(true);
  const int64_t end_ns = listens ? Listen() : world_.now_ns() + length_ns_;
  length_ns_ = std::min(2 * length_ns_, kLongestPeriodNs);
  BeginPeriod(end_ns);
  if (!listens) begin_ns_ = begin_ns;  // its time is that of the next one, too
}

int64_t QuerySampler::Listen() {
  const auto window_ns = static_cast<int64_t>(share_ * static_cast<double>(length_ns_));
  // What was counted while they were switched on, and will be while they are switched off, belongs
  // to no known length of time.
  world_.take();
  const int64_t from_ns = world_.now_ns();
  world_.wait_until(from_ns + window_ns);
  const uint64_t calls = world_.take();
  const int64_t until_ns = world_.now_ns();
  world_.switch_callbacks(false);
  world_.take();
  // Where the thread was held up, the period lasts until now.
  const int64_t end_ns = std::max(begin_ns_ + length_ns_, until_ns);
  if (until_ns > from_ns) {
    last_ = {begin_ns_, end_ns,
             static_cast<double>(calls) / static_cast<double>(until_ns - from_ns)};
  }
  return end_ns;
}

void QuerySampler::BookLast(int64_t until_ns) {
  const auto ns = static_cast<double>(until_ns - last_->begin_ns);
  sum_.Add(ns, last_->per_ns);
  Count(ns * last_->per_ns);
  last_.reset();
}

std::optional<double> QuerySampler::Finish() {
  const int64_t now_ns = world_.now_ns();
  if (last_) BookLast(std::min(last_->end_ns, now_ns));
  if (now_ns > begin_ns_) Count(sum_.Rate() * static_cast<double>(now_ns - begin_ns_));
  return sum_.StandardError(static_cast<double>(now_ns - begun_ns_));
}

void QuerySampler::Count(double calls) {
  rest_ += calls;
  const double whole = std::floor(rest_);
  rest_ -= whole;
  if (whole > 0) world_.count(static_cast<uint64_t>(whole));
}

}  // namespace gpubound
