// SPDX-License-Identifier: Apache-2.0
//
// Counts who meets whom. One object, one caller.
#include "analysis/processes/communicators.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace gpubound {
namespace {

// Of the kernels of one of two streams so many have to meet one of the other: times are a little off,
// and a rank may lack some of its kernels, as long as the other does not lack others.
constexpr double kTogether = 0.98;

}  // namespace

void Communicators::Add(const std::string& name, size_t stream, size_t rank, const Interval& time) {
  OfName& of = names_[name];
  if (time.begin_ns >= of.first_end_ns) CloseEnded(time.begin_ns, &of);
  Running begun{PlaceOf(stream, rank, &of), time.end_ns, true, {}};
  if (!of.spare.empty()) {
    begun.met = std::move(of.spare.back());
    of.spare.pop_back();
  }
  of.alive.Add(begun.place);
  of.begun.push_back(begun.place);
  of.first_end_ns = std::min(of.first_end_ns, time.end_ns);
  of.running.push_back(std::move(begun));
}

size_t Communicators::PlaceOf(size_t stream, size_t rank, OfName* of) {
  const auto [place, is_new] = of->places.try_emplace(stream, of->streams.size());
  if (is_new) {
    of->streams.push_back(stream);
    of->ranks.push_back(rank);
    of->kernels.push_back(0);
    of->met.emplace_back();
  }
  return place->second;
}

void Communicators::CloseEnded(int64_t now_ns, OfName* of) {
  MeetNew(of);
  of->first_end_ns = INT64_MAX;
  of->alive.Clear();
  std::erase_if(of->running, [&](Running& kernel) {
    const bool over = kernel.end_ns <= now_ns;
    if (over) {
      Close(&kernel, of);
    } else {
      of->alive.Add(kernel.place);
      of->first_end_ns = std::min(of->first_end_ns, kernel.end_ns);
    }
    return over;
  });
}

// Since the last time nothing has ended: all that run have met.
void Communicators::MeetNew(OfName* of) {
  const bool few = of->begun.size() < of->alive.words().size();
  for (Running& kernel : of->running) {
    if (!kernel.is_new && few) {
      for (const size_t place : of->begun) kernel.met.Add(place);
    } else {
      kernel.met.Add(of->alive);
    }
    kernel.is_new = false;
  }
  of->begun.clear();
}

void Communicators::Close(Running* kernel, OfName* of) {
  ++of->kernels[kernel->place];
  of->met[kernel->place].Count(kernel->met);
  kernel->met.Clear();
  of->spare.push_back(std::move(kernel->met));
}

void Communicators::Finish() {
  for (auto& [name, of] : names_) {
    CloseEnded(INT64_MAX, &of);
    FindGroups(&of);
  }
}

bool Communicators::AreTogether(const OfName& of, size_t a, size_t b) {
  if (of.ranks[a] == of.ranks[b]) return false;
  const auto share = [&of](size_t of_place, size_t with) {
    const uint64_t kernels = of.kernels[of_place];
    if (kernels < kFewest) return 0.0;
    return static_cast<double>(of.met[of_place].count(with)) / static_cast<double>(kernels);
  };
  return std::max(share(a, b), share(b, a)) >= kTogether;
}

// Streams that are together with others, directly or through further ones, are a group.
void Communicators::FindGroups(OfName* of) {
  const size_t count = of->streams.size();
  std::vector<size_t> stands_for(count);  // the place that stands for its group, itself at first
  std::iota(stands_for.begin(), stands_for.end(), 0);
  for (size_t a = 0; a < count; ++a) {
    for (size_t b = a + 1; b < count; ++b) {
      const size_t from = stands_for[b];
      const size_t to = stands_for[a];
      if (from == to || !AreTogether(*of, a, b)) continue;
      std::replace(stands_for.begin(), stands_for.end(), from, to);
    }
  }
  std::vector<size_t> members(count);
  for (const size_t place : stands_for) ++members[place];
  of->groups.assign(count, kAny);
  for (size_t place = 0; place < count; ++place) {
    if (members[stands_for[place]] > 1) of->groups[place] = of->streams[stands_for[place]];
  }
}

size_t Communicators::Group(const std::string& name, size_t stream) const {
  const auto of = names_.find(name);
  if (of == names_.end()) return kAny;
  const auto place = of->second.places.find(stream);
  return place == of->second.places.end() ? kAny : of->second.groups[place->second];
}

}  // namespace gpubound
