// The documents in examples/ are read by people first: each must be good, and together they must
// resolve in the order in which their comments say to apply them.

#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "manifest/parse.h"
#include "manifest/print.h"
#include "manifest/resolve.h"
#include "policy/default_policy.h"

namespace manifest {
namespace {

// Tests run at the root of the repository.
const std::filesystem::path kExamples = "examples";

std::vector<Document> documents_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  auto documents = parse(text.str(), {.source = path.filename().string()});
  if (documents) return *std::move(documents);
  ADD_FAILURE() << base::to_text(documents.error());
  return {};
}

// What lifecycle would do with the definitions, as far as names go.
void define(model::State& state, const Value& value) {
  if (const auto* pool = std::get_if<model::Pool>(&value)) {
    model::PoolRecord record{.pool = *pool, .path = {pool->id}, .children = {}, .nodes = {}};
    if (model::PoolRecord* parent = state.pools.find(pool->parent)) {
      parent->children.push_back(pool->id);
      record.path.insert(record.path.end(), parent->path.begin(), parent->path.end());
    }
    state.pools.insert(pool->id, std::move(record));
    state.pool_by_name.emplace(pool->name, pool->id);
  } else if (const auto* queue = std::get_if<model::Queue>(&value)) {
    model::QueueRecord record;
    record.queue = *queue;
    record.path = {queue->id};
    state.queues.insert(queue->id, std::move(record));
    state.queue_by_name.emplace(queue->name, queue->id);
  }
}

TEST(Examples, AreGoodDocumentsAndPrintBackTheSame) {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kExamples)) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    for (const Document& document : documents_of(entry.path())) {
      const auto again = parse_one(print(document, Format::Yaml));
      ASSERT_TRUE(again) << document.source << ": " << base::to_text(again.error());
      EXPECT_EQ(again->body, document.body) << document.source;
    }
  }
  EXPECT_GE(files, 5U);
}

TEST(Examples, TheOrganisationTakesItsWorkloads) {
  model::State state;
  for (const model::WorkloadClass& shipped : policy::default_classes()) {
    state.classes.insert(shipped.id, shipped);
    state.class_by_name.emplace(shipped.name, shipped.id);
  }
  std::map<model::Kind, int> kinds;
  for (const std::string_view file : {"organisation.yaml", "classes.yaml", "workloads.yaml"}) {
    for (const Document& document : documents_of(kExamples / file)) {
      const auto resolved = resolve(document, state);
      ASSERT_TRUE(resolved) << base::to_text(resolved.error());
      define(state, resolved->value);
      if (const auto* workload = std::get_if<model::Workload>(&resolved->value))
        ++kinds[workload->kind];
    }
  }
  EXPECT_EQ(kinds, (std::map<model::Kind, int>{{model::Kind::TrainingJob, 5},
                                               {model::Kind::InferenceService, 3},
                                               {model::Kind::Notebook, 2},
                                               {model::Kind::BatchInference, 2}}));
}

TEST(Examples, TheClassesAreTheShippedOnes) {
  std::vector<model::WorkloadClass> classes;
  for (const Document& document : documents_of(kExamples / "classes.yaml"))
    classes.push_back(std::get<ClassDocument>(document.body).workload_class);
  auto shipped = policy::default_classes();
  for (model::WorkloadClass& one : shipped)
    one.id = model::ClassId{};
  EXPECT_EQ(classes, shipped);
}

}  // namespace
}  // namespace manifest
