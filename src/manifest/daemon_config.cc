#include "manifest/daemon_config.h"

#include <array>
#include <utility>

#include "manifest/internal/field.h"
#include "manifest/internal/read_text.h"
#include "manifest/internal/tree.h"

namespace manifest {

namespace {

constexpr std::size_t kMaxPathBytes = 4096;
constexpr std::array<std::string_view, 4> kLevels{"debug", "info", "warning", "error"};
constexpr std::array<std::string_view, 3> kForms{"auto", "json", "human"};

DeclaredDevice read_device(const Field& field) {
  const Map map = field.map({"model", "vendor", "count", "memory", "shareable"});
  DeclaredDevice device;
  if (const Field model = map.required("model", "name the model, \"H800\""))
    device.model = model.text(63);
  if (const Field f = map["vendor"]) device.vendor = f.name();
  if (const Field f = map["count"]) device.count = f.integer(1, 1024);
  if (const Field f = map["memory"]) device.memory = f.bytes();
  if (const Field f = map["shareable"]) device.is_shareable = f.boolean();
  return device;
}

void read_node(const Field& field, DaemonConfig& config) {
  const Map node = field.map({"name", "pool", "attributes"});
  if (const Field f = node["name"]) config.node_name = f.name();
  if (const Field f = node["pool"]) config.pool = f.name();
  if (const Field f = node["attributes"]) config.attributes = f.text_map(256, 253);
}

void read_log(const Field& field, DaemonConfig& config) {
  const Map log = field.map({"level", "form"});
  if (const Field f = log["level"]) config.log_level = kLevels[f.index_of(kLevels)];
  if (const Field f = log["form"]) config.log_form = kForms[f.index_of(kForms)];
}

DaemonConfig read_config(const Field& root) {
  DaemonConfig config;
  const Map map =
      root.map({"listen", "dataDir", "apply", "node", "probeDevices", "devices", "log"});
  if (const Field f = map["listen"]) config.listen = f.text(255);
  if (const Field f = map["dataDir"]) config.data_dir = f.text(kMaxPathBytes);
  if (const Field f = map["apply"]) config.apply = f.texts(100, kMaxPathBytes);
  if (const Field f = map["node"]) read_node(f, config);
  if (const Field f = map["probeDevices"]) config.probes_devices = f.boolean();
  if (const Field f = map["devices"])
    for (const Field& item : f.items(1024))
      config.devices.push_back(read_device(item));
  if (const Field f = map["log"]) read_log(f, config);
  return config;
}

std::string place(std::string_view source, int line, const std::string& path) {
  std::string text(source);
  if (line > 0) text += ":" + std::to_string(line);
  return path.empty() ? text : text + ": " + path;
}

}  // namespace

base::Result<DaemonConfig> parse_daemon_config(std::string_view text, std::string_view source) {
  auto trees = read_yaml(text, 1);
  if (!trees) {
    base::Error error = std::move(trees.error());
    error.field = std::string(source) + (error.field.empty() ? "" : ":" + error.field);
    return tl::unexpected(std::move(error));
  }
  if (trees->empty()) return DaemonConfig{};
  Fault fault;
  DaemonConfig config = read_config(Field(&trees->front(), "", fault));
  if (fault.error) {
    fault.error->field = place(source, fault.line, fault.error->field);
    return tl::unexpected(std::move(*fault.error));
  }
  return config;
}

}  // namespace manifest
