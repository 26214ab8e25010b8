// SPDX-License-Identifier: Apache-2.0
//
// Numbers names, keeps accounts. One object, one caller.
#include "analysis/sweep/kernel_book.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpubound {

namespace {

// Accounts lie in a cache further away, if in any: what an account has is asked for so many
// accounts before its turn, and the account itself twice as many.
constexpr size_t kAhead = 8;

template <typename Value>
void PrefetchAll(const Value& value) {
  constexpr size_t kLine = 64;
  const auto* const bytes = reinterpret_cast<const char*>(&value);
  for (size_t at = 0; at < sizeof(value); at += kLine) __builtin_prefetch(bytes + at, 1);
}

}  // namespace

KernelBook::KernelBook(const ProcessTrace& process, const Interval& span)
    : process_(process), span_(span), graphs_(process) {
  std::map<std::pair<std::string_view, WorkClass>, uint32_t> known;
  const auto number = [&](std::string_view name, WorkClass work_class) {
    const auto next = static_cast<uint32_t>(kinds_.size());
    const auto [found, is_new] = known.try_emplace({name, work_class}, next);
    if (is_new) kinds_.push_back({std::string(name), work_class, false, 0});
    return found->second;
  };
  kind_of_.reserve(process.works.size());
  // Rows of one name differ in geometry.
  for (const Work& work : process.works) kind_of_.push_back(number(work.name, ClassOf(work)));
  unnamed_ = number("(unnamed)", kCompute);
}

// Opens it where there is none.
uint32_t KernelBook::FindAccount(uint32_t kind, OperationIndex operation) {
  const uint64_t key = uint64_t{operation} << 32 | kind;
  const auto next = static_cast<uint32_t>(accounts_.size());
  const auto [found, is_new] = places_.try_emplace(key, next);
  if (is_new) {
    accounts_.push_back({operation, kind, {}, true});
    filled_.push_back(0);
  }
  if (kind >= newest_.size()) newest_.resize(kinds_.size());
  newest_[kind] = {operation, found->second};
  return found->second;
}

void KernelBook::AddLong(const GpuItem& item, OperationIndex operation, int64_t length_ns) {
  BookWaiting();
  const uint32_t place = PlaceOf(KindOf(item), operation);
  AddFilled(place, item.fill, item.fill_known, length_ns);
  accounts_[place].lengths.Add(length_ns);
}

void KernelBook::BookWaiting() {
  std::vector<uint32_t> ends = SumWaiting();
  by_account_.resize(waiting_.size());
  for (size_t i = 0; i < waiting_.size(); ++i) {
    by_account_[ends[place_of_waiting_[i]]++] = waiting_[i].length_ns;
  }
  BookLengths(ends);
  waiting_.clear();
}

// Everything but lengths. By account, where its first length will come: when all have come, that is
// where the next account's do.
std::vector<uint32_t> KernelBook::SumWaiting() {
  place_of_waiting_.clear();
  std::vector<uint32_t> counts;
  for (const Waiting& waiting : waiting_) {
    const uint32_t place = PlaceOf(waiting.kind, waiting.operation);
    AddFilled(place, waiting.fill, waiting.fill_known, waiting.length_ns);
    place_of_waiting_.push_back(place);
    if (place >= counts.size()) counts.resize(accounts_.size());
    ++counts[place];
  }
  counts.resize(accounts_.size());
  std::exclusive_scan(counts.begin(), counts.end(), counts.begin(), 0u);
  return counts;
}

// Of each account those of |by_account_| before its end.
void KernelBook::BookLengths(std::span<const uint32_t> ends) {
  size_t begin = 0;
  for (size_t place = 0; place < accounts_.size(); ++place) {
    if (place + 2 * kAhead < accounts_.size()) PrefetchAll(accounts_[place + 2 * kAhead]);
    if (place + kAhead < accounts_.size()) accounts_[place + kAhead].lengths.Prefetch();
    const std::span<const uint32_t> of = std::span(by_account_).subspan(begin, ends[place] - begin);
    begin = ends[place];
    if (!of.empty()) accounts_[place].lengths.Add(of);
  }
}

// Graphs that run the same are one kind, which has the number of the first of them.
uint32_t KernelBook::KindOfGraph(const GpuItem& item) {
  const auto [place, is_new] = kind_of_graph_.try_emplace(item.graph, 0);
  if (!is_new) return place->second;
  Kind kind{process_.WorkOf(item.work).name, item.work_class, true, 0};
  if (const KnownGraph* known = graphs_.Find(item.graph)) {
    kind.graph = known->graph;
    kind.name += " " + std::to_string(known->graph);
  }
  return place->second = NumberOf(kind);
}

// Also of a name that no row of the process has any more.
uint32_t KernelBook::NumberOf(const Kind& kind) {
  const auto known = std::find(kinds_.begin(), kinds_.end(), kind);
  const auto number = static_cast<uint32_t>(known - kinds_.begin());
  if (known == kinds_.end()) kinds_.push_back(kind);
  return number;
}

void KernelBook::Visit(StateArchive& archive) {
  BookWaiting();
  uint64_t count = accounts_.size();
  archive.All(count);
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    Kind kind{};
    Account account{};
    FilledTime filled = 0;
    if (!archive.reads()) {
      account = accounts_[i];
      kind = kinds_[account.kind];
      filled = filled_[i];
    }
    archive.All(kind.name, kind.is_graph, kind.graph, account.lengths, filled, account.fill_known);
    archive.IndexBelow(kWorkClasses, kind.work_class);
    archive.IndexBelow(archive.operations(), account.operation);
    if (!archive.reads() || archive.failed()) continue;
    account.kind = NumberOf(kind);
    const uint32_t place = FindAccount(account.kind, account.operation);
    accounts_[place] = std::move(account);
    filled_[place] = filled;
  }
}

std::vector<KernelTime> KernelBook::Take() {
  BookWaiting();
  std::vector<KernelTime> times;
  times.reserve(accounts_.size());
  for (size_t place = 0; place < accounts_.size(); ++place) {
    Account& account = accounts_[place];
    const Kind& kind = kinds_[account.kind];
    times.push_back({account.operation, kind.name, kind.work_class, std::move(account.lengths),
                     filled_[place], account.fill_known, kind.is_graph, kind.graph});
  }
  std::sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(a.operation, a.name, a.work_class) <
           std::tie(b.operation, b.name, b.work_class);
  });
  return times;
}

}  // namespace gpubound
