// SPDX-License-Identifier: Apache-2.0
//
// termios, the alternate screen, and signals that set a flag. One object.
#include "tools/commands/raw_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>

#include "tools/console/console.h"

namespace gpubound {
namespace {

constexpr int kDefaultColumns = 80;
constexpr int kDefaultRows = 24;
constexpr std::array<int, 3> kEndingSignals{SIGINT, SIGTERM, SIGHUP};

volatile sig_atomic_t ended = 0;
void End(int) { ended = 1; }

std::array<struct sigaction, kEndingSignals.size()> handlers_before;

winsize SizeOfTerminal() {
  winsize size = {};
  ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
  return size;
}

void WriteTerminal(const std::string& text) { static_cast<void>(WriteStdout(text)); }

}  // namespace

RawTerminal::RawTerminal() {
  ended = 0;
  struct sigaction end = {};
  end.sa_handler = End;
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &end, &handlers_before[i]);
  }
  if (tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    changed_ = tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  WriteTerminal("\x1b[?1049h\x1b[?25l");  // the alternate screen, no cursor
}

RawTerminal::~RawTerminal() {
  WriteTerminal("\x1b[?25h\x1b[?1049l");
  if (changed_) tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  for (size_t i = 0; i < kEndingSignals.size(); ++i) {
    sigaction(kEndingSignals[i], &handlers_before[i], nullptr);
  }
}

void RawTerminal::Show(const std::string& frame) {
  // Each line is wiped behind its text, so that nothing flickers.
  std::string text = "\x1b[H";
  for (const char c : frame) text += c == '\n' ? std::string("\x1b[K\r\n") : std::string(1, c);
  WriteTerminal(text + "\x1b[J");
}

bool RawTerminal::Wait(int milliseconds) {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  const int ready = poll(&input, 1, milliseconds);
  if (ended != 0) return false;
  if (ready <= 0) return true;
  char key = 0;
  if (read(STDIN_FILENO, &key, 1) <= 0) return false;
  constexpr char kControlD = 4;
  return key != 'q' && key != 'Q' && key != kControlD;
}

int RawTerminal::Columns() const {
  const int columns = SizeOfTerminal().ws_col;
  return columns > 0 ? columns : kDefaultColumns;
}

int RawTerminal::Rows() const {
  const int rows = SizeOfTerminal().ws_row;
  return rows > 0 ? rows : kDefaultRows;
}

}  // namespace gpubound
