// SPDX-License-Identifier: Apache-2.0
//
// The grounds that programs are recorded on, the programs, and what they do there: the table that
// matrix_test.cc goes through. Constants.
#ifndef GPUBOUND_TESTS_LIFECYCLE_MATRIX_CASES_H_
#define GPUBOUND_TESTS_LIFECYCLE_MATRIX_CASES_H_

#include <ostream>
#include <string>
#include <vector>

namespace gpubound {

// What may be missing of a trace.
enum class Loss {
  kNone,     // nothing: the report is complete
  kIfSaid,   // anything, where the report says so
  kNotSaid,  // a limit that docs/injection_safety.md states: nothing in the process can say it
};

// Shell scripts that go on with "$@"; empty: there is nothing to be done. $DISK is the folder that
// the run directory is made in, $KEPT where a script leaves a copy of it that it takes away.
struct Ground {
  const char* name;
  const char* around_all;      // the launcher and the program
  const char* around_program;  // the program alone
  Loss loss = Loss::kNone;
  std::vector<const char*> actions = {};  // of lifecycle_victim; empty: those of every ground
  bool is_short = true;                   // in the default suite
  const char* not_said = "";              // an action of which nothing there can say what is lost
};
inline std::ostream& operator<<(std::ostream& out, const Ground& ground) {
  return out << ground.name;
}
const std::vector<Ground>& Grounds();

// What lifecycle_victim does on every ground: in the default suite, and in the long one.
const std::vector<const char*>& ShortActions();
const std::vector<const char*>& LongActions();

// Programs of other builds. The path is empty where the build could not make it.
struct MatrixProgram {
  const char* name;
  const char* path;
  const char* missing;  // what to install
  Loss loss;
};
const std::vector<MatrixProgram>& Programs();

// A system call that recording makes.
struct RefusedCall {
  const char* name;
  int number;
  // That a sandbox has to allow, where it kills for others, once the program has had its first
  // scope, or before that: docs/injection_safety.md lists them.
  bool needed_later = false;
  bool needed_first = false;
  // The program itself cannot go on with a thread, or keep its account, where it gets an error.
  bool is_killed_for_alone = false;
};
const std::vector<RefusedCall>& RefusedCalls();

}  // namespace gpubound

#endif  // GPUBOUND_TESTS_LIFECYCLE_MATRIX_CASES_H_
