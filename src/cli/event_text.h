#pragma once
// An event of the journal as one line for people: when, what, about which workload, by whom.

#include <string>

#include <boost/json/value.hpp>

namespace cli {

// `event` as the API gives it. Unknown kinds show their name and their workload, if they have one.
std::string event_line(const boost::json::value& event);

}  // namespace cli
