#pragma once
// The daemon's configuration file as a value. As strict as a manifest: an unknown key, a wrong unit
// or a value out of range is an error that names the place and the remedy. What is left out keeps
// its default; a flag of the command line wins over the file.
//
//   listen: 127.0.0.1:7070
//   dataDir: /var/lib/berth
//   apply: [cluster.yaml]            # pools, queues, classes to define at every start
//   node: {name: gpu-1, pool: h800, attributes: {rack: r1}}
//   probeDevices: true
//   devices: [{model: H800, count: 8}]
//   log: {level: info, form: json}

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace manifest {

struct DeclaredDevice {
  std::string model;
  std::string vendor;  // empty: the catalogue's
  std::int64_t count = 1;
  std::int64_t memory = 0;  // bytes; zero: the catalogue's
  bool is_shareable = true;
  bool operator==(const DeclaredDevice&) const = default;
};

struct DaemonConfig {
  std::string listen;              // "127.0.0.1:7070"; empty: not set
  std::string data_dir;            // empty: not set
  std::vector<std::string> apply;  // manifest files, relative to the configuration
  std::string node_name;           // empty: the host name
  std::string pool;                // of the node; empty: by selector
  std::map<std::string, std::string> attributes;
  bool probes_devices = true;
  std::vector<DeclaredDevice> devices;
  std::string log_level = "info";  // debug, info, warning, error
  std::string log_form = "auto";   // auto, json, human
  bool operator==(const DaemonConfig&) const = default;
};

// `source` is the file's name, for messages. An empty text is a configuration of defaults.
base::Result<DaemonConfig> parse_daemon_config(std::string_view text, std::string_view source);

}  // namespace manifest
