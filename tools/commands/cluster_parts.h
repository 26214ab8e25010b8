// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run, made by an engine that is there already: Python's gpubound.cluster knows how to
// reach them (docs/many_machines.md). One object, one caller.
#ifndef GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_
#define GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_

#include <string>
#include <vector>

namespace gpubound {

struct ClusterQuestion {
  std::string engine;
  double timeout_s = 0;                 // for all parts together; 0: none
  std::vector<std::string> operations;  // promoted foreign ranges
};

// A file that goes away with the object.
class PartsOfCluster {
 public:
  PartsOfCluster() = default;
  ~PartsOfCluster();
  PartsOfCluster(const PartsOfCluster&) = delete;
  PartsOfCluster& operator=(const PartsOfCluster&) = delete;

  // Of the run at |run|. 0, or an exit status after what went wrong was said.
  int Make(const std::string& run, const ClusterQuestion& question);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_
