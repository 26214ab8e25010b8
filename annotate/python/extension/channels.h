// SPDX-License-Identifier: Apache-2.0
//
// Which pipe or socket a multiprocessing connection stands for, as labels: that of a wait on it,
// and the facts from which a reader finds out who is at the other end
// (analysis/reader/wait_channels.h). Ends are told apart by inode, looked up once per connection:
// an entry per file descriptor, forgotten when a new connection is made on it and in a fork child.
//
// Any thread that runs Python. Errors of Python are dropped: the program knows nothing of them. A
// process names a bounded number of channels and groups; what it waits for beyond is counted in the
// ledger and has no name.
//
// |handle_name| is the str "_handle": the attribute that holds a connection's descriptor.
#ifndef GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_
#define GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_

#include "annotate/python/extension/compat.h"

#include <cstddef>
#include <cstdint>

namespace gpubound {

// The label of waits for what comes out of |connection|; 0 where it cannot be named. Tells the
// collector, the first time, that this process uses this end.
uint32_t ChannelLabel(PyObject* connection, PyObject* handle_name);

// This process writes into |connection|.
void NoteWriter(PyObject* connection, PyObject* handle_name);

// |connection| has just been made: what was known of its descriptor is about something else.
void ForgetChannel(PyObject* connection, PyObject* handle_name);

// In a fork child: it has said nothing yet about itself.
void ForgetChannels();

// "socket:[5]", or None where |connection| is neither socket nor pipe. Null with an error set.
PyObject* ChannelName(PyObject* connection, PyObject* handle_name);

// |one| and |other| are the two ends of a pair.
void NoteChannelEnds(PyObject* one, PyObject* other, PyObject* handle_name);

// The label of a wait for any of the channels and processes named in |text|; 0 where there are too
// many.
uint32_t WaitLabel(const char* text, size_t length);

// This process is whom waits on the channel called |name| are for. False where that is too long.
bool HoldChannel(const char* name, size_t length);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_
