#include "manifest/daemon_config.h"

#include <gtest/gtest.h>

namespace manifest {
namespace {

base::Error refused(std::string_view text) {
  const auto config = parse_daemon_config(text, "berth.yaml");
  EXPECT_FALSE(config) << text;
  return config ? base::Error{} : config.error();
}

TEST(DaemonConfig, EveryFieldIsRead) {
  const auto config = parse_daemon_config(R"(
listen: 0.0.0.0:80
dataDir: data
apply: [cluster.yaml, queues.yaml]
node: {name: gpu-1, pool: h800, attributes: {rack: r1}}
probeDevices: false
devices:
  - {model: H800, count: 8}
  - {model: prototype, vendor: acme, memory: 32Gi, shareable: false}
log: {level: debug, form: json}
)",
                                          "berth.yaml");
  ASSERT_TRUE(config) << base::to_text(config.error());
  EXPECT_EQ(config->listen, "0.0.0.0:80");
  EXPECT_EQ(config->data_dir, "data");
  EXPECT_EQ(config->apply, (std::vector<std::string>{"cluster.yaml", "queues.yaml"}));
  EXPECT_EQ(config->node_name, "gpu-1");
  EXPECT_EQ(config->pool, "h800");
  EXPECT_EQ(config->attributes.at("rack"), "r1");
  EXPECT_FALSE(config->probes_devices);
  ASSERT_EQ(config->devices.size(), 2u);
  EXPECT_EQ(config->devices[0], (DeclaredDevice{.model = "H800", .count = 8}));
  EXPECT_EQ(config->devices[1], (DeclaredDevice{.model = "prototype",
                                                .vendor = "acme",
                                                .memory = std::int64_t{32} << 30,
                                                .is_shareable = false}));
  EXPECT_EQ(config->log_level, "debug");
  EXPECT_EQ(config->log_form, "json");
}

TEST(DaemonConfig, AnEmptyFileIsAllDefaults) {
  EXPECT_EQ(parse_daemon_config("", "berth.yaml"), DaemonConfig{});
  EXPECT_EQ(parse_daemon_config("# nothing\n", "berth.yaml"), DaemonConfig{});
}

TEST(DaemonConfig, AnUnknownKeyIsRefusedWithItsPlaceAndTheNearestKey) {
  const auto error = refused("listen: a:1\ndatadir: x\n");
  EXPECT_EQ(error.field, "berth.yaml:2: datadir");
  EXPECT_NE(base::to_text(error).find("dataDir"), std::string::npos) << base::to_text(error);
  EXPECT_NE(refused("devices: [{model: H800, amount: 8}]").field.find("devices[0].amount"),
            std::string::npos);
}

TEST(DaemonConfig, WrongValuesAreRefusedWithTheirPlace) {
  EXPECT_NE(refused("devices: [{count: 8}]").field.find("devices[0].model"), std::string::npos);
  EXPECT_NE(refused("devices: [{model: H800, count: 0}]").field.find("devices[0].count"),
            std::string::npos);
  EXPECT_NE(refused("probeDevices: perhaps").field.find("probeDevices"), std::string::npos);
  EXPECT_NE(refused("log: {level: loud}").field.find("log.level"), std::string::npos);
  EXPECT_NE(refused("- a list").field.find("berth.yaml"), std::string::npos);
  EXPECT_NE(refused("listen: [\n").field.find("berth.yaml"), std::string::npos);
}

}  // namespace
}  // namespace manifest
