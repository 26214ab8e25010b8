// SPDX-License-Identifier: Apache-2.0
//
// Which pipe or socket a multiprocessing connection stands for, as labels: that of a wait on it,
// and the facts from which a reader finds out who is at the other end (analysis/wait_channels.h).
// Ends are told apart by inode, looked up once per connection: an entry per file descriptor,
// forgotten when a new connection is made on it and in a fork child.
//
// Call with the interpreter's lock held. Errors of Python are dropped: the program knows nothing of
// them. A process names a bounded number of channels and groups; what it waits for beyond is
// counted in the ledger and has no name.
#ifndef GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_
#define GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_

#include "annotate/python/extension/compat.h"

#include <cstdint>

namespace gpubound {

// The label of waits for what comes out of |connection|; 0 where it cannot be named. Tells the
// collector, the first time, that this process uses this end.
uint32_t ChannelLabel(PyObject* connection);

// This process writes into |connection|.
void NoteWriter(PyObject* connection);

// |connection| has just been made: what was known of its descriptor is about something else.
void ForgetChannel(PyObject* connection);

// In a fork child: it has said nothing yet about itself.
void ForgetChannels();

// Functions of the module _core. channel_name(connection): "socket:[5]", or None where it is
// neither socket nor pipe. note_channel_ends(one, other): both ends of a socket pair.
// wait_label(words): the label of a wait for any of the channels and processes named, 0 where there
// are too many. hold_channel(name): this process is whom waits on the channel of that name are for.
PyObject* ChannelName(PyObject* module, PyObject* connection);
PyObject* NoteChannelEnds(PyObject* module, PyObject* const* arguments, Py_ssize_t count);
PyObject* WaitLabel(PyObject* module, PyObject* words);
PyObject* HoldChannel(PyObject* module, PyObject* name);

}  // namespace gpubound

#endif  // GPUBOUND_ANNOTATE_PYTHON_CHANNELS_H_
