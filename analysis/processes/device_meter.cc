// SPDX-License-Identifier: Apache-2.0
//
// Adds up. One object, one caller.
#include "analysis/processes/device_meter.h"

#include <algorithm>

namespace gpubound {
DeviceMeter::DeviceMeter(const std::vector<Interval>& windows) {
  std::vector<int64_t> bounds_ns = {INT64_MAX};
  for (const Interval& window : windows) {
    windows_.push_back({window, {}, SmiModel(window)});
    bounds_ns.push_back(window.begin_ns);
    bounds_ns.push_back(window.end_ns);
  }
  std::sort(bounds_ns.begin(), bounds_ns.end());
  bounds_ns.erase(std::unique(bounds_ns.begin(), bounds_ns.end()), bounds_ns.end());
  for (const int64_t end_ns : bounds_ns) {
    const bool in_first =
        !windows.empty() && end_ns > windows.front().begin_ns && end_ns <= windows.front().end_ns;
    pieces_.push_back({end_ns, in_first, {}});
  }
}

void DeviceMeter::Change(const RunningTimes& times, int64_t now_ns, RunningWork now) {
  Piece& piece = pieces_[piece_];
  for (RunningWork running = 1; running < times.size(); ++running) {
    piece.sums.Add(running, times[running]);
    if (piece.in_first) bands_.front().alone_ns += times[running];
  }
  now_ns_ = now_ns;
  running_of_.front() = running_ = now;
  busy_bands_ = now != 0 ? 1 : 0;
}

DeviceMeter::Stretch::Stretch(const DeviceMeter& meter)
    : now_ns_(meter.now_ns_),
      until_ns_(std::min(meter.pieces_[meter.piece_].end_ns, meter.undecided_ns_)) {
  if (meter.bands_.size() > kMostBands) {
    until_ns_ = now_ns_;
    return;
  }
  for (size_t band = 0; band < meter.bands_.size(); ++band) {
    bands_[band] = {meter.running_of_[band], 0};
  }
  Combine();
}

// Which of the two comes next nothing foretells, so there is no branch for it; and one of them goes
// on by a word each time, so that only the shorter rest of words is counted down.
void DeviceMeter::Stretch::RunPair(const std::array<Lane*, 2>& lanes, int64_t until_ns) {
  const uint32_t* word_0 = lanes[0]->ahead.data();
  const uint32_t* word_1 = lanes[1]->ahead.data();
  int64_t next_ns_0 = lanes[0]->next_ns;
  int64_t next_ns_1 = lanes[1]->next_ns;
  RunningWork next_0 = lanes[0]->next;
  RunningWork next_1 = lanes[1]->next;
  RunningWork now_0 = bands_[0].running;
  RunningWork now_1 = bands_[1].running;
  RunningTimes times{};
  int64_t now_ns = now_ns_;
  int64_t busy_ns_0 = 0;
  int64_t busy_ns_1 = 0;
  int64_t both_ns = 0;
  for (size_t left = std::min(lanes[0]->ahead.size(), lanes[1]->ahead.size()); left != 0; --left) {
    const bool is_1 = next_ns_1 < next_ns_0;
    const int64_t then_ns = is_1 ? next_ns_1 : next_ns_0;
    const uint32_t word = *(is_1 ? word_1 : word_0);
    if (then_ns >= until_ns || !DeviceActivity::IsChange(word)) break;
    const int64_t ns = then_ns - now_ns;
    now_ns = then_ns;
    times[now_0 | now_1] += ns;
    busy_ns_0 += now_0 != 0 ? ns : 0;
    busy_ns_1 += now_1 != 0 ? ns : 0;
    both_ns += now_0 != 0 && now_1 != 0 ? ns : 0;
    const int64_t step_ns = DeviceActivity::StepOf(word);
    const RunningWork next = DeviceActivity::RunningOf(word);
    now_0 = is_1 ? now_0 : next_0;
    now_1 = is_1 ? next_1 : now_1;
    next_0 = is_1 ? next_0 : next;
    next_1 = is_1 ? next : next_1;
    next_ns_0 += is_1 ? 0 : step_ns;
    next_ns_1 += is_1 ? step_ns : 0;
    word_0 += is_1 ? 0 : 1;
    word_1 += is_1 ? 1 : 0;
  }
  for (RunningWork running = 1; running < times.size(); ++running) {
    times_[running] += times[running];
  }
  bands_[0] = {now_0, bands_[0].busy_ns + busy_ns_0};
  bands_[1] = {now_1, bands_[1].busy_ns + busy_ns_1};
  alone_ns_[0] += busy_ns_0 - both_ns;
  alone_ns_[1] += busy_ns_1 - both_ns;
  now_ns_ = now_ns;
  Combine();
  const auto put = [](int64_t next_ns, RunningWork next, const uint32_t* word, Lane* lane) {
    lane->step_ns = next_ns - lane->next_ns;
    lane->taken = static_cast<size_t>(word - lane->ahead.data());
    lane->next_ns = next_ns;
    lane->next = next;
  };
  put(next_ns_0, next_0, word_0, lanes[0]);
  put(next_ns_1, next_1, word_1, lanes[1]);
}

void DeviceMeter::Take(const Stretch& stretch) {
  Piece& piece = pieces_[piece_];
  for (RunningWork running = 1; running < stretch.times_.size(); ++running) {
    piece.sums.Add(running, stretch.times_[running]);
  }
  for (size_t band = 0; band < bands_.size(); ++band) {
    const Stretch::Band& of = stretch.bands_[band];
    running_of_[band] = of.running;
    if (!piece.in_first) continue;
    bands_[band].alone_ns += stretch.alone_ns_[band];
    bands_[band].contended_ns += of.busy_ns - stretch.alone_ns_[band];
  }
  now_ns_ = stretch.now_ns_;
  Combine();
}

void DeviceMeter::Append(const DeviceMeter& later) {
  for (size_t piece = 0; piece < pieces_.size(); ++piece) {
    pieces_[piece].sums.Add(later.pieces_[piece].sums);
  }
  for (size_t window = 0; window < windows_.size(); ++window) {
    windows_[window].smi.Append(later.windows_[window].smi);
  }
  for (size_t band = 0; band < later.bands_.size(); ++band) {
    const DeviceBand& of = later.bands_[band];
    const size_t here = Use(of.process);
    bands_[here].alone_ns += of.alone_ns;
    bands_[here].contended_ns += of.contended_ns;
    running_of_[here] = later.running_of_[band];
  }
  now_ns_ = std::max(now_ns_, later.now_ns_);
  piece_ = std::max(piece_, later.piece_);
  undecided_ns_ = INT64_MIN;  // the next kernel tells
  Combine();
}

// What all bands do together.
void DeviceMeter::Combine() {
  running_ = 0;
  busy_bands_ = 0;
  for (const RunningWork of : running_of_) {
    running_ |= of;
    busy_bands_ += of != 0 ? 1 : 0;
  }
}

// Beyond the piece that the time is in.
void DeviceMeter::PassPieces(int64_t until_ns) {
  while (pieces_[piece_].end_ns <= now_ns_) ++piece_;
  int64_t from_ns = now_ns_;
  for (; pieces_[piece_].end_ns < until_ns; ++piece_) {
    Book(&pieces_[piece_], pieces_[piece_].end_ns - from_ns);
    from_ns = pieces_[piece_].end_ns;
  }
  Book(&pieces_[piece_], until_ns - from_ns);
}

void DeviceMeter::PassUnknown(int64_t until_ns) {
  for (; next_unknown_ < unknown_.size(); ++next_unknown_) {
    if (unknown_[next_unknown_].begin_ns > until_ns) return;
    for (Window& window : windows_) window.smi.AddUnknown(unknown_[next_unknown_]);
  }
}

void DeviceMeter::AddKernel(const Interval& time) {
  PassUnknown(time.begin_ns);
  undecided_ns_ = INT64_MAX;
  for (Window& window : windows_) {
    window.smi.Add(time);
    // Behind the window's end there is nothing to decide.
    if (time.end_ns >= window.time.end_ns) continue;
    undecided_ns_ = std::min(undecided_ns_, window.smi.undecided_ns());
  }
}

void DeviceMeter::BookBands(int64_t ns) {
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (running_of_[band] == 0) continue;
    (busy_bands_ == 1 ? bands_[band].alone_ns : bands_[band].contended_ns) += ns;
  }
}

