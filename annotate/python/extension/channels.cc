// SPDX-License-Identifier: Apache-2.0
//
// The table of descriptors, and the names of what they are.
#include "annotate/python/extension/channels.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

constexpr int kMaxDescriptors = 4096;  // connections on higher ones are looked at each time
constexpr size_t kNameBytes = 48;
constexpr size_t kMaxNames = 16384;  // of about kNameBytes each: a third of the collector's room
constexpr size_t kMaxBytes = 3000;   // of one label; the collector cuts at 4096

struct Descriptor {
  uint32_t label = 0;      // of waits on it; 0: not looked at
  bool unnamed = false;    // looked at, and it has no name
  bool announced = false;  // the collector knows that this process holds it
};

Descriptor g_descriptors[kMaxDescriptors];
size_t g_names = 0;
PyObject* g_handle_name = nullptr;  // "_handle"

// The descriptor of a multiprocessing connection; -1 for a closed one, or anything else.
int DescriptorOf(PyObject* connection) {
  if (g_handle_name == nullptr) g_handle_name = PyUnicode_InternFromString("_handle");
  PyObject* handle =
      g_handle_name == nullptr ? nullptr : PyObject_GetAttr(connection, g_handle_name);
  const long descriptor = handle != nullptr && PyLong_Check(handle) ? PyLong_AsLong(handle) : -1;
  Py_XDECREF(handle);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return descriptor < 0 || descriptor > INT32_MAX ? -1 : static_cast<int>(descriptor);
}

enum class Kind { kNone, kPipe, kSocket };

// Writes "pipe:[5]" or "socket:[5]", as /proc/self/fd spells it.
Kind Describe(int descriptor, char (&name)[kNameBytes]) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return Kind::kNone;
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!is_pipe && !S_ISSOCK(status.st_mode)) return Kind::kNone;
  std::snprintf(name, kNameBytes, "%s:[%llu]", is_pipe ? "pipe" : "socket",
                static_cast<unsigned long long>(status.st_ino));
  return is_pipe ? Kind::kPipe : Kind::kSocket;
}

// 0 where this process has named as much as it may, or the text is too long.
uint32_t Intern(uint32_t layer, const char* domain, const char* text, size_t length) {
  if (g_names >= kMaxNames || length > kMaxBytes) {
    g_table.ledger("waits_unnamed", 1, nullptr, 0);
    return 0;
  }
  g_names += 1 + length / kNameBytes;
  return g_table.label(GPUBOUND_LABEL_LAYER, layer, domain, text, length);
}

// A label that no scope has: the collector keeps it, and a reader finds the fact in it.
void Tell(const char* domain, const char* first, const char* second) {
  char text[2 * kNameBytes];
  const int length = std::snprintf(text, sizeof(text), "%s %s", first, second);
  Intern(GPUBOUND_LAYER_unset, domain, text, static_cast<size_t>(length));
}

// By process, since a fork child has the labels of its parent.
void TellHolder(const char* name) {
  char pid[kNameBytes];
  std::snprintf(pid, sizeof(pid), "%d", static_cast<int>(getpid()));
  Tell("channel holder", pid, name);
}

}  // namespace

uint32_t ChannelLabel(PyObject* connection) {
  const int descriptor = DescriptorOf(connection);
  if (descriptor < 0 || descriptor >= kMaxDescriptors) return 0;
  Descriptor& known = g_descriptors[descriptor];
  if (known.label != 0 || known.unnamed) return known.label;
  char name[kNameBytes];
  const Kind kind = Describe(descriptor, name);
  if (kind != Kind::kNone) {
    known.label = Intern(GPUBOUND_LAYER_wait, "channel", name, std::strlen(name));
  }
  known.unnamed = known.label == 0;
  // Who reads from a pipe tells nothing to those who wait for what comes out of it.
  if (kind == Kind::kSocket && !known.announced) {
    known.announced = true;
    TellHolder(name);
  }
  return known.label;
}

void NoteWriter(PyObject* connection) {
  const int descriptor = DescriptorOf(connection);
  if (descriptor < 0 || descriptor >= kMaxDescriptors) return;
  if (g_descriptors[descriptor].announced) return;
  g_descriptors[descriptor].announced = true;
  char name[kNameBytes];
  if (Describe(descriptor, name) != Kind::kNone) TellHolder(name);
}

void ForgetChannel(PyObject* connection) {
  const int descriptor = DescriptorOf(connection);
  if (descriptor >= 0 && descriptor < kMaxDescriptors) g_descriptors[descriptor] = {};
}

void ForgetChannels() {
  for (Descriptor& descriptor : g_descriptors) descriptor = {};
  g_names = 0;
}

PyObject* ChannelName(PyObject*, PyObject* connection) {
  char name[kNameBytes];
  if (Describe(DescriptorOf(connection), name) == Kind::kNone) Py_RETURN_NONE;
  return PyUnicode_FromString(name);
}

PyObject* NoteChannelEnds(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  char names[2][kNameBytes];
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "note_channel_ends() takes two connections");
    return nullptr;
  }
  // Both ends of a pipe are the same inode: there is nothing to tell.
  if (Describe(DescriptorOf(arguments[0]), names[0]) == Kind::kSocket &&
      Describe(DescriptorOf(arguments[1]), names[1]) == Kind::kSocket) {
    Tell("channel ends", names[0], names[1]);
  }
  Py_RETURN_NONE;
}

PyObject* WaitLabel(PyObject*, PyObject* words) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(words, &length);
  if (text == nullptr) return nullptr;
  return PyLong_FromUnsignedLong(
      Intern(GPUBOUND_LAYER_wait, "channel", text, static_cast<size_t>(length)));
}

PyObject* HoldChannel(PyObject*, PyObject* name) {
  Py_ssize_t length = 0;
  const char* text = PyUnicode_AsUTF8AndSize(name, &length);
  if (text == nullptr) return nullptr;
  if (static_cast<size_t>(length) >= kNameBytes) {
    PyErr_SetString(PyExc_ValueError, "the name of a channel is too long");
    return nullptr;
  }
  TellHolder(text);
  Py_RETURN_NONE;
}

}  // namespace gpubound
