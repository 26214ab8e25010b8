// SPDX-License-Identifier: Apache-2.0
//
// glibc's sets of fixed size.
#include "tools/launch/processors.h"

namespace gpubound {

Processors Processors::Allowed(pid_t thread) {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(thread, sizeof(set), &set) != 0) return {};
  return Processors(set);
}

Processors Processors::Current() {
  const int processor = sched_getcpu();
  if (!Allowed().set_) return {};  // there would be no way back
  if (processor < 0 || processor >= CPU_SETSIZE) return {};
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<size_t>(processor), &set);
  return Processors(set);
}

Processors Processors::Draw(std::mt19937_64* random) const {
  if (!set_ || CPU_COUNT(&*set_) == 0) return {};
  int left = std::uniform_int_distribution<int>(0, CPU_COUNT(&*set_) - 1)(*random);
  size_t processor = 0;
  while (!CPU_ISSET(processor, &*set_) || left-- > 0) ++processor;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(processor, &one);
  return Processors(one);
}

bool Processors::Contain(const Processors& others) const {
  if (!set_ || !others.set_) return false;
  cpu_set_t both;
  CPU_AND(&both, &*set_, &*others.set_);
  return CPU_EQUAL(&both, &*others.set_);
}

bool Processors::operator==(const Processors& other) const {
  return Contain(other) && other.Contain(*this);
}

void Processors::Hold(pid_t thread) const {
  if (set_) sched_setaffinity(thread, sizeof(*set_), &*set_);
}

}  // namespace gpubound
