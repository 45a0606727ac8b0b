#pragma once
// Text to trees, for the two notations. What both refuse: more than 64 levels, the same key twice
// in one map. YAML further refuses anchors and aliases (a few lines of them can stand for
// gigabytes) and tags. Errors name the line in `field` as "12" and carry the remedy. The exceptions
// of the libraries end here.

#include <string_view>
#include <vector>

#include "base/result.h"
#include "manifest/internal/tree.h"

namespace manifest {

inline constexpr int kMaxDepth = 64;

// One tree a document; empty documents are left out. `max_documents` bounds them.
base::Result<std::vector<Tree>> read_yaml(std::string_view text, std::size_t max_documents);

// Exactly one JSON value. The text must be UTF-8.
base::Result<Tree> read_json(std::string_view text);

}  // namespace manifest
