// SPDX-License-Identifier: Apache-2.0
//
// Asks the kernel. No state.
#include "analysis/reader/process_presence.h"

#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

namespace gpubound {
namespace {

// The system's clock may have been set since the process began, by less than this.
constexpr int64_t kClockSlackNs = 60'000'000'000;
constexpr int64_t kSecondNs = 1'000'000'000;

int64_t ReadClock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

struct KernelState {
  char state = 0;  // a letter; of the main thread, which may end before the others
  int64_t threads = 0;
  int64_t start_realtime_ns = 0;
};

// From /proc/PID/stat, whose second field is a name in parentheses that may hold anything.
std::optional<KernelState> StateOf(int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  std::getline(file, line, '\0');
  const size_t name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream words(line.substr(name_end + 1));
  KernelState process;
  std::string skipped;
  words >> process.state;
  for (int field = 4; field < 20; ++field) words >> skipped;
  int64_t start_ticks = 0;
  if (!(words >> process.threads >> skipped >> start_ticks)) return std::nullopt;
  const int64_t start_ns = start_ticks * (kSecondNs / sysconf(_SC_CLK_TCK));
  process.start_realtime_ns = RealtimeNow() - ReadClock(CLOCK_BOOTTIME) + start_ns;
  return process;
}

// Of a process of this machine, whose pids are ours.
Presence PresenceHere(const ProcessIdentity& identity) {
  const bool there = kill(static_cast<pid_t>(identity.pid), 0) == 0 || errno == EPERM;
  if (!there) return Presence::kGone;
  const std::optional<KernelState> process = StateOf(identity.pid);
  if (!process) return Presence::kThere;  // as far as can be seen
  const bool dead = (process->state == 'Z' || process->state == 'X') && process->threads <= 1;
  const bool another = process->start_realtime_ns > identity.start_realtime_ns + kClockSlackNs;
  return dead || another ? Presence::kGone : Presence::kThere;
}

}  // namespace

int64_t RealtimeNow() { return ReadClock(CLOCK_REALTIME); }

std::string OwnHost() {
  char name[256] = {};
  return gethostname(name, sizeof(name) - 1) == 0 && name[0] != '\0' ? name : "localhost";
}

std::string OwnBootId() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  file >> id;
  return id;
}

Presence PresenceOf(const ProcessIdentity& identity) {
  if (identity.host != OwnHost()) return Presence::kElsewhere;
  return PresenceHere(identity);
}

Presence PresenceByTrace(const ProcessTrace& process) {
  const std::string boot_id = OwnBootId();
  if (process.boot_id.empty() || boot_id.empty()) return PresenceOf(process.identity);
  struct stat pids;
  const bool other_pids = process.pid_namespace != 0 && stat("/proc/self/ns/pid", &pids) == 0 &&
                          static_cast<int64_t>(pids.st_ino) != process.pid_namespace;
  return process.boot_id != boot_id || other_pids ? Presence::kElsewhere
                                                  : PresenceHere(process.identity);
}

LastSeen LastSeenOf(const ProcessTrace& process, bool run_over) {
  LastSeen seen{run_over, std::nullopt};
  if (!process.clock_samples.empty() && process.clock_samples.back().realtime_ns != 0) {
    seen.age_ns = RealtimeNow() - process.clock_samples.back().realtime_ns;
  }
  return seen;
}

bool HasEnded(Presence presence, const LastSeen& seen) {
  const bool quiet = seen.age_ns && *seen.age_ns >= kQuietNs;
  switch (presence) {
    case Presence::kThere:
      break;
    case Presence::kGone:
      return seen.run_over || quiet;
    case Presence::kElsewhere:
      return seen.run_over && quiet;
  }
  return false;
}

}  // namespace gpubound
