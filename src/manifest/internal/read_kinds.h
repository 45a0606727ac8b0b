#pragma once
// The reader of each kind: a checked map of the document's top level to the value that it says.
// Faults go to the Fault behind the fields; what is returned after one is without meaning.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "manifest/document.h"
#include "manifest/internal/field.h"
#include "model/workload.h"

namespace manifest {

// How a group is called that nobody named.
inline constexpr std::string_view kOnlyGroup = "main";
// The bounds of one workload.
inline constexpr std::int32_t kMaxMembers = 100'000;
inline constexpr std::size_t kMaxGroups = 1000;
inline constexpr int kMaxGroupDepth = 16;
inline constexpr std::int32_t kMaxDevicesPerMember = 1024;

WorkloadDocument read_workload(const Map& document, model::Kind kind);
QueueDocument read_queue(const Map& document);
PoolDocument read_pool(const Map& document);
ClassDocument read_class(const Map& document);
PolicyDocument read_policy(const Map& document);
TopologyDocument read_topology(const Map& document);

// Names of names, "search/nlp".
void check_queue_name(const Field& field, std::string_view name);

// How an amount of a resource is written: cpu 0.5, memory 40Gi, anything else a whole number.
enum class AmountForm { Milli, Bytes, Count };
bool is_known_resource(std::string_view resource);  // by a fixed name, not a custom one
std::string_view known_resource_name(model::ResourceId resource);
AmountForm amount_form_of(std::string_view resource);
std::int64_t read_amount(const Field& field, std::string_view resource);

}  // namespace manifest
