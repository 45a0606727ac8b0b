#pragma once
// Text that a person or program wrote, YAML or JSON, to documents. Strict: an unknown key, a key
// twice, an alias, a negative or overflowing amount, a boolean written `yes` are errors that name
// the place and the remedy; nothing is guessed. What needs no State is checked here in full.
//
//   auto documents = parse(text, {.source = "train.yaml"});
//   // on error: field "train.yaml:12: spec.replicas.min", message "min 8 is above max 4",
//   //           hint "raise max or lower min"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/document.h"

namespace manifest {

inline constexpr std::size_t kMaxTextBytes = 1024 * 1024;
inline constexpr std::size_t kMaxDocuments = 1000;

enum class Notation {
  Detect,  // JSON when the text starts with { or [ and is JSON, else YAML
  Yaml,
  Json
};

struct ParseOptions {
  std::string source;  // for messages, "train.yaml"; empty: errors name the path alone
  Notation notation = Notation::Detect;
};

// The documents in the order written; a top-level list is as many documents. No document at all is
// an error. When several documents are wrong, the error is the first one's and its message goes on
// with one line for each of the others.
base::Result<std::vector<Document>> parse(std::string_view text, const ParseOptions& options = {});

// The same, where exactly one document is wanted.
base::Result<Document> parse_one(std::string_view text, const ParseOptions& options = {});

// The kinds that parse() knows, in the order of their importance to a reader.
std::vector<std::string_view> known_kinds();

}  // namespace manifest
