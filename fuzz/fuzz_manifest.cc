// Text as manifests, in YAML and in JSON: parsing is total and quick, and what was parsed prints to
// text that parses to the same documents.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "manifest/parse.h"
#include "manifest/print.h"

namespace {

// Where a document was written is not part of what it says.
std::vector<manifest::Document> without_source(std::vector<manifest::Document> documents) {
  for (manifest::Document& document : documents)
    document.source.clear();
  return documents;
}

void round_trip(std::string_view text, manifest::Notation notation) {
  const auto documents = manifest::parse(text, {.source = {}, .notation = notation});
  if (!documents) {
    ASSERT(!documents.error().message.empty());
    return;
  }
  for (const manifest::Format format : {manifest::Format::Yaml, manifest::Format::Json}) {
    const auto again = manifest::parse(manifest::print(*documents, format));
    ASSERT(again.has_value() && without_source(*again) == without_source(*documents));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  round_trip(text, manifest::Notation::Yaml);
  round_trip(text, manifest::Notation::Json);
  return 0;
}
