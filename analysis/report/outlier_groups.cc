// SPDX-License-Identifier: Apache-2.0
//
// Per operation the sorted times of the ranks are cut where two neighbours lie apart. No state.
#include "analysis/report/outlier_groups.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

namespace gpubound {
namespace {

constexpr int64_t kLeastPartOfSpan = 50;  // a fiftieth

// Of |times|, those from |begin| to |end|.
struct Stretch {
  size_t begin = 0;
  size_t end = 0;
  size_t size() const { return end - begin; }
};

int64_t MedianOf(const RankTimes& times, const Stretch& stretch) {
  return times[stretch.begin + (stretch.size() - 1) / 2].ns;
}

int64_t MedianSpanOf(const Report& report, const std::vector<size_t>& ranks) {
  std::vector<int64_t> spans_ns;
  for (const size_t rank : ranks) spans_ns.push_back(report.processes[rank].span_ns);
  std::sort(spans_ns.begin(), spans_ns.end());
  return spans_ns[(spans_ns.size() - 1) / 2];
}

// Cut where neighbours are at least |gap_ns| apart.
std::vector<Stretch> CutAt(const RankTimes& times, int64_t gap_ns) {
  std::vector<Stretch> stretches = {{0, 1}};
  for (size_t i = 1; i < times.size(); ++i) {
    if (times[i].ns - times[i - 1].ns >= gap_ns) stretches.push_back({i, i});
    stretches.back().end = i + 1;
  }
  return stretches;
}

// Takes in what is nearer to |others| than that is wide.
void Widen(const RankTimes& times, Stretch* others) {
  for (bool changed = true; changed;) {
    changed = false;
    const auto width_ns = [&] { return times[others->end - 1].ns - times[others->begin].ns; };
    if (others->begin > 0 && times[others->begin].ns - times[others->begin - 1].ns <= width_ns()) {
      --others->begin;
      changed = true;
    }
    if (others->end < times.size() &&
        times[others->end].ns - times[others->end - 1].ns <= width_ns()) {
      ++others->end;
      changed = true;
    }
  }
}

// The largest; of two halves that with the first rank.
Stretch OthersOf(const RankTimes& times, const std::vector<Stretch>& stretches) {
  const auto first =
      std::min_element(times.begin(), times.end(),
                       [](const RankTime& a, const RankTime& b) { return a.process < b.process; });
  const auto at = static_cast<size_t>(first - times.begin());
  const auto order = [at](const Stretch& stretch) {
    return std::pair(stretch.size(), stretch.begin <= at && at < stretch.end);
  };
  return *std::max_element(
      stretches.begin(), stretches.end(),
      [&order](const Stretch& a, const Stretch& b) { return order(a) < order(b); });
}

using Found = std::map<std::vector<size_t>, std::vector<OutlierTime>>;  // by the group's processes

void FindApart(const std::string& operation, const RankTimes& times, int64_t gap_ns, Found* found) {
  const std::vector<Stretch> stretches = CutAt(times, gap_ns);
  Stretch others = OthersOf(times, stretches);
  if (2 * others.size() < times.size()) return;  // no two of them are alike
  Widen(times, &others);
  for (const Stretch& stretch : stretches) {
    if (stretch.begin < others.end && stretch.end > others.begin) continue;
    std::vector<size_t> processes;
    for (size_t i = stretch.begin; i < stretch.end; ++i) processes.push_back(times[i].process);
    std::sort(processes.begin(), processes.end());
    (*found)[std::move(processes)].push_back(
        {operation, MedianOf(times, stretch), MedianOf(times, others)});
  }
}

// What ranks may have in common.
class RankPlaces {
 public:
  RankPlaces(const Report& report, const std::vector<size_t>& ranks)
      : report_(report), ranks_(ranks) {
    std::map<std::string, std::vector<std::tuple<int64_t, int64_t, size_t>>> by_host;
    for (const size_t rank : ranks) {
      const ReportProcess& process = report.processes[rank];
      by_host[process.host].emplace_back(process.rank.value_or(-1), process.pid, rank);
    }
    for (auto& [host, on_host] : by_host) {
      std::sort(on_host.begin(), on_host.end());
      for (size_t i = 0; i < on_host.size(); ++i) place_[std::get<size_t>(on_host[i])] = i;
      sizes_[host] = on_host.size();
    }
    std::map<std::string, std::string> models;
    for (const ReportDevice& device : report.devices) models[device.uuid] = device.name;
    for (const size_t rank : ranks) {
      for (const ReportDeviceShare& share : report.processes[rank].device_shares) {
        const auto model = models.find(share.uuid);
        if (model != models.end()) gpus_[rank].insert(model->second);
      }
    }
  }

  void Name(OutlierGroup* group) const {
    std::map<std::string, size_t> on_host;
    std::set<size_t> places;
    for (const size_t process : group->processes) {
      ++on_host[report_.processes[process].host];
      places.insert(place_.at(process));
    }
    const bool whole_hosts = std::all_of(on_host.begin(), on_host.end(), [&](const auto& host) {
      return host.second == sizes_.at(host.first);
    });
    if (whole_hosts && sizes_.size() > 1) {
      for (const auto& [host, size] : on_host) group->hosts.push_back(host);
    }
    const bool one_of_each =
        on_host.size() == sizes_.size() && group->processes.size() == on_host.size();
    if (one_of_each && sizes_.size() > 1 && places.size() == 1 && !whole_hosts) {
      group->local_rank = *places.begin();
    }
    group->gpu = GpuOf(*group);
  }

 private:
  std::string GpuOf(const OutlierGroup& group) const {
    const auto first = gpus_.find(group.processes.front());
    if (first == gpus_.end() || first->second.size() != 1) return {};
    const std::string& model = *first->second.begin();
    for (const size_t rank : ranks_) {
      const bool member = std::binary_search(group.processes.begin(), group.processes.end(), rank);
      const auto found = gpus_.find(rank);
      const bool runs_there = found != gpus_.end() && found->second.contains(model);
      if (runs_there != member) return {};
    }
    return model;
  }

  const Report& report_;
  const std::vector<size_t>& ranks_;
  std::map<size_t, size_t> place_;       // on its host
  std::map<std::string, size_t> sizes_;  // of hosts
  std::map<size_t, std::set<std::string>> gpus_;
};

int64_t LongerBy(const OutlierTime& time) { return time.median_ns - time.others_median_ns; }

}  // namespace

std::vector<OutlierGroup> OutlierGroupsOf(const Report& report, const std::vector<size_t>& ranks,
                                          const RowTimes& times) {
  if (ranks.size() < kFewestForOutliers) return {};
  const int64_t gap_ns = std::max<int64_t>(MedianSpanOf(report, ranks) / kLeastPartOfSpan, 1);
  Found found;
  for (const auto& [row, of_row] : times) {
    const auto& [operation, layer] = row;
    if (layer.empty()) FindApart(operation, of_row, gap_ns, &found);
  }
  const RankPlaces places(report, ranks);
  std::vector<OutlierGroup> groups;
  for (auto& [processes, apart] : found) {
    OutlierGroup& group = groups.emplace_back();
    group.processes = processes;
    group.times = std::move(apart);
    std::stable_sort(group.times.begin(), group.times.end(),
                     [](const auto& x, const auto& y) { return LongerBy(x) > LongerBy(y); });
    places.Name(&group);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const OutlierGroup& a, const OutlierGroup& b) {
    return LongerBy(a.times.front()) > LongerBy(b.times.front());
  });
  if (groups.size() > kMostOutlierGroups) groups.resize(kMostOutlierGroups);
  return groups;
}

}  // namespace gpubound
