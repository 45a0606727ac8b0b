#pragma once
// What `berth submit` and `berth run` take as flags, to the same document that a manifest would
// give. The words go through the same reader, so that limits and remedies are the same; an error
// names the flag instead of the path: "--gpus".

#include <string>
#include <vector>

#include "base/result.h"
#include "manifest/document.h"

namespace manifest {

// As typed. An empty text or list is a flag that was not given.
struct SubmitFlags {
  std::string kind = "Workload";    // --kind
  std::string name;                 // --name
  std::string queue;                // --queue
  std::string class_name;           // --class
  std::string gpus;                 // --gpus, of one member: "8", "0.5"
  std::string share;                // --share of one device: "0.5"
  std::string gpu_memory;           // --gpu-memory: "40Gi", "50%"
  std::string slice;                // --slice: "1g.10gb"
  std::vector<std::string> models;  // --model
  std::string cpus;                 // --cpus
  std::string memory;               // --memory
  std::string members;              // --members
  std::string min_members;          // --min-members
  std::string time;                 // --time, the limit
  std::string estimate;             // --estimate
  std::vector<std::string> pools;   // --pool, in order of preference
  std::string topology;             // --topology: the level that all members share
  std::vector<std::string> labels;  // --label key=value
  std::vector<std::string> env;     // --env NAME=value
  std::vector<std::string> argv;    // after --
  std::string directory;            // --dir, absolute
  std::string image;                // --image
};

// A workload needs a command or an image.
base::Result<Document> document_of(const SubmitFlags& flags);

}  // namespace manifest
