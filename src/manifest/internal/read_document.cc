#include "manifest/internal/read_document.h"

#include <array>

#include "base/text.h"
#include "manifest/internal/read_kinds.h"
#include "manifest/parse.h"

namespace manifest {

namespace {

constexpr std::string_view kVersion = "berth/v1";
constexpr std::array<std::string_view, 10> kKinds{
    "TrainingJob", "InferenceService", "Notebook", "BatchInference", "Workload", "Queue", "Pool",
    "Class",       "Policy",           "Topology"};

using Body = decltype(Document::body);

Body read_body(const Map& map, std::string_view kind, const Field& at) {
  if (const auto workload_kind = base::enum_from<model::Kind>(kind))
    return read_workload(map, *workload_kind);
  if (kind == "Queue") return read_queue(map);
  if (kind == "Pool") return read_pool(map);
  if (kind == "Class") return read_class(map);
  if (kind == "Policy") return read_policy(map);
  if (kind == "Topology") return read_topology(map);
  const auto near = base::nearest(kind, kKinds);
  at.refuse(fmt::format("unknown kind {}", shortened(kind)),
            near ? fmt::format("did you mean {}?", *near)
                 : fmt::format("kinds are {}", list_words(kKinds)));
  return Body{};
}

}  // namespace

std::vector<std::string_view> known_kinds() { return {kKinds.begin(), kKinds.end()}; }

Document read_document(const Tree& tree, Fault& fault) {
  Document document;
  const Field root(&tree, "", fault);
  const Map map = root.map({"apiVersion", "kind", "metadata", "spec", "status"});
  const Field version = map.required("apiVersion", "add the line apiVersion: berth/v1");
  if (version && version.is_scalar() && version.written() != kVersion)
    version.refuse(fmt::format("unknown version {}", shortened(version.written())),
                   "this Berth reads berth/v1");
  else if (version)
    version.text(kVersion.size());
  const Field kind =
      map.required("kind", fmt::format("add the line kind: …, one of {}", list_words(kKinds)));
  if (kind) {
    const std::string name = kind.text(kMaxListItems);
    if (!fault.error) document.body = read_body(map, name, kind);
  }
  return document;
}

}  // namespace manifest
