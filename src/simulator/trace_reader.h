#pragma once
// Traces and node lists from files, strictly: a missing column, a bad cell or a wrong encoding is
// an error that names file, line and column; nothing is skipped.
//
// Philly (Pollux's philly.csv): timestamp, duration [s], num_gpus, cluster. A virtual cluster
// becomes a queue, every job has class training; more devices than a node holds become members of
// equal size, the largest divisor of num_gpus that fits.
//
// openb (Alibaba 2023): name, cpu_milli, memory_mib, num_gpu, gpu_milli, qos, creation_time,
// deletion_time [s], and where present gpu_spec (models separated by '|') and scheduled_time. Run
// time = deletion - scheduled, or - creation for pods that never were. LS and Guaranteed go to
// queue "online" as inference and notebook, Burstable and BE to "offline" as training and batch.
//
// Own format (write_trace): submit_ms, runtime_ms, queue, class, user, members, gpus, gpu_milli,
// cpu_milli, memory_mib, models, name; gpus whole devices or gpu_milli of one, of one member.

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "simulator/csv_table.h"
#include "simulator/trace.h"

namespace simulator {

// The queues are not set: their guarantees depend on the cluster.
base::Result<Trace> philly_trace(const CsvTable& table, std::int64_t devices_per_node);
base::Result<Trace> openb_trace(const CsvTable& table);
// What openb pods ask for and nothing else, in the order of the file: lists without times will do.
base::Result<Trace> openb_requests(const CsvTable& table);
base::Result<Trace> own_trace(const CsvTable& table, std::string name);

// sn, cpu_milli, memory_mib, gpu (devices), model.
base::Result<Nodes> openb_nodes(const CsvTable& table);

// own_trace(write_trace(t)) == t.
std::string write_trace(const Trace& trace);

}  // namespace simulator
