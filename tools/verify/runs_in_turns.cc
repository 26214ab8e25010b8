// SPDX-License-Identifier: Apache-2.0
//
// fork, SIGSTOP, SIGCONT and sigtimedwait. All signals that are waited for stay blocked, so there
// is no handler and no moment in which one could be missed.
#include "tools/verify/runs_in_turns.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "tools/console/exit_codes.h"
#include "tools/launch/argv.h"
#include "tools/launch/processors.h"
#include "tools/launch/signal_facts.h"
#include "tools/verify/working_threads.h"

namespace gpubound {
namespace {

constexpr int kEndUs[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

int64_t NowNs() {
  return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Signals that are waited for instead of handled, blocked for the object's life.
class WatchedSignals {
 public:
  WatchedSignals() {
    sigemptyset(&watched_);
    sigaddset(&watched_, SIGCHLD);
    for (const int signal : kEndUs) {
      if (!IsIgnored(signal)) sigaddset(&watched_, signal);
    }
    sigprocmask(SIG_BLOCK, &watched_, &before_);
  }
  ~WatchedSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
  WatchedSignals(const WatchedSignals&) = delete;
  WatchedSignals& operator=(const WatchedSignals&) = delete;

  // The next one that comes before |deadline_ns|, or 0.
  int WaitUntil(int64_t deadline_ns) const {
    const int64_t left_ns = std::max<int64_t>(0, deadline_ns - NowNs());
    const timespec left = {left_ns / 1'000'000'000, left_ns % 1'000'000'000};
    return std::max(0, sigtimedwait(&watched_, nullptr, &left));
  }
  const sigset_t& before() const { return before_; }

 private:
  sigset_t watched_ = {};
  sigset_t before_ = {};
};

// A program that was started stopped. Killed with the object where it has not ended.
class StoppedProgram {
 public:
  StoppedProgram() = default;
  ~StoppedProgram() {
    if (exec_error_fd_ >= 0) close(exec_error_fd_);
    if (has_ended_ || run_.pid <= 0) return;
    kill(-run_.pid, SIGKILL);
    while (waitpid(run_.pid, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  StoppedProgram(const StoppedProgram&) = delete;
  StoppedProgram& operator=(const StoppedProgram&) = delete;

  // 0, or the errno of fork or of a file. That of exec is known when it has had a turn.
  int Start(const std::vector<std::string>& command, const RunInput& input, const sigset_t& mask) {
    const std::vector<char*> arguments = ArgvOf(command);
    const std::vector<char*> variables = ArgvOf(input.environment);
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    const int log = open(input.stderr_path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int report[2] = {-1, -1};
    int error = nowhere < 0 || log < 0 || pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0 ? errno : 0;
    if (error == 0) {
      run_.pid = fork();
      error = run_.pid < 0 ? errno : 0;
    }
    if (run_.pid == 0 && error == 0) {
      setpgid(0, 0);
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(nowhere, STDIN_FILENO);
      dup2(nowhere, STDOUT_FILENO);
      dup2(log, STDERR_FILENO);
      sigprocmask(SIG_SETMASK, &mask, nullptr);
      raise(SIGSTOP);
      execvpe(arguments[0], arguments.data(), variables.data());
      error = errno;
      [[maybe_unused]] const ssize_t written = write(report[1], &error, sizeof(error));
      _exit(kExitNotFound);
    }
    for (const int fd : {nowhere, log, report[1]}) {
      if (fd >= 0) close(fd);
    }
    exec_error_fd_ = report[0];
    if (error == 0) Note(WUNTRACED);
    return error;
  }

  // Its threads go on at |place|, where one works at a time.
  void Continue(const Processors& place) {
    threads_.Choose(run_.pid, continued_ns_ == 0 ? 0 : stopped_ns_ - continued_ns_);
    threads_.Place(place);
    continued_ns_ = NowNs();
    if (run_.wall_ns != 0) run_.stopped.push_back({stopped_ns_, continued_ns_});
    kill(-run_.pid, SIGCONT);
    threads_.Release();
  }

  // 0, or a signal that came meanwhile. A thread within vfork() does not stop, and its child, which
  // does, keeps it there: it is taken to have stopped when that would have been told.
  int Stop(const WatchedSignals& signals) {
    constexpr int64_t kPatienceNs = 20'000'000;
    kill(-run_.pid, SIGSTOP);
    const int64_t stop_ns = NowNs();
    int signal = SIGCHLD;
    while (signal == SIGCHLD && !Note(WUNTRACED | WNOHANG)) {
      signal = signals.WaitUntil(stop_ns + kPatienceNs);
      if (signal == 0) EndTurn(stop_ns);
    }
    return signal == SIGCHLD ? 0 : signal;
  }

  // Takes notice where it has ended.
  void Look() { Note(WNOHANG); }

  bool has_ended() const { return has_ended_; }
  const TimedRun& run() const { return run_; }

  // Why it could not be executed, or 0. To be asked once.
  int ExecError() const {
    int error = 0;
    return read(exec_error_fd_, &error, sizeof(error)) == sizeof(error) ? error : 0;
  }

 private:
  void EndTurn(int64_t time_ns) {
    stopped_ns_ = time_ns;
    if (continued_ns_ != 0) run_.wall_ns += stopped_ns_ - continued_ns_;
  }

  // Whether there was something to note: that it has stopped, if |options| ask for that, or ended.
  bool Note(int options) {
    int status = 0;
    rusage used = {};
    pid_t noted = 0;
    do {
      noted = wait4(run_.pid, &status, options, &used);
    } while (noted < 0 && errno == EINTR);
    if (noted == 0) return false;
    EndTurn(NowNs());
    if (noted > 0 && WIFSTOPPED(status)) return true;
    has_ended_ = true;
    NoteEnd(status, used, &run_);
    return true;
  }

  TimedRun run_;
  WorkingThreads threads_;
  int64_t stopped_ns_ = 0;    // when its last turn ended
  int64_t continued_ns_ = 0;  // when it began; 0: it had none
  int exec_error_fd_ = -1;
  bool has_ended_ = false;
};

class Turns {
 public:
  Turns(std::chrono::nanoseconds turn, std::mt19937_64* random) : turn_(turn), random_(*random) {}

  // 0, or the signal that ended them.
  int Take(std::array<StoppedProgram, 2>* programs) {
    for (int pair = 0; !programs->front().has_ended() || !programs->back().has_ended(); ++pair) {
      if (pair % kPairsInOnePlace == 0) place_ = allowed_.Draw(&random_);
      const size_t first = random_() % 2;
      for (const size_t i : {first, 1 - first}) {
        const bool is_last = (*programs)[1 - i].has_ended();
        if (const int signal = TakeOne(&(*programs)[i], is_last); signal != 0) return signal;
      }
    }
    return 0;
  }

  const WatchedSignals& signals() const { return signals_; }

 private:
  // Often enough to see what each processor does, seldom enough for what is in its caches.
  static constexpr int kPairsInOnePlace = 8;

  // Until it ends where nobody waits for the next turn.
  int TakeOne(StoppedProgram* program, bool is_last) {
    if (program->has_ended()) return 0;
    std::uniform_real_distribution<double> part(0.75, 1.25);
    constexpr int64_t kLookAgainNs = 1'000'000'000;
    program->Continue(place_);
    int64_t end_ns =
        NowNs() + static_cast<int64_t>(part(random_) * static_cast<double>(turn_.count()));
    while (!program->has_ended()) {
      const int signal = signals_.WaitUntil(end_ns);
      if (signal != 0 && signal != SIGCHLD) return signal;
      program->Look();
      if (program->has_ended() || NowNs() < end_ns) continue;
      if (!is_last) return program->Stop(signals_);
      end_ns = NowNs() + kLookAgainNs;
    }
    return 0;
  }

  const std::chrono::nanoseconds turn_;
  std::mt19937_64& random_;
  const WatchedSignals signals_;
  const Processors allowed_ = Processors::Allowed();
  Processors place_;  // of both programs
};

}  // namespace

Result<std::array<TimedRun, 2>> RunInTurns(const std::vector<std::string>& command,
                                           const std::array<RunInput, 2>& inputs,
                                           std::chrono::nanoseconds turn, std::mt19937_64* random) {
  Turns turns(turn, random);
  int ended_by = 0;
  std::array<TimedRun, 2> runs;
  {
    std::array<StoppedProgram, 2> programs;
    for (size_t i = 0; i < programs.size(); ++i) {
      const int error = programs[i].Start(command, inputs[i], turns.signals().before());
      if (error != 0) return NotStarted(command, error);
    }
    ended_by = turns.Take(&programs);
    for (size_t i = 0; i < programs.size(); ++i) {
      const int error = programs[i].ExecError();
      if (error != 0 && ended_by == 0) return NotStarted(command, error);
      runs[i] = programs[i].run();
    }
  }
  // Ends this process as soon as the signal is not blocked any more: when |turns| is gone.
  if (ended_by != 0) raise(ended_by);
  return runs;
}

}  // namespace gpubound