DeviceMeter::Sums DeviceMeter::SumsOf(const Window& window) const {
  Sums sums = window.before;
  for (const Piece& piece : pieces_) {
    if (piece.end_ns > window.time.begin_ns && piece.end_ns <= window.time.end_ns) {
      sums.Add(piece.sums);
    }
  }
  return sums;
}

void DeviceMeter::Visit(StateArchive& archive, int64_t from_ns) {
  uint64_t count = windows_.size();
  archive.All(count);
  std::vector<Window> written;
  for (uint64_t i = 0; i < count && !archive.failed(); ++i) {
    Window window{{}, {}, SmiModel({})};
    if (!archive.reads()) {
      window = windows_[i];
      window.before = SumsOf(window);
    }
    archive.All(window.time);
    if (archive.reads()) window.smi = SmiModel(window.time);
    archive.All(window.before, window.smi);
    written.push_back(window);
  }
  archive.All(bands_);
  if (!archive.reads()) return;
  for (Window& window : windows_) {
    if (window.time.begin_ns >= from_ns) continue;
    const auto same = std::find_if(written.begin(), written.end(), [&](const Window& other) {
      const bool goes_on = other.time.end_ns == kOpenEnded && window.time.end_ns >= from_ns;
      return other.time == window.time || (goes_on && other.time.begin_ns == window.time.begin_ns);
    });
    if (same == written.end()) return archive.Fail();
    window.before = same->before;
    window.smi = same->smi.Of(window.time);
  }
  running_of_.assign(bands_.size(), 0);
  now_ns_ = from_ns;
}

void DeviceMeter::Renumber(const std::vector<size_t>& numbers) {
  for (DeviceBand& band : bands_) band.process = numbers[band.process];
}

size_t DeviceMeter::Use(size_t process) {
  for (size_t band = 0; band < bands_.size(); ++band) {
    if (bands_[band].process == process) return band;
  }
  bands_.push_back({process, 0, 0});
  running_of_.push_back(0);
  return bands_.size() - 1;
}

std::vector<DeviceTime> DeviceMeter::Times() const {
  std::vector<DeviceTime> times;
  for (const Window& window : windows_) {
    const Sums sums = SumsOf(window);
    DeviceTime& time = times.emplace_back();
    for (GpuState state = 1; state < kGpuUnknown; ++state) {
      const int64_t ns = sums.by_state[state];
      time.busy_ns += ns;
      if (HasClass(state, kCompute)) time.compute_ns += ns;
      if (HasClass(state, kComm)) time.comm_ns += ns;
      if (HasClass(state, kCopy)) time.copy_ns += ns;
    }
    time.graph_ns = sums.graph_ns;
    time.smi_model = window.smi.Share();
    time.most_smi_model = window.smi.MostShare();
  }
  return times;
}

}  // namespace gpubound
