// SPDX-License-Identifier: Apache-2.0
//
// What is rare in a log of activity. One object, one thread.
#include "analysis/timeline/device_activity.h"

#include <algorithm>
#include <iterator>

namespace gpubound {
namespace {

// What runs on devices, each found at once.
class RunningIndex {
 public:
  explicit RunningIndex(RunningOnDevices* running) : running_(*running) {
    for (size_t i = 0; i < running_.size(); ++i) PlaceOf(running_[i].first) = Place(i);
  }
  RunningWork& On(uint32_t device) {
    uint32_t& place = PlaceOf(device);
    if (place == 0) {
      place = Place(running_.size());
      running_.emplace_back(device, 0);
    }
    return running_[place - 1].second;
  }

 private:
  static uint32_t Place(size_t index) { return static_cast<uint32_t>(index + 1); }
  uint32_t& PlaceOf(uint32_t device) {
    if (device >= places_.size()) places_.resize(size_t{device} + 1);
    return places_[device];
  }
  RunningOnDevices& running_;
  std::vector<uint32_t> places_;  // from 1; 0: there is none yet
};

}  // namespace

RunningWork& DeviceActivity::On(uint32_t device) {
  if (device >= places_.size()) places_.resize(size_t{device} + 1);
  uint32_t& place = places_[device];
  if (place == 0) {
    running_.emplace_back(device, 0);
    place = static_cast<uint32_t>(running_.size());
  }
  return running_[place - 1].second;
}

void DeviceActivity::BeginWith(uint32_t device, RunningWork now) {
  (device == device_ ? now_ : On(device)) = now;
  marks_.front().running = Running();
}

// Of the words that came in the plain way, the last one tells.
void DeviceActivity::CatchUp() {
  const std::vector<uint32_t>& words = log_.open_block();
  if (!words.empty() && IsChange(words.back())) now_ = RunningOf(words.back());
}

RunningOnDevices DeviceActivity::Running() const {
  RunningOnDevices running = running_;
  RunningIndex(&running).On(device_) = now_;
  return running;
}

// The words that the open block has are over.
void DeviceActivity::Seal() {
  if (log_.open_block().empty()) return;
  CatchUp();
  log_.Seal();
  marks_.push_back({last_ns_, device_, Running()});
}

size_t DeviceActivity::size() const {
  size_t words = 0;
  for (size_t block = 0; block < log_.blocks(); ++block) words += log_.SizeOf(block);
  return words;
}

int64_t DeviceActivity::TimeBehind(size_t words) const {
  size_t block = 0;
  while (block < log_.blocks() && words >= log_.SizeOf(block)) words -= log_.SizeOf(block++);
  Reader reader(*this);
  reader.GoTo(block);
  if (words != 0) reader.ReadBlock();
  for (const uint32_t word : reader.words_.first(words)) reader.Take(word);
  return static_cast<int64_t>(reader.time_ns_);
}

void DeviceActivity::AddSlowPath(uint32_t device, int64_t time_ns, RunningWork now) {
  CatchUp();
  if (device != device_) {
    On(device_) = now_;
    now_ = On(device);
    device_ = device;
    Put(device << kEscapeShift | kDevice);
  }
  constexpr uint64_t kMostSteps = (uint64_t{1} << (32 - kEscapeShift)) - 1;
  uint64_t passed = static_cast<uint64_t>(time_ns) - last_ns_;
  while (passed >= kStep) {
    const uint64_t steps = std::min(passed / kStep, kMostSteps);
    last_ns_ += steps * kStep;
    Put(static_cast<uint32_t>(steps << kEscapeShift) | kSteps);
    passed -= steps * kStep;
  }
  Add(device, time_ns, now);
}

void DeviceActivity::Reader::GoTo(size_t block) {
  next_block_ = block;
  words_ = {};
  next_ = 0;
  time_ns_ = activity_.marks_[block].time_ns;
  device_ = activity_.marks_[block].device;
}

RunningOnDevices DeviceActivity::Reader::Seek(int64_t time_ns) {
  const std::vector<Mark>& marks = activity_.marks_;
  const auto behind = std::partition_point(marks.begin() + 1, marks.end(), [&](const Mark& mark) {
    return static_cast<int64_t>(mark.time_ns) < time_ns;
  });
  GoTo(static_cast<size_t>(std::distance(marks.begin(), behind)) - 1);
  RunningOnDevices running = marks[next_block_].running;
  RunningIndex index(&running);
  while (next_ != words_.size() || ReadBlock()) {
    const uint32_t word = words_[next_];
    if (IsChange(word) && static_cast<int64_t>(time_ns_ + StepOf(word)) >= time_ns) break;
    if (Take(word)) index.On(device_) = RunningOf(word);
    ++next_;
  }
  return running;
}

bool DeviceActivity::Reader::ReadBlock() {
  if (next_block_ == activity_.log_.blocks()) return false;
  words_ = activity_.log_.Read(next_block_++, &buffer_);
  next_ = 0;
  return true;
}

void DeviceActivity::Reader::Sum(uint64_t most_ns, Change* change, RunningTimes* times) {
  uint64_t passed = 0;
  RunningWork now = change->now;
  for (; GoesOn(); ++next_) {
    const uint32_t word = words_[next_];
    const uint64_t step = StepOf(word);
    if (step > most_ns - passed) break;
    passed += step;
    (*times)[now] += static_cast<int64_t>(step);
    now = RunningOf(word);
  }
  time_ns_ += passed;
  *change = {static_cast<int64_t>(time_ns_), device_, now};
}

void DeviceActivity::Reader::Escape(uint32_t word) {
  const uint32_t value = word >> kEscapeShift;
  if ((word & kSteps) == kSteps) {
    time_ns_ += value * kStep;
  } else {
    device_ = value;
  }
}

}  // namespace gpubound
