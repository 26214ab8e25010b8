// SPDX-License-Identifier: Apache-2.0
//
// Which thread put what another one takes out of a queue.Queue, also where that was there before
// anybody waited for it: the item that is taken as the n-th is the n-th that was put, in a queue
// that hands out what came first; in any other it is taken no sooner than that one was there. Where
// there is room for so many, one is put no sooner than the one before it was taken whose room it
// gets.
//
// Any thread that runs Python and holds the queue's mutex. Errors of Python are dropped. Only the
// first 4,096 queues (addresses of queues) are followed.
#ifndef GPUBOUND_ANNOTATE_PYTHON_QUEUE_ITEMS_H_
#define GPUBOUND_ANNOTATE_PYTHON_QUEUE_ITEMS_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

// For the collector's `wake` and `found`; 0: nothing is known.
struct QueuePlace {
  uint64_t item = 0;
  uint64_t room = 0;  // that it gets, or leaves
};

// |names| is the tuple ("queue", "maxsize"): the attributes of |queue| that hold its items and say
// how many it has room for. False where the program is to end, with the error that is set.
bool FindPlaceToPut(PyObject* queue, PyObject* names, QueuePlace* place);
bool FindPlaceTaken(PyObject* queue, PyObject* names, QueuePlace* place);  // once it was

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_QUEUE_ITEMS_H_
