#include "manifest/submit_flags.h"

#include <array>
#include <utility>

#include "manifest/internal/read_document.h"
#include "manifest/internal/tree.h"

namespace manifest {

namespace {

using base::Code;

struct FlagOfPath {
  std::string_view path;
  std::string_view flag;
};
// The first row whose path begins the path of the fault.
constexpr std::array<FlagOfPath, 20> kFlags{{{"kind", "--kind"},
                                             {"metadata.name", "--name"},
                                             {"metadata.queue", "--queue"},
                                             {"metadata.labels", "--label"},
                                             {"spec.class", "--class"},
                                             {"spec.resources.gpu.model", "--model"},
                                             {"spec.resources.gpu.memory", "--gpu-memory"},
                                             {"spec.resources.gpu.slice", "--slice"},
                                             {"spec.resources.cpu", "--cpus"},
                                             {"spec.resources.memory", "--memory"},
                                             {"spec.replicas.min", "--min-members"},
                                             {"spec.replicas", "--members"},
                                             {"spec.timeLimit", "--time"},
                                             {"spec.estimate", "--estimate"},
                                             {"spec.pools", "--pool"},
                                             {"spec.topology", "--topology"},
                                             {"spec.env", "--env"},
                                             {"spec.workdir", "--dir"},
                                             {"spec.image", "--image"},
                                             {"spec.command", "command"}}};

std::string flag_of(const std::string& path, const SubmitFlags& flags) {
  for (const FlagOfPath& row : kFlags)
    if (path.starts_with(row.path)) return std::string(row.flag);
  if (path.starts_with("spec.resources.gpu")) {
    if (!flags.gpus.empty()) return "--gpus";
    return flags.share.empty() ? "--model" : "--share";
  }
  return path;
}

Tree words(const std::vector<std::string>& texts) {
  Tree list = Tree::list();
  for (const std::string& text : texts)
    list.items.push_back(Tree::of_text(text));
  return list;
}

// A flag's text stands for a plain word: 8 is a number there too.
void put_given(Tree& map, std::string_view key, const std::string& text) {
  if (!text.empty()) map.put(key, Tree::of_word(text));
}

void put_text(Tree& map, std::string_view key, const std::string& text) {
  map.put_unless_empty(key, Tree::of_text(text));
}

Tree device_tree(const SubmitFlags& flags) {
  const bool is_plain = flags.share.empty() && flags.gpu_memory.empty() && flags.slice.empty() &&
                        flags.models.empty();
  if (is_plain) return flags.gpus.empty() ? Tree{} : Tree::of_word(flags.gpus);
  Tree map = Tree::map();
  // --gpus 0.5 with a model is a share.
  const bool is_part = flags.gpus.find('.') != std::string::npos || flags.gpus.ends_with('m');
  put_given(map, is_part && flags.share.empty() ? "share" : "count", flags.gpus);
  put_given(map, "share", flags.share);
  put_given(map, "memory", flags.gpu_memory);
  put_text(map, "slice", flags.slice);
  return map.put_unless_empty("model", words(flags.models));
}

Tree replicas_tree(const SubmitFlags& flags) {
  if (flags.min_members.empty())
    return flags.members.empty() ? Tree{} : Tree::of_word(flags.members);
  Tree map = Tree::map();
  put_given(map, "min", flags.min_members);
  put_given(map, "max", flags.members);
  return map;
}

// "key=value" rows to a map; the flag of the first row that has no "=" or comes twice, if any.
base::Result<Tree> pairs(const std::vector<std::string>& rows, std::string_view flag) {
  Tree map = Tree::map();
  for (const std::string& row : rows) {
    const std::size_t equals = row.find('=');
    if (equals == std::string::npos || equals == 0)
      return base::fail_field(Code::InvalidArgument, std::string(flag),
                              fmt::format("{} is not of the form name=value", shortened(row)),
                              fmt::format("write {} NAME=value", flag));
    const std::string key = row.substr(0, equals);
    if (map.find(key) != nullptr)
      return base::fail_field(Code::InvalidArgument, std::string(flag),
                              fmt::format("{} is given twice", shortened(key)),
                              "keep one of the two");
    map.put(key, Tree::of_text(row.substr(equals + 1)));
  }
  return map;
}

void put_unless_null(Tree& map, std::string_view key, Tree value) {
  if (value.shape != Tree::Shape::Null) map.put_unless_empty(key, std::move(value));
}

Tree spec_tree(const SubmitFlags& flags, Tree env) {
  Tree resources = Tree::map();
  put_unless_null(resources, "gpu", device_tree(flags));
  put_given(resources, "cpu", flags.cpus);
  put_given(resources, "memory", flags.memory);
  Tree spec = Tree::map();
  put_text(spec, "class", flags.class_name);
  put_unless_null(spec, "replicas", replicas_tree(flags));
  spec.put_unless_empty("resources", std::move(resources));
  spec.put_unless_empty("pools", words(flags.pools));
  if (!flags.topology.empty())
    spec.put("topology", Tree::map().put("required", Tree::of_text(flags.topology)));
  put_given(spec, "timeLimit", flags.time);
  put_given(spec, "estimate", flags.estimate);
  spec.put_unless_empty("command", words(flags.argv));
  spec.put_unless_empty("env", std::move(env));
  put_text(spec, "workdir", flags.directory);
  put_text(spec, "image", flags.image);
  return spec;
}

base::Result<base::Done> check_combination(const SubmitFlags& flags) {
  if (!base::enum_from<model::Kind>(flags.kind))
    return base::fail_field(
        Code::InvalidArgument, "--kind",
        fmt::format("{} is not a kind of work", shortened(flags.kind)),
        "use TrainingJob, InferenceService, Notebook, BatchInference or Workload");
  if (!flags.gpus.empty() && !flags.share.empty())
    return base::fail_field(Code::InvalidArgument, "--share",
                            "--gpus and --share both say how much of a device",
                            "keep one of the two");
  if (flags.members.empty() && !flags.min_members.empty())
    return base::fail_field(Code::InvalidArgument, "--min-members",
                            "--min-members without --members", "add --members, the number wanted");
  if (flags.argv.empty() && flags.image.empty())
    return base::fail_field(Code::InvalidArgument, "command", "there is no command to run",
                            "write it after two dashes: … -- python train.py");
  return base::Done{};
}

}  // namespace

base::Result<Document> document_of(const SubmitFlags& flags) {
  if (const auto checked = check_combination(flags); !checked)
    return tl::unexpected(checked.error());
  auto labels = pairs(flags.labels, "--label");
  if (!labels) return tl::unexpected(labels.error());
  auto env = pairs(flags.env, "--env");
  if (!env) return tl::unexpected(env.error());
  Tree metadata = Tree::map();
  put_text(metadata, "name", flags.name);
  put_text(metadata, "queue", flags.queue);
  metadata.put_unless_empty("labels", *std::move(labels));
  Tree tree = Tree::map();
  tree.put("apiVersion", Tree::of_word("berth/v1"));
  tree.put("kind", Tree::of_text(flags.kind));
  tree.put("metadata", std::move(metadata));
  tree.put("spec", spec_tree(flags, *std::move(env)));
  Fault fault;
  Document document = read_document(tree, fault);
  if (!fault.error) return document;
  fault.error->field = flag_of(fault.error->field, flags);
  return tl::unexpected(*fault.error);
}

}  // namespace manifest
