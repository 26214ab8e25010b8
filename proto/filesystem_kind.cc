// SPDX-License-Identifier: Apache-2.0
//
// Magic numbers from the kernel's and the vendors' headers.
#include "proto/filesystem_kind.h"

namespace gpubound {
namespace {

struct Entry {
  uint32_t type;
  FilesystemKind kind;
};

constexpr Entry kFilesystems[] = {
    {0x0000ef53, {"ext4", false}},    {0x58465342, {"xfs", false}},
    {0x9123683e, {"btrfs", false}},   {0x01021994, {"tmpfs", false}},
    {0x794c7630, {"overlay", false}}, {0x2fc12fc1, {"zfs", false}},
    {0xf2f52010, {"f2fs", false}},    {0x858458f6, {"ramfs", false}},
    {0x00006969, {"nfs", true}},      {0x0000517b, {"smb", true}},
    {0xff534d42, {"cifs", true}},     {0xfe534d42, {"smb2", true}},
    {0x0bd00bd0, {"lustre", true}},   {0x47504653, {"gpfs", true}},
    {0x00c36400, {"ceph", true}},     {0x19830326, {"beegfs", true}},
    {0xaad7aaea, {"panfs", true}},    {0x5346414f, {"afs", true}},
    {0x6b414653, {"afs", true}},      {0x73757245, {"coda", true}},
    {0x65735546, {"fuse", true}},     {0x01021997, {"9p", true}},
    {0x01161970, {"gfs2", true}},     {0x7461636f, {"ocfs2", true}},
    {0x786f4256, {"vboxsf", true}},
};

}  // namespace

FilesystemKind KindOfFilesystem(uint64_t type) {
  for (const Entry& entry : kFilesystems) {
    if (entry.type == static_cast<uint32_t>(type)) return entry.kind;
  }
  return {};
}

}  // namespace gpubound
