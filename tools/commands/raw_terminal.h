// SPDX-License-Identifier: Apache-2.0
//
// A terminal that hands over keys as they are pressed and shows frames in place of one another.
// What it was before is restored when the object goes, also where Ctrl-C or SIGTERM ended the wait.
// At most one object at a time, one thread.
#ifndef GPUBOUND_TOOLS_COMMANDS_RAW_TERMINAL_H_
#define GPUBOUND_TOOLS_COMMANDS_RAW_TERMINAL_H_

#include <termios.h>

#include <string>

namespace gpubound {

class RawTerminal {
 public:
  // stdin and stdout are terminals.
  RawTerminal();
  ~RawTerminal();
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;

  // Replaces what is shown.
  void Show(const std::string& frame);

  // Waits for a key, at most |milliseconds|. False when it is time to quit: q, Ctrl-C, Ctrl-D, the
  // end of input, SIGTERM or SIGHUP.
  bool Wait(int milliseconds);

  int Columns() const;
  int Rows() const;

 private:
  termios before_{};
  bool changed_ = false;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_RAW_TERMINAL_H_
