#pragma once
// YAML text of a JSON value: block style, two spaces, keys in the order given. Text that a YAML
// reader could take for something else (yes, 1.20, null, 12:30) is quoted, so that reading it back
// gives the same value, whether the reader speaks YAML 1.1 or 1.2.

#include <string>

#include <boost/json/fwd.hpp>

namespace cli {

std::string yaml_text(const boost::json::value& value);

}  // namespace cli
