# SPDX-License-Identifier: Apache-2.0
"""A small network for the processes of one program: each in a network namespace of its own, whose one way out is a link
to a common exchange. The exchange is a loop in the program's first process, which reads packets from the links (TUN
devices of the kernel) and writes each to the link that it is for: later, not at all, or at a limited rate.

It is root's to use. No address but those of the links (10.77.0.x) is ever reached: a namespace has no other way out,
and is gone when its process ends. Kernels without netem have this too.
"""
import ctypes
import fcntl
import heapq
import os
import random
import select
import signal
import socket
import struct
import sys
from time import monotonic_ns

INTERFACE = "link0"
MOST_RANKS = 8
MOST_SECONDS = 600  # of a process, whatever happens
_CLONE_NEWNET, _PR_SET_PDEATHSIG = 0x40000000, 1
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK, _IFF_UP = 0x8913, 0x8914, 0x8916, 0x891C, 1
_IPV4, _DESTINATION = 4, slice(16, 20)  # of a packet
_PACKET_BYTES = 2048


def address(rank):
    return f"10.77.0.{rank + 1}"


def missing():
    """What this machine lacks for such a network, in one line; empty where it lacks nothing."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    try:
        os.close(os.open("/dev/net/tun", os.O_RDWR))
    except OSError as error:
        return f"/dev/net/tun cannot be opened ({error.strerror})"
    child = os.fork()
    if child == 0:
        os._exit(0 if _libc().unshare(_CLONE_NEWNET) == 0 else 1)
    return "network namespaces are refused" if os.waitpid(child, 0)[1] != 0 else ""


def _libc():
    return ctypes.CDLL(None, use_errno=True)


def _configure(name, rank=None):
    """Gives an interface of this namespace the address of a rank, and switches it on."""
    padded = name.encode().ljust(16, b"\0")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        if rank is not None:
            for request, of in ((_SIOCSIFADDR, address(rank)), (_SIOCSIFNETMASK, "255.255.255.0")):
                fcntl.ioctl(control, request, padded + struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(of)))
        flags, = struct.unpack_from("=H", fcntl.ioctl(control, _SIOCGIFFLAGS, padded + bytes(24)), 16)
        fcntl.ioctl(control, _SIOCSIFFLAGS, padded + struct.pack("=H22x", flags | _IFF_UP))


def enter(rank, exchange):
    """Puts this thread, and those that it starts, into a namespace of its own, and hands the other end of its link to
    the exchange, over that socket."""
    libc = _libc()
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.alarm(MOST_SECONDS)
    if libc.unshare(_CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "a network namespace was refused")
    tunnel = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(tunnel, _TUNSETIFF, struct.pack("16sH22x", INTERFACE.encode(), _IFF_TUN | _IFF_NO_PI))
    _configure("lo")
    _configure(INTERFACE, rank)
    socket.send_fds(exchange, [b"."], [tunnel])
    os.close(tunnel)


class Exchange:
    """Between links. `delays_ns` is what each link takes one way, `loss` the share of packets that get lost, and
    `bytes_per_s` what each link carries at most in each direction (0: no limit). Delays may be changed on the way, and
    the links of the ranks in `cut` carry nothing."""

    def __init__(self, delays_ns, loss=0.0, bytes_per_s=0, seed=0):
        if len(delays_ns) > MOST_RANKS:
            raise ValueError(f"at most {MOST_RANKS} links")
        self._delays_ns, self._loss, self._bytes_per_s = delays_ns, loss, bytes_per_s
        self._chance = random.Random(seed)
        self._ends = [socket.socketpair() for _ in delays_ns]
        self._free_ns = {}  # when each direction of a link has carried what it was given
        self._on_the_way, self._packets = [], 0
        self.cut = set()
        self.lost, self.bytes, self.overdue_ns = 0, 0, []

    def end_of(self, rank):
        """The socket for enter(), in the process of that rank."""
        return self._ends[rank][1]

    def carry(self, sentinels):
        """Until all of these file descriptors are readable, as those of processes are that have ended."""
        links = [socket.recv_fds(ours, 1, 1)[1][0] for ours, _ in self._ends]
        ranks, left = {link: rank for rank, link in enumerate(links)}, set(sentinels)
        while left:
            due_ns = self._on_the_way[0][0] if self._on_the_way else None
            timeout = None if due_ns is None else max(0, due_ns - monotonic_ns()) / 1e9
            for readable in select.select([*links, *left], [], [], timeout)[0]:
                if readable in ranks:
                    self._take(readable, ranks[readable])
                else:
                    left.discard(readable)
            self._deliver(links)
        for link in links:
            os.close(link)
        for ends in self._ends:
            for end in ends:
                end.close()

    def _take(self, link, sender):
        while True:
            try:
                packet = os.read(link, _PACKET_BYTES)
            except BlockingIOError:
                return
            receiver = packet[_DESTINATION][3] - 1 if packet[0] >> 4 == _IPV4 else -1
            if not 0 <= receiver < len(self._delays_ns) or packet[_DESTINATION] != socket.inet_aton(address(receiver)):
                continue  # what the kernel says by itself to all, as of IPv6
            self._packets += 1
            self.bytes += len(packet)
            if not self.cut.isdisjoint((sender, receiver)) or self._chance.random() < self._loss:
                self.lost += 1
                continue
            due_ns = self._carried_ns((sender, "up"), monotonic_ns(), len(packet)) + self._delays_ns[sender]
            due_ns = self._carried_ns((receiver, "down"), due_ns + self._delays_ns[receiver], len(packet))
            heapq.heappush(self._on_the_way, (due_ns, self._packets, receiver, packet))

    def _carried_ns(self, direction, begin_ns, size):
        if not self._bytes_per_s:
            return begin_ns
        begin_ns = max(begin_ns, self._free_ns.get(direction, 0))
        self._free_ns[direction] = begin_ns + size * 1_000_000_000 // self._bytes_per_s
        return self._free_ns[direction]

    def _deliver(self, links):
        while self._on_the_way and self._on_the_way[0][0] <= monotonic_ns():
            due_ns, _, receiver, packet = heapq.heappop(self._on_the_way)
            try:
                os.write(links[receiver], packet)
            except OSError:
                continue  # the process of that link has ended
            self.overdue_ns.append(monotonic_ns() - due_ns)

    def counted(self):
        overdue = sorted(self.overdue_ns) or [0]
        return {"packets": self._packets, "lost": self.lost, "bytes": self.bytes,
                "overdue_median_ns": overdue[len(overdue) // 2], "overdue_p95_ns": overdue[len(overdue) * 95 // 100]}


if __name__ == "__main__":
    print(missing() or "nothing is missing")
    sys.exit(1 if missing() else 0)
