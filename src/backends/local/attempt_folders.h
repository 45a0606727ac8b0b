#pragma once
// The data folder of the local backend: which attempts exist, their records, their logs. No process
// is touched here. An attempt exists from the moment attempt.json is there; what a crash left
// before that is made anew. Thread contract: read_log() from any thread, the rest from one.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/local/folder.h"
#include "backends/local/job_record.h"
#include "base/instant.h"
#include "base/result.h"
#include "controller/cluster_backend.h"
#include "model/ids.h"

namespace backends::local {

// "1042.1", the whole text; nothing for anything else.
std::optional<model::AttemptId> attempt_from_name(std::string_view name);

class AttemptFolders {
 public:
  static base::Result<AttemptFolders> open(const std::string& data_folder);

  const std::string& data_folder() const { return data_.path(); }
  // Attempts of jobs/ that were accepted, in order.
  std::vector<std::pair<model::AttemptId, AttemptRecord>> accepted() const;
  base::Result<AttemptRecord> find(model::AttemptId attempt) const;
  base::Result<Folder> member(model::AttemptId attempt, std::int32_t rank) const;

  // All or nothing: job files first, attempt.json last. `refusal` is the end of every member
  // instead of a start.
  base::Result<base::Done> create(const AttemptRecord& record, const std::vector<JobSpec>& jobs,
                                  const std::optional<ExitRecord>& refusal) const;

  // Notes that an attempt that does not exist (yet) must never start.
  base::Result<base::Done> bury(model::AttemptId attempt, const StopRequest& request) const;
  std::optional<StopRequest> tombstone(model::AttemptId attempt) const;

  // To finished/; fine when it is there already or was never here.
  base::Result<base::Done> forget(model::AttemptId attempt) const;
  // The ends of a forgotten attempt; nothing when it is not known.
  std::optional<std::vector<model::MemberEnd>> forgotten(model::AttemptId attempt) const;
  // Removes what was forgotten before `before`.
  void prune(base::Instant before) const;

  base::Result<std::string> make_checkpoint_folder(model::WorkloadId workload) const;

  std::uint64_t newest_epoch() const;
  base::Result<base::Done> write_epoch(std::uint64_t epoch) const;

  base::Result<controller::LogChunk> read_log(const controller::LogRequest& request) const;

 private:
  AttemptFolders(Folder data, Folder jobs, Folder finished)
      : data_(std::move(data)), jobs_(std::move(jobs)), finished_(std::move(finished)) {}

  Folder data_;
  Folder jobs_;
  Folder finished_;
};

model::MemberEnd member_end(std::int32_t rank, const ExitRecord& record);

}  // namespace backends::local
