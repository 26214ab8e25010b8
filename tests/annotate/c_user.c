/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole C surface, in strict C11.
 */
#include <gpubound/annotate.h>

#include "tests/annotate/users.h"

void CUsesEveryMacro(int environment_steps) {
  GPUBOUND_FUNCTION();
  GPUBOUND_PHASE("c-phase");
  {
    GPUBOUND_OPERATION("c-operation");
    GPUBOUND_LAYER(simulator);
    GPUBOUND_ANNOTATION("c-annotation");
  }
  uint32_t scope = GPUBOUND_BEGIN_OPERATION("c-begin");
  uint32_t layer = GPUBOUND_BEGIN_LAYER(backend);
  gpubound_end(layer);
  gpubound_end(scope);
  GPUBOUND_COUNTER("c-counter", environment_steps);
  GPUBOUND_STEP(environment_steps);
}

void CUsesEveryFunction(const char* name) {
  const uint32_t operation = gpubound_begin_operation(name);
  const uint32_t annotation = gpubound_begin_annotation(name);
  gpubound_end(annotation);
  gpubound_phase(name);
  gpubound_counter(name, 0.5);
  gpubound_step(4);
  const uint64_t token = gpubound_hand_over();
  gpubound_adopt(token);
  gpubound_drop(token);
  gpubound_wake(5);
  gpubound_woken(5);
  gpubound_found(5);
  gpubound_progress(3, 10);
  gpubound_role("rollout");
  gpubound_metadata("seed \"1\"", "a\\b\n\xc3\xa4");
  gpubound_pause();
  gpubound_resume();
  gpubound_end(operation);
}

int CReturnsFromInsideAScope(int value) {
  GPUBOUND_OPERATION("c-outer");
  for (int i = 0; i < 2; ++i) {
    GPUBOUND_OPERATION("c-inner");
    if (i == value) return i;
  }
  return -1;
}
