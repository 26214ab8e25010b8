// SPDX-License-Identifier: Apache-2.0
//
// Reads /proc/PID/stat of every process.
#include "tests/lifecycle/process_family.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <system_error>

namespace gpubound {
namespace {

namespace fs = std::filesystem;

struct Status {
  std::string name;
  char state = 0;
  pid_t parent = 0;
  pid_t group = 0;
};

// "PID (NAME) STATE PARENT GROUP ...", where the name may hold anything; false when it is gone.
bool ReadStatus(const fs::path& process, Status* status) {
  std::ifstream file(process / "stat");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const size_t open = text.find('(');
  const size_t close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return false;
  status->name = text.substr(open + 1, close - open - 1);
  std::istringstream rest(text.substr(close + 1));
  return static_cast<bool>(rest >> status->state >> status->parent >> status->group);
}

std::map<pid_t, Status> AllProcesses() {
  std::map<pid_t, Status> all;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    Status status;
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    if (ReadStatus(entry.path(), &status)) all.emplace(std::stoi(name), status);
  }
  return all;
}

std::string StacksOf(pid_t pid) {
  const std::string command = "timeout 30 gdb -p " + std::to_string(pid) +
                              " -batch -ex 'set pagination off' -ex 'thread apply all bt' 2>&1";
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> part;
  for (size_t length; (length = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    text.append(part.data(), length);
  }
  pclose(pipe);
  return text;
}

}  // namespace

std::vector<FamilyMember> FamilyOf(pid_t leader) {
  const std::map<pid_t, Status> all = AllProcesses();
  std::set<pid_t> family = {leader};
  // A child may have a lower number than its parent.
  for (size_t known = 0; known != family.size();) {
    known = family.size();
    for (const auto& [pid, status] : all) {
      if (status.group == leader || family.count(status.parent) != 0) family.insert(pid);
    }
  }
  std::vector<FamilyMember> members;
  for (const auto& [pid, status] : all) {
    if (family.count(pid) != 0 && status.state != 'Z') members.push_back({pid, status.name});
  }
  return members;
}

std::string StacksOf(const std::vector<FamilyMember>& family) {
  std::string text;
  for (const FamilyMember& member : family) {
    text += "--- pid " + std::to_string(member.pid) + " (" + member.name + ")\n";
    text += StacksOf(member.pid);
  }
  return text;
}

}  // namespace gpubound
