// SPDX-License-Identifier: Apache-2.0
//
// A trace written down as text, with what its report has to say. One line, one statement; blank
// lines and what follows '#' are ignored. Times are plain ns.
//
//   span 0 100                       span of the process (default 0 100)
//   host NAME 60000000000            its host, whose wall clock shows that at 0
//   base python|native               base layer (default python)
//   role train                       GPUBOUND_ROLE; elsewhere a counter role:train says so
//   thread NAME                      the first one is the main thread
//   @10 NAME begin operation WHAT    also: begin layer LAYER[:FUNCTION],
//                                    begin annotation [DOMAIN:]WHAT
//   @20 NAME end operation WHAT      likewise
//   @30 NAME phase WHAT              also: pause, resume, range-start ID WHAT, range-end ID,
//                                    hand-over ID WHAT, adopt ID WHAT, wake ID, woken ID, found ID
//                                    wake, woken: ID, or collective:ID, which all processes know
//   look NAME 20 30 on=4 ready=1     how long the thread was on a CPU, and ready without one,
//                                    between two looks at it; looks in order of time
//   reset NAME [WHAT...]             events are missing here; these operations are open after it
//   call NAME 10 20 cudaFoo #7       an API call with correlation id 7
//   overhead NAME 10 20 WHAT         a CUPTI overhead record
//   device 2 sms=4 blocks=2          device 1, 4 SMs of 2 blocks, is there already; it runs what
//                                    kernels do not say otherwise
//   device-name 1 NAME
//   kernel 10 20 WHAT #7             also: copy, set, graph; options: device=2 stream=1 grid=4;
//                                    other-end: the second record of a copy between devices
//   graph 10 20 WHAT #7 id=3         recorded as a whole; it runs
//   graph-node 3 TYPE WHAT [OPERATION]  TYPE: kernel, copy, set, host; captured in OPERATION
//   event-recorded 10 11 EVENT       in a stream: options as of work; correlation as of its call
//   stream-wait 20 21 EVENT          that stream waits for the event
//   unknown 10 20
//   target return>=450 over 2        ReportOptions::targets
//   operations nvtx:DOMAIN           ReportOptions::operations
//
//   process 101 100                  what follows is about a second process, pid 101, parent 100;
//                                    it has the devices of the first one. The first is pid 100
//   @10 NAME begin wait 101          a recorded wait for another process; also: end wait 101;
//                                    wait 101 102: for any of several
//   @10 NAME begin wait-on socket:[1]  a wait on a channel (analysis/reader/wait_channels.h);
//                                    also: end
//   holder 101 socket:[2]            process 101 uses this end of a channel
//   ends socket:[1] socket:[2]       the two ends of a socket pair
//   unused operation WHAT            a name that no event uses, as a fork child has of its parent
//   @10 NAME step 7                  iteration 7 ends; begin: the first begins, of an importer
//   @10 NAME counter WHAT 2.5        a counter has that value now
//   @10 NAME ends                    the thread does
//
// and what its report has to say: tests/golden/expectation.h.
#ifndef GPUBOUND_TESTS_GOLDEN_SCENARIO_H_
#define GPUBOUND_TESTS_GOLDEN_SCENARIO_H_

#include <string>
#include <vector>

#include "analysis/correction/report_options.h"
#include "analysis/report/report.h"
#include "analysis/trace/run.h"
#include "tests/golden/expectation.h"

namespace gpubound::golden {

struct Scenario {
  Run run;
  ReportOptions options;
  Expectation expected;
  std::vector<std::string> mistakes;  // lines that could not be understood
};

Scenario ParseScenario(const std::string& text);

}  // namespace gpubound::golden

#endif  // GPUBOUND_TESTS_GOLDEN_SCENARIO_H_
