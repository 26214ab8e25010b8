// SPDX-License-Identifier: Apache-2.0
//
// What the machine that executes a virtual program knows of its threads. Plain values.
#ifndef GPUBOUND_TESTS_SIM_VIRTUAL_STATE_H_
#define GPUBOUND_TESTS_SIM_VIRTUAL_STATE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "tests/sim/sim_device.h"
#include "tests/sim/virtual_program.h"

namespace gpubound::sim {

enum class Stage : uint8_t { kStart, kSubmit, kWait, kReturn };  // of the current API call

struct ThreadState {
  TimeNs wake_ns = 0;
  size_t next = 0;
  Stage stage = Stage::kStart;
  bool blocked = false;
  bool awaits = false;          // blocked by a semaphore
  bool awaited = false;         // ... for this statement, or waited for a time
  std::vector<OpId> waits_for;  // with kWait
  TimeNs blocked_since_ns = 0;  // by a full queue
  size_t call = 0;              // index in history
  TimeNs last_call_end_ns = INT64_MIN / 2;
  std::map<uint32_t, size_t> open;  // handle -> index in history_.scopes
};

struct Semaphore {
  uint64_t signalled = 0;  // so many times
  uint64_t awaited = 0;

  bool ready() const { return signalled > awaited; }
};

// What threads wait for.
struct Waits {
  std::map<uint32_t, Semaphore> semaphores;
  std::map<uint32_t, TimeNs> times;

  // Whether |thread| cannot go on at |now_ns| with |statement|; it is made to wait then.
  bool HasToWait(const Statement& statement, TimeNs now_ns, ThreadState* thread) {
    if (statement.action == Action::kAwait && !semaphores[statement.slot].ready()) {
      thread->blocked = thread->awaits = thread->awaited = true;
      return true;
    }
    if (statement.action != Action::kAwaitTime || now_ns >= times[statement.slot]) return false;
    thread->wake_ns = times[statement.slot] + statement.wake_up_ns;
    thread->awaited = true;
    return true;
  }
};

}  // namespace gpubound::sim

#endif  // GPUBOUND_TESTS_SIM_VIRTUAL_STATE_H_
