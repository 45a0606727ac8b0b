#pragma once
// Members as processes of this machine. Each member has its own folder and its own shim
// (backends/local/job_record.h), so the processes do not depend on the daemon: it may be killed at
// any moment, and the next one finds every process, or its end, and starts nothing twice.
//
// All work is done on one thread, in the order in which it was asked for; it sleeps until a process
// ends or something is asked. What cannot be done now (a full disk, no process left) is tried again
// with growing pauses and never reported as done.
//
// Layout of the data folder: jobs/<attempt>/ of live attempts and of ended ones until forget();
// finished/<attempt>/ with the logs until the retention is over; checkpoints/<workload>/, which the
// attempts of a workload share; epoch, the newest one seen.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "backends/local/metrics.h"
#include "controller/cluster_backend.h"
#include "devices/device_source.h"

namespace backends::local {

struct LocalOptions {
  std::string data_folder;  // made when absent
  std::string node_name;    // empty: the host name
  std::string pool;         // of the node; empty: by selector, or the only one
  std::map<std::string, std::string> attributes;  // of the node
  std::vector<std::string> shim_command;  // what "--job DIR" is appended to: {"…/berth", "shim"}
  // What members get besides their own: PATH, HOME, USER, LANG, TMPDIR. Names that are missing here
  // get defaults from the user database. Nothing else of the daemon's environment is passed on.
  std::map<std::string, std::string> base_environment;
  std::string default_directory;                       // for commands without one; empty: HOME
  std::vector<devices::DeviceSource*> device_sources;  // outlive the backend; devices in this order
  bool uses_control_groups = true;               // false: no limits; stops follow the process tree
  std::int64_t processes_max = 32768;            // of one member, against fork bombs; 0: no limit
  base::Duration log_retention = base::days(7);  // after forget()
  base::Duration node_report_every = base::seconds(60);  // look for changes of the node
};

class LocalBackend : public controller::ClusterBackend, public DeviceMetrics {
 public:
  // Fails when the data folder cannot be used.
  static base::Result<std::unique_ptr<LocalBackend>> make(LocalOptions options);
  // Leaves all processes running.
  ~LocalBackend() override;

  std::string_view name() const override { return "local"; }
  void watch(controller::ObservationSink sink) override;
  base::Result<std::vector<controller::AttemptReport>> list() override;
  void start(const controller::StartEffect& effect) override;
  void stop(const controller::StopEffect& effect) override;
  void forget(model::AttemptId attempt) override;
  base::Result<controller::LogChunk> read_log(const controller::LogRequest& request) override;

  std::optional<devices::DeviceSample> sample(std::int32_t device) override;

 private:
  class Worker;
  explicit LocalBackend(std::unique_ptr<Worker> worker);

  std::unique_ptr<Worker> worker_;
};

}  // namespace backends::local
