// The whole of it: real server, client and Controller, with the journal in memory.
#include "api/rest_api.h"

#include <map>
#include <optional>
#include <set>

#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>
#include <boost/json.hpp>

#include "api/internal/openapi_text.h"
#include "api/internal/routes.h"
#include "api/internal/served_api.h"
#include "platform/file.h"
#include "store/memory/memory_store.h"

namespace api {
namespace {

namespace json = boost::json;
using platform::HttpHeaders;
using platform::HttpResponse;

constexpr std::string_view kJob =
    "apiVersion: berth/v1\n"
    "kind: TrainingJob\n"
    "metadata: {name: NAME, labels: {team: nlp}}\n"
    "spec: {resources: {gpu: GPUS, cpu: 1}, command: [train]}\n";

std::string job(const std::string& name, int gpus) {
  std::string text(kJob);
  text.replace(text.find("NAME"), 4, name);
  return text.replace(text.find("GPUS"), 4, std::to_string(gpus));
}

class Rest : public testing::Test {
 protected:
  HttpResponse call(const std::string& method, const std::string& path, const std::string& who,
                    const std::string& body = {}, HttpHeaders headers = {}) {
    return api_.call(method, path, who, body, std::move(headers));
  }
  HttpResponse get(const std::string& path, const std::string& who = "viewer") {
    return call("GET", path, who);
  }
  json::value body_of(const HttpResponse& response) {
    boost::system::error_code error;
    json::value value = json::parse(response.body, error);
    EXPECT_FALSE(error) << response.body;
    return value;
  }
  json::value read(const std::string& path) {
    const HttpResponse response = get(path);
    EXPECT_EQ(response.status, 200) << response.body;
    return body_of(response);
  }
  std::int64_t submit(const std::string& name, int gpus, const std::string& who = "user:alice") {
    const HttpResponse response = call("POST", "/api/v1/trainingjobs", who, job(name, gpus));
    EXPECT_EQ(response.status, 201) << response.body;
    return body_of(response).at("number").as_int64();
  }
  // The backend reports its node in a turn of its own.
  void await_node() {
    for (int i = 0; i < 1000; ++i)
      if (get("/api/v1/nodes/n1").status == 200) return;
    ADD_FAILURE() << "n1 was not reported";
  }
  // The loop is asked until the workload is there: each question is a turn of its own.
  void await_state(std::int64_t number, const std::string& state) {
    for (int i = 0; i < 1000; ++i)
      if (read("/api/v1/workloads/" + std::to_string(number)).at("state").as_string() == state)
        return;
    ADD_FAILURE() << number << " did not become " << state;
  }
  std::string code_of(const HttpResponse& response) {
    EXPECT_EQ(*platform::find_header(response.headers, "Content-Type"), "application/problem+json");
    return std::string(body_of(response).at("code").as_string());
  }

