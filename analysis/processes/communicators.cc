// SPDX-License-Identifier: Apache-2.0
//
// Counts who meets whom. One object, one caller.
#include "analysis/processes/communicators.h"

#include <algorithm>

namespace gpubound {
namespace {

// Of the kernels of one of two lanes so many have to meet one of the other: times are a little off,
// and a rank may lack some of its kernels, as long as the other does not lack others.
constexpr double kTogether = 0.98;

void AddOnce(size_t lane, std::vector<size_t>* lanes) {
  if (std::find(lanes->begin(), lanes->end(), lane) == lanes->end()) lanes->push_back(lane);
}

}  // namespace

void Communicators::Add(const std::string& name, size_t lane, size_t rank, const Interval& time) {
  OfName& of = names_[name];
  std::erase_if(of.running, [&](const Running& kernel) {
    const bool over = kernel.end_ns <= time.begin_ns;
    if (over) Close(kernel, &of);
    return over;
  });
  Running begun{lane, rank, time.end_ns, {}};
  for (Running& other : of.running) {
    if (other.rank == rank) continue;
    AddOnce(lane, &other.met);
    AddOnce(other.lane, &begun.met);
  }
  of.running.push_back(std::move(begun));
}

void Communicators::Close(const Running& kernel, OfName* of) {
  ++of->kernels[kernel.lane];
  for (const size_t lane : kernel.met) ++of->met[{kernel.lane, lane}];
}

void Communicators::Finish() {
  for (auto& [name, of] : names_) {
    for (const Running& kernel : of.running) Close(kernel, &of);
    of.running.clear();
    FindGroups(&of);
  }
}

bool Communicators::AreTogether(const OfName& of, size_t a, size_t b) {
  const auto share = [&of](size_t of_lane, size_t with) {
    const auto met = of.met.find({of_lane, with});
    const uint64_t kernels = of.kernels.at(of_lane);
    if (met == of.met.end() || kernels < kFewest) return 0.0;
    return static_cast<double>(met->second) / static_cast<double>(kernels);
  };
  return std::max(share(a, b), share(b, a)) >= kTogether;
}

// Lanes that are together with others, directly or through further ones, are a group.
void Communicators::FindGroups(OfName* of) {
  std::map<size_t, size_t> group;  // a lane that stands for it, itself at first
  for (const auto& [lane, kernels] : of->kernels) group[lane] = lane;
  for (const auto& [pair, count] : of->met) {
    const size_t from = group[pair.first];
    const size_t to = group[pair.second];
    if (from == to || !AreTogether(*of, pair.first, pair.second)) continue;
    for (auto& [lane, of_lane] : group) of_lane = of_lane == from ? to : of_lane;
  }
  std::map<size_t, size_t> lanes;
  for (const auto& [lane, of_lane] : group) ++lanes[of_lane];
  for (const auto& [lane, of_lane] : group) {
    if (lanes[of_lane] > 1) of->groups[lane] = of_lane;
  }
}

size_t Communicators::Group(const std::string& name, size_t lane) const {
  const auto of = names_.find(name);
  if (of == names_.end()) return kAny;
  const auto group = of->second.groups.find(lane);
  return group == of->second.groups.end() ? kAny : group->second;
}

}  // namespace gpubound
