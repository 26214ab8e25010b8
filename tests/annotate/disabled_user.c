/* SPDX-License-Identifier: Apache-2.0
 *
 * The whole C surface with GPUBOUND_DISABLE.
 */
#define GPUBOUND_DISABLE
#include <gpubound/annotate.h>

#include "tests/annotate/users.h"

int DisabledCUsesEverything(void) {
  int evaluated = 0;
  GPUBOUND_FUNCTION();
  GPUBOUND_PHASE("off");
  GPUBOUND_OPERATION("off");
  GPUBOUND_LAYER(simulator);
  GPUBOUND_ANNOTATION("off");
  uint32_t scope = GPUBOUND_BEGIN_OPERATION("off");
  gpubound_end(scope);
  gpubound_end(gpubound_begin_operation("off"));
  gpubound_end(gpubound_begin_annotation("off"));
  gpubound_end(GPUBOUND_BEGIN_FUNCTION());
  gpubound_end(GPUBOUND_BEGIN_LAYER(backend));
  gpubound_end(GPUBOUND_BEGIN_ANNOTATION("off"));
  gpubound_phase("off");
  gpubound_counter("off", 1);
  gpubound_adopt(gpubound_hand_over());
  gpubound_wake(1);
  gpubound_woken(1);
  gpubound_found(1);
  gpubound_progress(1, 2);
  gpubound_role("data");
  gpubound_metadata("off", "off");
  gpubound_pause();
  gpubound_resume();
  gpubound_drop(0);
  GPUBOUND_COUNTER("off", ++evaluated);
  GPUBOUND_STEP(++evaluated);
  return evaluated;
}
