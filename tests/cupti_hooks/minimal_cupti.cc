// SPDX-License-Identifier: Apache-2.0
//
// A library that has exactly the functions that gpubound cannot do without, doing nothing; compiled
// several times, with one missing or with another version. It only has to be found by name.
#include <cstdint>

#ifndef MINIMAL_CUPTI_VERSION
#define MINIMAL_CUPTI_VERSION 19
#endif

#define GPUBOUND_STUB(name) \
  extern "C" __attribute__((visibility("default"))) int name() { return 0; }

extern "C" __attribute__((visibility("default"))) int cuptiGetVersion(uint32_t* version) {
#ifdef MINIMAL_CUPTI_WITHOUT_VERSION
  *version = 0;
  return 999;
#else
  *version = MINIMAL_CUPTI_VERSION;
  return 0;
#endif
}
GPUBOUND_STUB(cuptiGetTimestamp)
GPUBOUND_STUB(cuptiGetCallbackName)
GPUBOUND_STUB(cuptiSubscribe)
GPUBOUND_STUB(cuptiUnsubscribe)
GPUBOUND_STUB(cuptiSetThreadIdType)
GPUBOUND_STUB(cuptiActivityRegisterCallbacks)
GPUBOUND_STUB(cuptiActivityEnable)
#ifndef MINIMAL_CUPTI_WITHOUT_FLUSH
GPUBOUND_STUB(cuptiActivityFlushAll)
#endif
GPUBOUND_STUB(cuptiActivityGetNextRecord)
GPUBOUND_STUB(cuptiActivityGetNumDroppedRecords)
