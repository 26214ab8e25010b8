// SPDX-License-Identifier: Apache-2.0
//
// The signals are blocked and read from a descriptor, so that any code may answer them.
#include "tools/commands/ending_signals.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

namespace gpubound {
namespace {

constexpr std::array<int, 3> kEnding{SIGINT, SIGTERM, SIGHUP};

bool IsIgnored(int signal) {
  struct sigaction action = {};
  return sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

// As if nobody had looked.
void EndBy(int signal) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
  sigset_t one;
  sigemptyset(&one);
  sigaddset(&one, signal);
  pthread_sigmask(SIG_UNBLOCK, &one, nullptr);
  kill(getpid(), signal);
}

}  // namespace

EndingSignals::EndingSignals(std::function<void()> clear) : clear_(std::move(clear)) {
  sigemptyset(&watched_);
  for (const int signal : kEnding) {
    if (!IsIgnored(signal)) sigaddset(&watched_, signal);
  }
  pthread_sigmask(SIG_BLOCK, &watched_, &before_);
  signals_ = signalfd(-1, &watched_, SFD_CLOEXEC);
  over_ = eventfd(0, EFD_CLOEXEC);
  try {
    if (signals_ >= 0 && over_ >= 0) watcher_ = std::thread([this] { Watch(); });
  } catch (const std::system_error&) {
  }
  if (!watcher_.joinable()) pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

EndingSignals::~EndingSignals() {
  if (watcher_.joinable()) {
    eventfd_write(over_, 1);
    watcher_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);  // a signal of this moment comes now
  }
  if (signals_ >= 0) close(signals_);
  if (over_ >= 0) close(over_);
}

void EndingSignals::Watch() {
  std::array<pollfd, 2> either{{{signals_, POLLIN, 0}, {over_, POLLIN, 0}}};
  while (poll(either.data(), either.size(), -1) < 0 && errno == EINTR) {
  }
  signalfd_siginfo received = {};
  if (either[0].revents == 0 || read(signals_, &received, sizeof(received)) <= 0) return;
  clear_();
  EndBy(static_cast<int>(received.ssi_signo));
}

}  // namespace gpubound
