// SPDX-License-Identifier: Apache-2.0
//
// Instructions that do nothing, one behind the other, so that none is executed twice.
#include "tools/calibration/other_work.h"

// Of four bytes.
#ifdef __x86_64__
#define GPUBOUND_NO_OPERATION ".byte 0x0f, 0x1f, 0x40, 0x00\n"
#else
#define GPUBOUND_NO_OPERATION "nop\n"
#endif

asm(".text\n"
    ".p2align 6\n"
    "gpubound_other_work:\n"
    ".rept 131072\n" GPUBOUND_NO_OPERATION
    ".endr\n"
    "ret\n");

extern "C" void gpubound_other_work() asm("gpubound_other_work");

namespace gpubound::calibration {

void DoOtherWork() { gpubound_other_work(); }

}  // namespace gpubound::calibration
