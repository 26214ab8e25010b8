// SPDX-License-Identifier: Apache-2.0
//
// The C++ surface with GPUBOUND_DISABLE, in a program whose other files are not disabled.
#define GPUBOUND_DISABLE
#include <gpubound/annotate.h>

#include "tests/annotate/users.h"

int DisabledCppUsesEverything() {
  int evaluated = 0;
  GPUBOUND_FUNCTION();
  GPUBOUND_PHASE("off");
  GPUBOUND_OPERATION("off");
  GPUBOUND_LAYER(simulator);
  GPUBOUND_ANNOTATION("off");
  const gpubound::Operation operation("off");
  const gpubound::Annotation annotation("off");
  const gpubound::AdoptedOperation adopted(gpubound_hand_over());
  gpubound::Phase("off");
  const gpubound::ScopedPhase phase("off");
  gpubound::Counter("off", ++evaluated);
  gpubound::Progress(1, 2);
  gpubound::Metadata("off", "off");
  gpubound::Pause();
  gpubound::Resume();
  GPUBOUND_COUNTER("off", ++evaluated);
  GPUBOUND_STEP(++evaluated);
  return evaluated;
}
