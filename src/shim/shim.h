#pragma once
// The shim: one small process for each member of an attempt, between the daemon and the member's
// own process. It owns the exit code, obeys stop requests and cleans up, so that the daemon may be
// restarted, replaced or killed without anybody noticing.
//
// It speaks through the files of backends/local/job_record.h only. Whoever calls it for the same
// folder again is harmless: a lock admits one shim at a time, and the marker `started` is created
// once ever, before the process is forked. A shim that finds the marker but no exit record knows
// that its predecessor was lost: it kills what is left and records the end as node_lost.

namespace shim {

// `berth shim --job FOLDER`. Detaches; returns 0 in the calling process once the member runs or its
// end is recorded, 1 when the shim ended before that, 2 for a wrong command line.
int run(int argc, char** argv);

}  // namespace shim
