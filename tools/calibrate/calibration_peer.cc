// SPDX-License-Identifier: Apache-2.0
//
// A socket to a child, and a deadline for everything that it is waited for.
#include "tools/calibrate/calibration_peer.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <system_error>

#include "tools/launch/argv.h"

namespace gpubound {
namespace {

// A first answer includes loading and initialising CUDA, which takes seconds on large machines.
constexpr int kAnswerDeadlineMs = 30'000;
constexpr int kEndDeadlineMs = 5'000;

}  // namespace

Result<std::unique_ptr<CalibrationPeer>> CalibrationPeer::Start(
    const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  const auto failure = [&](int error) {
    return Error{"starting the calibration program", command.front(),
                 std::generic_category().message(error), "a program that runs",
                 "Install gpubound again, or name another interpreter with --python."};
  };
  // A socket, because a write to it can be kept from raising SIGPIPE.
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return failure(errno);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  const std::vector<char*> arguments = ArgvOf(command);
  const std::vector<char*> variables = ArgvOf(environment);
  pid_t pid = 0;
  const int error =
      posix_spawnp(&pid, arguments[0], &actions, nullptr, arguments.data(), variables.data());
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (error == 0) {
    return std::unique_ptr<CalibrationPeer>(new CalibrationPeer(command.front(), pid, ends[0]));
  }
  close(ends[0]);
  return failure(error);
}

CalibrationPeer::~CalibrationPeer() { Finish(); }

void CalibrationPeer::StayOn(const Processors& processors) {
  if (pid_ != 0) processors.Hold(pid_);
}

bool CalibrationPeer::Finish() {
  if (pid_ == 0) return true;
  shutdown(socket_, SHUT_WR);
  pollfd ended = {socket_, POLLIN, 0};
  char ignored[256];
  bool killed = false;
  // Its end closes the socket.
  for (;;) {
    const int ready = poll(&ended, 1, kEndDeadlineMs);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) {
      kill(pid_, SIGKILL);
      killed = true;
    }
    if (ready <= 0 || read(socket_, ignored, sizeof(ignored)) <= 0) break;
  }
  close(socket_);
  int status = -1;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = 0;
  return !killed && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

std::optional<std::string> CalibrationPeer::ReadLine() {
  for (;;) {
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd ready = {socket_, POLLIN, 0};
    const int result = poll(&ready, 1, kAnswerDeadlineMs);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) return std::nullopt;
    char part[512];
    const ssize_t length = read(socket_, part, sizeof(part));
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) return std::nullopt;
    unread_.append(part, static_cast<size_t>(length));
  }
}

Error CalibrationPeer::Failure(const std::string& found, const std::string& expected) const {
  return {"measuring with the calibration program", program_, found, expected,
          "Run it by hand to see what it says: echo 'run scope 1000' | " + program_};
}

Result<CalibrationPeer::Answer> CalibrationPeer::Run(const std::string& name, uint64_t count) {
  const std::string question = "run " + name + " " + std::to_string(count) + "\n";
  const ssize_t written = send(socket_, question.data(), question.size(), MSG_NOSIGNAL);
  if (written != static_cast<ssize_t>(question.size())) {
    return Failure("it has ended", "a program that answers");
  }
  const std::optional<std::string> line = ReadLine();
  if (!line) return Failure("no answer to '" + name + "'", "an answer within half a minute");
  Answer answer;
  if (line->starts_with("no ")) {
    answer.refusal = line->substr(3);
    return answer;
  }
  const char* end = line->data() + line->size();
  const auto whole = std::from_chars(line->data(), end, answer.ns);
  answer.alone_ns = answer.ns;
  auto last = whole;
  if (whole.ec == std::errc() && whole.ptr != end && *whole.ptr == ' ') {
    last = std::from_chars(whole.ptr + 1, end, answer.alone_ns);
  }
  if (last.ec != std::errc() || last.ptr != end) {
    return Failure("'" + *line + "'", "a number of ns, or two");
  }
  return answer;
}

}  // namespace gpubound
