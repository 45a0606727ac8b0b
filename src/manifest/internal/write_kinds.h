#pragma once
// The full form of each kind as a tree: what the readers of internal/read_kinds.h read back to the
// same value. Every field that has a value is written, defaults included.

#include "manifest/document.h"
#include "manifest/internal/tree.h"

namespace manifest {

Tree write_document(const Document& document);
// {apiVersion, kind, metadata: {name}}, to which spec is added.
Tree write_heading(std::string_view kind, std::string_view name);

Tree write_workload(const WorkloadDocument& document);
Tree write_queue(const QueueDocument& document);
Tree write_pool(const PoolDocument& document);
Tree write_class(const ClassDocument& document);
Tree write_policy(const PolicyDocument& document);
Tree write_topology(const TopologyDocument& document);

Tree write_texts(const std::vector<std::string>& texts);
Tree write_text_map(const std::map<std::string, std::string>& texts);
Tree write_duration(base::Duration duration);
Tree write_instant(base::Instant instant);
// cpu 0.5, memory 40Gi, anything else a whole number.
Tree write_amount(std::string_view resource, std::int64_t amount);
template <base::NamedEnum E>
Tree write_enum(E value) {
  return Tree::of_word(base::name_of(value));
}

}  // namespace manifest
