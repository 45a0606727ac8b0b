#pragma once
// The environment of one member: everything it gets, built from values. Its own variables win over
// Berth's, except those that say who it is and what it may use: a member cannot see devices that
// were not given to it because its manifest said CUDA_VISIBLE_DEVICES.
//
// Each member is one "node" of a torchrun job: it sees only its own devices, numbered from 0, so
// its LOCAL_RANK is 0 and its GROUP_RANK is its rank. A plain script can use RANK and WORLD_SIZE at
// once; `torchrun train.py` reads the PET_* variables and starts its own processes in each member.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "controller/cluster_backend.h"
#include "model/device.h"

namespace backends::local {

struct MemberContext {
  std::int32_t rank = 0;
  std::int32_t master_port = 0;
  std::string checkpoint_folder;
};

// `base` is what every member gets; `devices` are those of the node, in the order of Node::devices.
std::map<std::string, std::string> member_environment(
    const controller::StartEffect& effect, const MemberContext& member,
    const std::map<std::string, std::string>& base, const std::vector<model::Device>& devices);

}  // namespace backends::local
