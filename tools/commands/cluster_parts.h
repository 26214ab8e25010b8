// SPDX-License-Identifier: Apache-2.0
//
// The parts of a run, made by an engine that is there already: Python's gpubound.cluster knows how to
// reach them (docs/many_machines.md). One object, one caller.
#ifndef GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_
#define GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_

#include <string>
#include <vector>

namespace gpubound {

// A file that goes away with the object.
class PartsOfCluster {
 public:
  PartsOfCluster() = default;
  ~PartsOfCluster();
  PartsOfCluster(const PartsOfCluster&) = delete;
  PartsOfCluster& operator=(const PartsOfCluster&) = delete;

  // Of the run at |run|, on |engine|. 0, or an exit status after what went wrong was said.
  int Make(const std::string& run, const std::string& engine,
           const std::vector<std::string>& operations);
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace gpubound

#endif  // GPUBOUND_TOOLS_COMMANDS_CLUSTER_PARTS_H_
