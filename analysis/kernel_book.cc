// SPDX-License-Identifier: Apache-2.0
//
// Numbers names, keeps accounts. One object, one caller.
#include "analysis/kernel_book.h"

#include <algorithm>
#include <map>
#include <span>
#include <string_view>
#include <tuple>
#include <utility>

namespace gpubound {

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

uint32_t KernelBook::OpenAccount(uint32_t kind, OperationIndex operation) {
  if (operation >= places_.size()) places_.resize(size_t{operation} + 1);
  places_[operation].resize(kinds_.size(), kNone);
  const auto place = static_cast<uint32_t>(accounts_.size());
  places_[operation][kind] = place;
  accounts_.push_back({operation, kind, {}, 0, true});
  return place;
}

void KernelBook::BookWaiting() {
  // By account, where its first one comes, and when all have come, where the next account's does.
  std::vector<uint32_t> ends(accounts_.size() + 1);
  for (const Waiting& waiting : waiting_) ++ends[waiting.place + 1];
  for (size_t place = 1; place < ends.size(); ++place) ends[place] += ends[place - 1];
  std::vector<Waiting>& by_account = by_account_;
  by_account.resize(waiting_.size());
  for (const Waiting& waiting : waiting_) by_account[ends[waiting.place]++] = waiting;
  size_t begin = 0;
  for (size_t place = 0; place < accounts_.size(); ++place) {
    const std::span<const Waiting> of = std::span(by_account).subspan(begin, ends[place] - begin);
    begin = ends[place];
    if (of.empty()) continue;
    Account& account = accounts_[place];
    account.lengths.Add(of.size(), [of](size_t i) { return of[i].length_ns; });
    for (const Waiting& waiting : of) {
      account.filled += FilledTime{waiting.fill} * static_cast<uint64_t>(waiting.length_ns);
    }
  }
  waiting_.clear();
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
    if (!archive.reads()) {
      account = accounts_[i];
      kind = kinds_[account.kind];
    }
    archive.All(kind.name, kind.is_graph, kind.graph, account.lengths, account.filled,
                account.fill_known);
    archive.IndexBelow(kWorkClasses, kind.work_class);
    archive.IndexBelow(archive.operations(), account.operation);
    if (!archive.reads() || archive.failed()) continue;
    account.kind = NumberOf(kind);
    const uint32_t place = OpenAccount(account.kind, account.operation);
    accounts_[place] = std::move(account);
  }
}

std::vector<KernelTime> KernelBook::Take() {
  BookWaiting();
  std::vector<KernelTime> times;
  times.reserve(accounts_.size());
  for (Account& account : accounts_) {
    const Kind& kind = kinds_[account.kind];
    times.push_back({account.operation, kind.name, kind.work_class, std::move(account.lengths),
                     account.filled, account.fill_known, kind.is_graph, kind.graph});
  }
  std::sort(times.begin(), times.end(), [](const KernelTime& a, const KernelTime& b) {
    return std::tie(a.operation, a.name, a.work_class) <
           std::tie(b.operation, b.name, b.work_class);
  });
  return times;
}

}  // namespace gpubound
