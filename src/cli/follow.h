#pragma once
// Streams of the server that go on over a restart of it: events by their sequence, logs by their
// offset, so that nothing is shown twice and nothing is missing.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <boost/json/value.hpp>

#include "base/result.h"
#include "cli/interrupts.h"
#include "cli/server.h"

namespace cli {

// How long a server may be away before a stream that had begun is given up.
inline constexpr base::Duration kPatience = base::minutes(5);

// How a follower learns that it shall stop, and waits before it tries a lost server again.
struct Waiting {
  std::function<bool()> is_stopped;
  std::function<bool(base::Duration)> wait;  // false: stopped before the time was over
};
Waiting until_signal(Interrupts& interrupts);

struct EventsWanted {
  std::int64_t after = 0;
  bool is_patient = false;  // wait for a server that is away from the beginning, too
  std::string kinds;        // separated by commas; empty: all
  std::string workload;     // number; empty: all
};

// Calls `visit` for each event, until it returns false or `waiting` stops it. `broken` is called
// once each time the stream is lost, before it is tried again. An error only if it cannot begin, is
// refused, or stays away for kPatience.
base::Result<base::Done> follow_events(Server& server, const Waiting& waiting, EventsWanted wanted,
                                       const std::function<bool(const boost::json::value&)>& visit,
                                       const std::function<void()>& broken);

struct LogWanted {
  std::string attempt;  // "1042.1"
  std::int64_t member = 0;
  bool is_error_stream = false;
  std::string tail;  // lines, for the first request only; empty: from the beginning
};

// Hands the bytes on until the member has ended and everything it wrote was given.
base::Result<base::Done> follow_log(Server& server, const Waiting& waiting, LogWanted wanted,
                                    const std::function<void(std::string_view)>& sink);

// What is there now.
base::Result<base::Done> read_log(Server& server, const LogWanted& wanted,
                                  const std::function<void(std::string_view)>& sink);

}  // namespace cli
