#pragma once
// Documents and values of State to text, in the full form: every field that has a value is written,
// defaults included. What is printed parses back to the same document. Values of State get a
// `status` block beside it, which is for reading: parse() takes it and ignores it.

#include <string>
#include <vector>

#include "manifest/document.h"
#include "model/state.h"

namespace manifest {

enum class Format { Yaml, Json };

std::string print(const Document& document, Format format);
// YAML documents parted by "---", or one JSON list.
std::string print(const std::vector<Document>& documents, Format format);

// The document that would say the same: ids become names. Whatever `state` does not know (an id of
// another State) is left out.
WorkloadDocument document_of(const model::State& state, const model::Workload& workload);
QueueDocument document_of(const model::State& state, const model::Queue& queue);
PoolDocument document_of(const model::State& state, const model::Pool& pool);

std::string print_workload(const model::State& state, const model::WorkloadRecord& record,
                           Format format);
std::string print_queue(const model::State& state, const model::QueueRecord& record, Format format);
std::string print_pool(const model::State& state, const model::PoolRecord& record, Format format);
std::string print_class(const model::WorkloadClass& workload_class, Format format);
std::string print_policy(const model::PolicySet& policy, Format format);
std::string print_topology(const model::Topology& topology, Format format);
// A node is only reported, never applied: its spec is what the backend said.
std::string print_node(const model::State& state, const model::NodeRecord& record, Format format);

}  // namespace manifest
