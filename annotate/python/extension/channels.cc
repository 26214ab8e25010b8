// SPDX-License-Identifier: Apache-2.0
//
// The table of descriptors, and the names of what they are.
#include "annotate/python/extension/channels.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "annotate/python/extension/table.h"

namespace gpubound {
namespace {

constexpr int kMaxDescriptors = 4096;  // connections on higher ones are looked at each time
constexpr size_t kNameBytes = 48;
constexpr size_t kMaxNames = 16384;  // of about kNameBytes each: a third of the collector's room
constexpr size_t kMaxBytes = 3000;   // of one label; the collector cuts at 4096

// What is known of a descriptor, in one word, because threads meet here that hold no lock:
//
//   | label (32) | connection (30) | unnamed (1) | announced (1) |
//
// label: of waits on it, 0 before it was looked at. unnamed: looked at, and it has no name.
// announced: the collector knows that this process holds it. connection: counts those that were
// made on the descriptor, so that what a thread learned of the one before is not stored for the
// next.
constexpr uint64_t kAnnounced = 1;
constexpr uint64_t kUnnamed = 2;
constexpr uint64_t kOneConnection = 4;
constexpr uint64_t kConnections = 0xFFFFFFFC;
constexpr unsigned kLabelShift = 32;

std::atomic<uint64_t> g_descriptors[kMaxDescriptors];
std::atomic<size_t> g_names{0};

// The descriptor of a multiprocessing connection; -1 for a closed one, or anything else.
int DescriptorOf(PyObject* connection, PyObject* handle_name) {
  PyObject* handle = PyObject_GetAttr(connection, handle_name);
  const long descriptor = handle != nullptr && PyLong_Check(handle) ? PyLong_AsLong(handle) : -1;
  Py_XDECREF(handle);
  if (PyErr_Occurred() != nullptr) PyErr_Clear();
  return descriptor < 0 || descriptor > INT32_MAX ? -1 : static_cast<int>(descriptor);
}

// kPeer: a socket of which the kernel knows which process is at the other end.
enum class Kind { kNone, kPipe, kSocket, kPeer };

using GetName = int (*)(int, sockaddr*, socklen_t*);

// Whether |get| says that an end of a UNIX socket has a name, which one of a pair never has.
bool HasName(int descriptor, GetName get) {
  sockaddr_un name = {};
  socklen_t length = sizeof(name);
  return get(descriptor, reinterpret_cast<sockaddr*>(&name), &length) == 0 &&
         name.sun_family == AF_UNIX && length > offsetof(sockaddr_un, sun_path);
}

// Who connected a UNIX socket, or listened where it was connected to; 0 for another socket, and
// where that is the process itself, as it may be of what a fork child has. Both ends of a pair say
// who made it.
pid_t FindPeer(int descriptor) {
  if (!HasName(descriptor, getpeername) && !HasName(descriptor, getsockname)) return 0;
  ucred peer = {};
  socklen_t length = sizeof(peer);
  if (getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return 0;
  return peer.pid == getpid() ? 0 : peer.pid;
}

// Writes "process:[17]" of a peer, else "pipe:[5]" or "socket:[5]", as /proc/self/fd spells it.
Kind Describe(int descriptor, char (&name)[kNameBytes]) {
  struct stat status;
  if (descriptor < 0 || fstat(descriptor, &status) != 0) return Kind::kNone;
  const bool is_pipe = S_ISFIFO(status.st_mode);
  if (!is_pipe && !S_ISSOCK(status.st_mode)) return Kind::kNone;
  const pid_t peer = is_pipe ? 0 : FindPeer(descriptor);
  if (peer > 0) {
    std::snprintf(name, kNameBytes, "process:[%d]", static_cast<int>(peer));
    return Kind::kPeer;
  }
  std::snprintf(name, kNameBytes, "%s:[%llu]", is_pipe ? "pipe" : "socket",
                static_cast<unsigned long long>(status.st_ino));
  return is_pipe ? Kind::kPipe : Kind::kSocket;
}

// 0 where this process has named as much as it may, or the text is too long.
uint32_t Intern(uint32_t layer, const char* domain, const char* text, size_t length) {
  if (g_names.load(std::memory_order_relaxed) >= kMaxNames || length > kMaxBytes) {
    g_table.ledger("waits_unnamed", 1, nullptr, 0);
    return 0;
  }
  g_names.fetch_add(1 + length / kNameBytes, std::memory_order_relaxed);
  return g_table.label(GPUBOUND_LABEL_LAYER, layer, domain, text, length);
}

// Of |name|, "process:[17]": known for the last pid with the same remainder, since programs connect
// anew to the same few processes all the time. One word, because threads meet here: | label (32) |
// pid (32) |
constexpr size_t kPeers = 64;
std::atomic<uint64_t> g_peers[kPeers];

uint32_t PeerLabel(const char* name) {
  const auto pid =
      static_cast<uint32_t>(std::strtoul(name + std::strlen("process:["), nullptr, 10));
  std::atomic<uint64_t>& entry = g_peers[pid % kPeers];
  const uint64_t known = entry.load(std::memory_order_relaxed);
  if (static_cast<uint32_t>(known) == pid) return static_cast<uint32_t>(known >> kLabelShift);
  const uint32_t label = Intern(GPUBOUND_LAYER_wait, "channel", name, std::strlen(name));
  entry.store(uint64_t{label} << kLabelShift | pid, std::memory_order_relaxed);
  return label;
}

// 0 for no kind, and where there is no room for names.
uint32_t LabelOf(Kind kind, const char* name) {
  if (kind == Kind::kNone) return 0;
  if (kind == Kind::kPeer) return PeerLabel(name);
  return Intern(GPUBOUND_LAYER_wait, "channel", name, std::strlen(name));
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

uint32_t ChannelLabel(PyObject* connection, PyObject* handle_name) {
  const int descriptor = DescriptorOf(connection, handle_name);
  if (descriptor < 0 || descriptor >= kMaxDescriptors) return 0;
  std::atomic<uint64_t>& entry = g_descriptors[descriptor];
  uint64_t known = entry.load(std::memory_order_relaxed);
  if (known >> kLabelShift != 0 || (known & kUnnamed) != 0) {
    return static_cast<uint32_t>(known >> kLabelShift);
  }
  char name[kNameBytes];
  const Kind kind = Describe(descriptor, name);
  const uint32_t label = LabelOf(kind, name);
  // Who reads from a pipe tells nothing to those who wait for what comes out of it.
  const bool tells = kind == Kind::kSocket && (known & kAnnounced) == 0;
  const uint64_t learned = uint64_t{label} << kLabelShift | (label == 0 ? kUnnamed : 0) |
                           (kind == Kind::kSocket || kind == Kind::kPeer ? kAnnounced : 0);
  // Where it fails, another thread has learned the same, or the connection is another one by now.
  const bool first =
      entry.compare_exchange_strong(known, known | learned, std::memory_order_relaxed);
  if (first && tells) TellHolder(name);
  return label;
}

void NoteWriter(PyObject* connection, PyObject* handle_name) {
  const int descriptor = DescriptorOf(connection, handle_name);
  if (descriptor < 0 || descriptor >= kMaxDescriptors) return;
  std::atomic<uint64_t>& entry = g_descriptors[descriptor];
  uint64_t known = entry.load(std::memory_order_relaxed);
  if ((known & kAnnounced) != 0) return;
  const uint64_t described = known & kConnections;
  char name[kNameBytes];
  const Kind kind = Describe(descriptor, name);
  do {
    if ((known & kAnnounced) != 0 || (known & kConnections) != described) return;
  } while (!entry.compare_exchange_weak(known, known | kAnnounced, std::memory_order_relaxed));
  if (kind == Kind::kPipe || kind == Kind::kSocket) TellHolder(name);
}

void ForgetChannel(PyObject* connection, PyObject* handle_name) {
  const int descriptor = DescriptorOf(connection, handle_name);
  if (descriptor < 0 || descriptor >= kMaxDescriptors) return;
  std::atomic<uint64_t>& entry = g_descriptors[descriptor];
  uint64_t known = entry.load(std::memory_order_relaxed);
  while (!entry.compare_exchange_weak(known, (known + kOneConnection) & kConnections,
                                      std::memory_order_relaxed)) {
  }
}

void ForgetChannels() {
  for (std::atomic<uint64_t>& entry : g_descriptors) entry.store(0, std::memory_order_relaxed);
  for (std::atomic<uint64_t>& entry : g_peers) entry.store(0, std::memory_order_relaxed);
  g_names.store(0, std::memory_order_relaxed);
}

PyObject* ChannelName(PyObject* connection, PyObject* handle_name) {
  char name[kNameBytes];
  if (Describe(DescriptorOf(connection, handle_name), name) == Kind::kNone) Py_RETURN_NONE;
  return PyUnicode_FromString(name);
}

void NoteChannelEnds(PyObject* one, PyObject* other, PyObject* handle_name) {
  char names[2][kNameBytes];
  // Both ends of a pipe are the same inode: there is nothing to tell.
  if (Describe(DescriptorOf(one, handle_name), names[0]) == Kind::kSocket &&
      Describe(DescriptorOf(other, handle_name), names[1]) == Kind::kSocket) {
    Tell("channel ends", names[0], names[1]);
  }
}

uint32_t WaitLabel(const char* text, size_t length) {
  return Intern(GPUBOUND_LAYER_wait, "channel", text, length);
}

bool HoldChannel(const char* name, size_t length) {
  if (length >= kNameBytes) return false;
  TellHolder(name);
  return true;
}

}  // namespace gpubound