  store::MemoryStore store_;
  ServedApi api_{store_,
                 {.version = "1.2.3",
                  .metrics = [] { return std::string("berth_up 1\n"); },
                  .files = [](const platform::HttpRequest& request) -> std::optional<HttpResponse> {
                    if (request.path != "/") return std::nullopt;
                    return HttpResponse{.body = "console"};
                  },
                  .on_answer = {}}};
};

// ---- the description and the table ----

struct Operation {
  std::string method, path, role;
  std::set<std::string> parameters;
};

std::vector<Operation> described_operations() {
  std::vector<Operation> operations;
  const YAML::Node document = YAML::Load(std::string(openapi_text()));
  const YAML::Node shared = document["components"]["parameters"];
  for (const auto& path : document["paths"])
    for (const auto& entry : path.second) {
      if (entry.first.as<std::string>() == "parameters") continue;
      Operation operation{.path = path.first.as<std::string>(),
                          .role = entry.second["x-role"].as<std::string>()};
      for (const char c : entry.first.as<std::string>())
        operation.method += static_cast<char>(std::toupper(c));
      for (const YAML::Node& list : {path.second["parameters"], entry.second["parameters"]})
        for (std::size_t i = 0; list && i < list.size(); ++i) {
          const YAML::Node reference = list[i]["$ref"];
          const std::string word = reference ? reference.as<std::string>() : std::string();
          const YAML::Node parameter =
              reference ? shared[word.substr(word.rfind('/') + 1)] : list[i];
          if (parameter["in"].as<std::string>() == "query")
            operation.parameters.insert(parameter["name"].as<std::string>());
        }
      operations.push_back(std::move(operation));
    }
  return operations;
}

// A path with its names filled in: of things that do not exist, so that nothing is changed.
std::string filled(std::string path) {
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{'))
    path.replace(open, path.find('}') - open + 1, "7.7");
  return path;
}

TEST(OpenApi, TheTextInTheProgramIsTheFile) {
  EXPECT_EQ(openapi_text(), platform::read_file("src/api/openapi.yaml").value())
      << "build again after touching src/api/openapi_text.cc";
}

TEST(OpenApi, DescribesExactlyTheRoutesWithTheirRolesAndParameters) {
  static constexpr std::string_view kRoles[] = {"viewer", "user", "operator", "admin"};
  std::map<std::string, std::pair<std::string, std::set<std::string>>> described, routed;
  for (const Operation& operation : described_operations())
    if (operation.role != "none")
      described[operation.method + " " + operation.path] = {operation.role, operation.parameters};
  for (const Route& route : routes())
    routed[fmt::format("{} {}", route.method, route.path)] = {
        std::string(kRoles[static_cast<std::size_t>(route.role)]),
        {route.parameters.begin(), route.parameters.end()}};
  EXPECT_EQ(described, routed);
  EXPECT_GT(routed.size(), 35u);
}

TEST_F(Rest, NoOperationAnswersWithoutATokenOrWithAWrongOne) {
  for (const Operation& operation : described_operations()) {
    if (operation.role == "none") continue;
    const std::string path = filled(operation.path);
    for (const char* who : {"", "nobody", "viewer2", "Admin"}) {
      const HttpResponse response = call(operation.method, path, who);
      EXPECT_EQ(response.status, 401) << operation.method << " " << path << " as " << who;
      EXPECT_EQ(code_of(response), "Unauthenticated");
      EXPECT_NE(platform::find_header(response.headers, "WWW-Authenticate"), nullptr);
    }
  }
  EXPECT_EQ(call("GET", "/api/v1/secret-of-the-house", "").status, 401);  // nor does it tell paths
}

TEST_F(Rest, EveryRoleIsRefusedWhatIsAboveItAndLetThroughToWhatIsNot) {
  const std::vector<std::string> roles{"viewer", "user", "operator", "admin"};
  const auto rank = [&roles](const std::string& role) {
    return std::find(roles.begin(), roles.end(), role) - roles.begin();
  };
  for (const Operation& operation : described_operations()) {
    if (operation.role == "none") continue;
    for (const std::string& role : roles) {
      const HttpResponse response = call(operation.method, filled(operation.path), role);
      const bool is_refused = rank(role) < rank(operation.role);
      EXPECT_EQ(response.status == 403, is_refused)
          << operation.method << " " << operation.path << " as " << role << ": " << response.status;
      EXPECT_NE(response.status, 500) << response.body;
    }
  }
}

TEST_F(Rest, HealthAndTheConsoleAreOpenAndReadinessTellsWhyNot) {
  EXPECT_EQ(call("GET", "/livez", "").status, 200);
  EXPECT_EQ(call("GET", "/readyz", "").status, 200);
  EXPECT_EQ(call("GET", "/", "").body, "console");
  EXPECT_EQ(call("GET", "/nothing", "").status, 404);
  api_.loop.is_ready = false;
  const HttpResponse response = call("GET", "/readyz", "");
  EXPECT_EQ(response.status, 503);
  EXPECT_NE(response.body.find("the journal is being read"), std::string::npos);
  EXPECT_EQ(call("GET", "/livez", "").status, 200);
}

TEST_F(Rest, WrongPathsMethodsAndParametersSayWhatIsRight) {
  EXPECT_EQ(get("/api/v1/workload").status, 404);
  EXPECT_EQ(get("/api/v1/workloads/").status, 404);
  const HttpResponse method = call("PUT", "/api/v1/workloads", "admin", "x");
  EXPECT_EQ(method.status, 405);
  EXPECT_EQ(*platform::find_header(method.headers, "Allow"), "GET, POST");
  const HttpResponse parameter = get("/api/v1/workloads?ownr=alice");
  EXPECT_EQ(parameter.status, 400);
  EXPECT_EQ(body_of(parameter).at("field").as_string(), "ownr");
  EXPECT_EQ(body_of(parameter).at("hint").as_string(), "did you mean \"owner\"?");
  for (const char* query : {"limit=0", "limit=1001", "limit=x", "cursor=x", "sort=name",
                            "state=runing", "owner=a&owner=b", "kind=Job", "owner=%zz"}) {
    const HttpResponse response = get(std::string("/api/v1/workloads?") + query);
    EXPECT_EQ(response.status, 400) << query << response.body;
    EXPECT_EQ(code_of(response), "InvalidArgument");
  }
  EXPECT_EQ(body_of(get("/api/v1/workloads?queue=defalt")).at("hint").as_string(),
            "did you mean \"default\"?");
}

// ---- submitting and what becomes of it ----

TEST_F(Rest, AWorkloadIsSubmittedRunsAndIsShown) {
  const std::int64_t number = submit("train", 8);
  await_state(number, "Running");
  const json::value shown = read("/api/v1/workloads/" + std::to_string(number));
  EXPECT_EQ(shown.at("name").as_string(), "train");
  EXPECT_EQ(shown.at("user").as_string(), "alice");
  EXPECT_EQ(shown.at("queue").as_string(), "default");
  EXPECT_EQ(shown.at("gpus").at("milli").as_int64(), 8000);
  EXPECT_EQ(shown.at("gpus").at("text").as_string(), "8");
  EXPECT_EQ(shown.at("nodes").as_array().at(0).as_string(), "n1");
  EXPECT_EQ(shown.at("attempts").as_array().size(), 1u);
  EXPECT_EQ(shown.at("command").at("argv").as_array().at(0).as_string(), "train");
  EXPECT_EQ(read("/api/v1/workloads/train").at("number").as_int64(), number);
  const json::value node = read("/api/v1/nodes/n1");
  EXPECT_EQ(node.at("gpusUsed").at("milli").as_int64(), 8000);
  EXPECT_EQ(read("/api/v1/devices?state=free").at("items").as_array().size(), 0u);
  EXPECT_EQ(read("/api/v1/queues/default").at("activeWorkloads").as_int64(), 1);
  const json::value attempt = read("/api/v1/attempts/" + std::to_string(number) + ".1");
  EXPECT_EQ(attempt.at("members").as_array().at(0).at("devices").as_array().size(), 8u);
}

TEST_F(Rest, ABlockedWorkloadIsExplainedInBothLanguages) {
  const std::int64_t first = submit("first", 8);
  const std::int64_t second = submit("second", 4, "user:bob");
  const std::string path = "/api/v1/workloads/" + std::to_string(second) + "/why";
  const json::value why = read(path);
  EXPECT_EQ(why.at("verdict").as_string(), "blocked");
  EXPECT_EQ(why.at("workload").as_int64(), second);
  const json::array& steps = why.at("steps").as_array();
  const auto place = std::find_if(steps.begin(), steps.end(), [](const json::value& step) {
    return step.at("test").as_string() == "place";
  });
  ASSERT_NE(place, steps.end());
  EXPECT_EQ(place->at("pool").as_string(), "default");
  EXPECT_EQ(place->at("holders").as_array().at(0).at("workload").as_int64(), first);
  EXPECT_EQ(place->at("holders").as_array().at(0).at("name").as_string(), "first");
  const std::string english(why.at("text").as_string());
  const std::string chinese(read(path + "?lang=zh").at("text").as_string());
  EXPECT_NE(english.find("first"), std::string::npos) << english;
  EXPECT_NE(english, chinese);
  EXPECT_EQ(get(path + "?lang=fr").status, 400);
  const json::value fits = body_of(call("POST", "/api/v1/fits", "viewer", job("x", 16)));
  EXPECT_EQ(fits.at("verdict").as_string(), "infeasible");
  EXPECT_EQ(fits.at("question").as_string(), "fits");
}

TEST_F(Rest, OnlyTheOwnerOrAnOperatorMayCancelHoldAndRelease) {
  const std::int64_t number = submit("mine", 8, "user:alice");
  const std::string path = "/api/v1/workloads/" + std::to_string(number);
  for (const char* verb : {"/cancel", "/hold", "/release"})
    EXPECT_EQ(call("POST", path + verb, "user:mallory").status, 403) << verb;
  EXPECT_EQ(call("DELETE", path, "user:mallory").status, 403);
  const std::int64_t waiting = submit("waiting", 8, "user:alice");
  const std::string other = "/api/v1/workloads/" + std::to_string(waiting);
  EXPECT_EQ(call("POST", other + "/hold", "operator").status, 200);
  EXPECT_EQ(read(other).at("reason").as_string(), "Held");
  EXPECT_EQ(call("POST", other + "/release", "user:alice").status, 200);
  EXPECT_EQ(call("POST", path + "/cancel", "user:alice").status, 200);
  await_state(number, "Cancelled");
  await_state(waiting, "Running");
  const HttpResponse again = call("DELETE", path, "user:alice");
  EXPECT_EQ(again.status, 409);
  EXPECT_EQ(code_of(again), "FailedPrecondition");
  EXPECT_EQ(call("POST", "/api/v1/workloads/999/cancel", "operator").status, 404);
}

TEST_F(Rest, TheSameIdempotencyKeyGivesTheSameWorkloadToTheSameUserOnly) {
  const HttpHeaders key{{"Idempotency-Key", "k-1"}};
  const auto post = [&](const std::string& who, const std::string& name) {
    return call("POST", "/api/v1/trainingjobs", who, job(name, 1), key);
  };
  const HttpResponse first = post("user:alice", "a");
  EXPECT_EQ(first.status, 201);
  EXPECT_EQ(*platform::find_header(first.headers, "Location"),
            fmt::format("/api/v1/workloads/{}", body_of(first).at("number").as_int64()));
  const HttpResponse again = post("user:alice", "a");
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(body_of(again).at("action").as_string(), "unchanged");
  EXPECT_EQ(body_of(again).at("number"), body_of(first).at("number"));
  EXPECT_EQ(post("user:alice", "other").status, 409);
  const HttpResponse stranger = post("user:bob", "b");
  EXPECT_EQ(stranger.status, 201);
  EXPECT_NE(body_of(stranger).at("number"), body_of(first).at("number"));
  EXPECT_EQ(call("POST", "/api/v1/trainingjobs", "user", job("c", 1),
                 {{"Idempotency-Key", std::string(129, 'x')}})
                .status,
            400);
}

TEST_F(Rest, ADryRunSaysWhatWouldBeAndChangesNothing) {
  await_node();
  const HttpResponse response =
      call("POST", "/api/v1/trainingjobs?dryRun=true", "user", job("ghost", 8));
  EXPECT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(body_of(response).at("would").at("verdict").as_string(), "starts");
  EXPECT_EQ(body_of(response).as_object().contains("number"), false);
  EXPECT_EQ(read("/api/v1/workloads").at("items").as_array().size(), 0u);
}

TEST_F(Rest, ApplyChecksEverythingFirstAndThenReportsEachDocument) {
  const std::string queue =
      "---\napiVersion: berth/v1\nkind: Queue\nmetadata: {name: nlp}\nspec: {weight: 2}\n";
  const std::string bad =
      "---\napiVersion: berth/v1\nkind: Queue\nmetadata: {name: x}\nspec: {wieght: 1}\n";
  const HttpResponse broken = call("POST", "/api/v1/apply", "admin", queue + bad);
  EXPECT_EQ(broken.status, 400) << broken.body;
  EXPECT_NE(std::string(body_of(broken).at("field").as_string()).find("wieght"), std::string::npos);
  EXPECT_EQ(get("/api/v1/queues/nlp").status, 404);
  EXPECT_EQ(call("POST", "/api/v1/apply", "user", queue).status, 403);

  std::string inside = "---\n" + job("inside", 1);
  inside.replace(inside.find("labels"), 6, "queue: nlp, labels");
  std::string lost = "---\n" + job("lost", 1);
  lost.replace(lost.find("labels"), 6, "queue: nowhere, labels");
  const HttpResponse mixed = call("POST", "/api/v1/apply", "admin", queue + inside + lost);
  EXPECT_EQ(mixed.status, 207) << mixed.body;
  const json::array items = body_of(mixed).at("items").as_array();
  ASSERT_EQ(items.size(), 3u);
  EXPECT_EQ(items[0].at("action").as_string(), "created");
  EXPECT_EQ(items[1].at("action").as_string(), "created");
  EXPECT_EQ(items[2].at("action").as_string(), "refused");
  EXPECT_EQ(items[2].at("error").at("code").as_string(), "NotFound");
  const HttpResponse again = call("POST", "/api/v1/apply", "admin", queue);
  EXPECT_EQ(again.status, 200);
  EXPECT_EQ(body_of(again).at("items").as_array().at(0).at("action").as_string(), "unchanged");
  EXPECT_EQ(call("POST", "/api/v1/pools", "admin", queue).status, 400);  // a queue is no pool
}

TEST_F(Rest, HostileBodiesAreRefusedWithAProblem) {
  std::string deep = "{\"apiVersion\":";
  for (int i = 0; i < 100'000; ++i)
    deep += '[';
  for (const std::string& body : std::vector<std::string>{
           "", "{", "[]", "[[[]]]", "null", "42", "kind: [", std::string("\0", 1), "\xff\xfe", deep,
           "a: &a [*a]", "&a a: *a", "{},", ",", std::string(100'000, '-')})
    for (const char* path : {"/api/v1/apply", "/api/v1/fits", "/api/v1/workloads"}) {
      const HttpResponse response = call("POST", path, "admin", body);
      EXPECT_TRUE(response.status == 400 || response.status == 413)
          << path << " " << body.substr(0, 20) << " " << response.status;
      code_of(response);
    }
  EXPECT_EQ(call("POST", "/api/v1/apply", "admin", std::string(2 << 20, 'x')).status, 413);
  EXPECT_EQ(get("/api/v1/server").status, 200);  // still there
}

TEST_F(Rest, ListsArePagedFilteredAndSorted) {
  for (int i = 1; i <= 5; ++i)
    submit("w" + std::to_string(i), 2, i % 2 == 0 ? "user:even" : "user:odd");
  const auto numbers = [this](const std::string& path) {
    std::vector<std::int64_t> found;
    std::string cursor;
    do {
      const json::value page = read(path + (cursor.empty() ? "" : "&cursor=" + cursor));
      EXPECT_LE(page.at("items").as_array().size(), 2u);
      for (const json::value& item : page.at("items").as_array())
        found.push_back(item.at("number").as_int64());
      cursor =
          page.as_object().contains("cursor") ? std::string(page.at("cursor").as_string()) : "";
    } while (!cursor.empty());
    return found;
  };
  using Numbers = std::vector<std::int64_t>;
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2"), (Numbers{1, 2, 3, 4, 5}));
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2&sort=-number"), (Numbers{5, 4, 3, 2, 1}));
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2&owner=even"), (Numbers{2, 4}));
  await_state(4, "Running");
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2&state=pending"), (Numbers{5}));
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2&label=team=nlp&node=n1"), (Numbers{1, 2, 3, 4}));
  EXPECT_EQ(numbers("/api/v1/workloads?limit=2&label=team=cv"), Numbers{});
  EXPECT_EQ(read("/api/v1/devices?limit=3").at("cursor").as_string(), "n1/2");
  EXPECT_EQ(read("/api/v1/devices?limit=5&cursor=n1/2").at("items").as_array().size(), 5u);
  EXPECT_EQ(read("/api/v1/attempts?state=active&limit=2").at("cursor").as_string(), "2.1");
}

TEST_F(Rest, AnUnchangedThingIsNotSentAgain) {
  const HttpResponse first = get("/api/v1/queues/default");
  const std::string tag = *platform::find_header(first.headers, "ETag");
  const HttpResponse same =
      call("GET", "/api/v1/queues/default", "viewer", "", {{"If-None-Match", tag}});
  EXPECT_EQ(same.status, 304);
  EXPECT_EQ(same.body, "");
  submit("w", 1);
  EXPECT_EQ(call("GET", "/api/v1/queues/default", "viewer", "", {{"If-None-Match", tag}}).status,
            200);
}

TEST_F(Rest, NodesAreCordonedByOperatorsWithTheirReason) {
  await_node();
  EXPECT_EQ(call("POST", "/api/v1/nodes/n1/cordon?note=bad%20fan", "operator:olga").status, 200);
  const json::value node = read("/api/v1/nodes/n1");
  EXPECT_EQ(node.at("condition").as_string(), "cordoned");
  EXPECT_EQ(node.at("conditionNote").as_string(), "by olga: bad fan");
  EXPECT_EQ(call("POST", "/api/v1/nodes/n1/uncordon", "operator").status, 200);
  EXPECT_EQ(read("/api/v1/nodes?state=ready").at("items").as_array().size(), 1u);
  EXPECT_EQ(call("POST", "/api/v1/nodes/n9/drain", "operator").status, 404);
}

TEST_F(Rest, RealUseIsGivenWhereItWasMeasuredAndElseAbsent) {
  await_node();
  EXPECT_FALSE(read("/api/v1/nodes/n1").as_object().contains("utilisation"));
  const json::value before = read("/api/v1/devices");
  for (const json::value& device : before.at("items").as_array())
    EXPECT_FALSE(device.as_object().contains("utilisation"));
  api_.loop.set_real_use({.cpu_percent = 7, .memory_used = base::Bytes(std::int64_t{3} << 30)},
                         {.busy_percent = 0, .power_mw = 92'000});
  const json::value node = read("/api/v1/nodes").at("items").at(0);
  EXPECT_EQ(node.at("utilisation").at("cpuPercent"), 7);
  EXPECT_EQ(node.at("utilisation").at("memory").at("text"), "3Gi");
  const json::value devices = read("/api/v1/devices").at("items");
  EXPECT_EQ(json::serialize(devices.at(0).at("utilisation")),
            R"({"percent":0,"powerMilliwatts":92000})");
  EXPECT_FALSE(devices.at(1).as_object().contains("utilisation"));
}

TEST_F(Rest, EveryListAndTheServerAnswer) {
  for (const char* path :
       {"/api/v1/queues", "/api/v1/pools", "/api/v1/classes", "/api/v1/policies",
        "/api/v1/topologies", "/api/v1/nodes", "/api/v1/devices", "/api/v1/events"})
    EXPECT_TRUE(read(path).at("items").is_array()) << path;
  const json::value server = read("/api/v1/server");
  EXPECT_EQ(server.at("version").as_string(), "1.2.3");
  EXPECT_EQ(server.at("role").as_string(), "viewer");
  EXPECT_EQ(get("/metrics").body, "berth_up 1\n");
  EXPECT_EQ(get("/api/v1/openapi.yaml").body, openapi_text());
  EXPECT_EQ(get("/api/v1/usage").status, 501);  // this loop keeps no ledger
  EXPECT_EQ(read("/api/v1/pools/default").at("devices").as_int64(), 8);
  EXPECT_EQ(read("/api/v1/classes/training").at("minRuntime").at("text").as_string(), "10m");
}

// ---- logs ----

TEST_F(Rest, LogsAreReadFromAnOffsetOrFromTheEnd) {
  const std::int64_t number = submit("w", 1);
  await_state(number, "Running");
  const std::string path = fmt::format("/api/v1/attempts/{}.1/logs", number);
  EXPECT_EQ(get(path).status, 404);
  api_.backend.append_log("one\ntwo\nthree\n");
  const HttpResponse whole = get(path);
  EXPECT_EQ(whole.body, "one\ntwo\nthree\n");
  EXPECT_EQ(*platform::find_header(whole.headers, "Berth-Log-Size"), "14");
  EXPECT_EQ(get(path + "?offset=4").body, "two\nthree\n");
  const HttpResponse tail = get(path + "?tail=2");
  EXPECT_EQ(tail.body, "two\nthree\n");
  EXPECT_EQ(*platform::find_header(tail.headers, "Berth-Log-Offset"), "4");
  EXPECT_EQ(get(path + "?tail=0").body, "");
  EXPECT_EQ(get(path + "?tail=9").body, "one\ntwo\nthree\n");
  EXPECT_EQ(get(path + "?tail=1&offset=1").status, 400);
  EXPECT_EQ(get(path + "?member=1").status, 404);
  EXPECT_EQ(get("/api/v1/attempts/x/logs").status, 400);
}

TEST_F(Rest, AFollowedLogGoesOnUntilTheMemberHasEnded) {
  const std::int64_t number = submit("w", 1);
  await_state(number, "Running");
  api_.backend.append_log("first\n");
  std::string got;
  const auto response = api_.client.stream(
      {.url = api_.url(fmt::format("/api/v1/attempts/{}.1/logs?follow=true", number)),
       .headers = {{"Authorization", "Bearer viewer"}}},
      [&](std::string_view bytes) {
        if (got.empty()) {
          api_.backend.append_log("second\n");
          api_.backend.end(
              {.workload = model::WorkloadId(static_cast<std::uint64_t>(number)), .ordinal = 1}, 0);
        }
        got += bytes;
        return true;
      });
  ASSERT_TRUE(response) << base::to_text(response.error());
  EXPECT_EQ(got, "first\nsecond\n");
}

}  // namespace
}  // namespace api
