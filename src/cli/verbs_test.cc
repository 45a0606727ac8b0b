// The verbs against a server that gives recorded answers: what is asked, what is shown, and which
// exit code comes back.

#include <deque>
#include <mutex>

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include "base/text.h"
#include "cli/run.h"
#include "platform/http_server.h"

namespace cli {
namespace {

using platform::HttpRequest;
using platform::HttpResponse;

constexpr base::Instant kNow{1'796'125'800'000};  // 2026-12-01T11:50:00Z

struct Answer {
  HttpResponse response;
  bool is_stream = false;  // the body goes out as a stream that then ends
};

// Answers come by "METHOD path?query"; several for one request are given in turn, the last one for
// ever.
class FakeServer {
 public:
  FakeServer() {
    auto server = platform::HttpServer::start(
        {.port = 0}, [this](HttpRequest request, platform::HttpReply reply) {
          const Answer answer = answer_to(request);
          if (!answer.is_stream) return reply.send(answer.response);
          platform::HttpStream stream =
              reply.stream({.status = 200, .headers = answer.response.headers, .body = {}});
          stream.write(answer.response.body);
          stream.close();
        });
    EXPECT_TRUE(server.has_value());
    server_ = std::move(*server);
  }
  void on(const std::string& request, const std::string& json, int status = 200) {
    add(request,
        {.response = {
             .status = status, .headers = {{"Content-Type", "application/json"}}, .body = json}});
  }
  void on_stream(const std::string& request, const std::string& body) {
    add(request, {.response = {.status = 200,
                               .headers = {{"Content-Type", "text/event-stream"}},
                               .body = body},
                  .is_stream = true});
  }
  void add(const std::string& request, Answer answer) {
    const std::lock_guard lock(mutex_);
    answers_[request].push_back(std::move(answer));
  }
  std::vector<HttpRequest> seen() {
    const std::lock_guard lock(mutex_);
    return seen_;
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(server_->port()); }
  void stop() { server_->stop(); }

 private:
  Answer answer_to(const HttpRequest& request) {
    const std::lock_guard lock(mutex_);
    seen_.push_back(request);
    const std::string key =
        request.method + " " + request.path + (request.query.empty() ? "" : "?" + request.query);
    const auto found = answers_.find(key);
    if (found == answers_.end())
      return {.response = {
                  .status = 404,
                  .headers = {},
                  .body = R"({"code":"NotFound","status":404,"detail":"no answer recorded for )" +
                          key + "\"}"}};
    Answer answer = found->second.front();
    if (found->second.size() > 1) found->second.pop_front();
    return answer;
  }

  std::mutex mutex_;
  std::map<std::string, std::deque<Answer>> answers_;
  std::vector<HttpRequest> seen_;
  std::unique_ptr<platform::HttpServer> server_;  // last: its handler uses the others
};

struct Said {
  int code = -1;
  std::string out, err;
};

class Verbs : public ::testing::Test {
 protected:
  Said say(std::vector<std::string> words, bool is_terminal = false) {
    Said said;
    std::mutex mutex;
    const auto into = [&mutex](std::string& text) {
      return [&mutex, &text](std::string_view bytes) {
        const std::lock_guard lock(mutex);
        text += bytes;
      };
    };
    said.code = run(words, {.console = {.out = into(said.out),
                                        .err = into(said.err),
                                        .is_terminal = is_terminal,
                                        .width = 80},
                            .environment = {{"BERTH_SERVER", server_.url()},
                                            {"BERTH_TOKEN", "t0ken"},
                                            {"HOME", "/nonexistent"}},
                            .directory = "/home/ann",
                            .version = "0.1.0",
                            .clock = [] { return kNow; },
                            .input = [] { return std::string("kind: Queue\n"); }});
    return said;
  }

  FakeServer server_;
};

constexpr const char* kTwoWorkloads = R"({"items":[
  {"number":1042,"name":"llama-ft","kind":"TrainingJob","queue":"search/nlp","class":"training","user":"ann",
   "state":"Running","reason":"","members":2,"gpus":{"milli":16000,"text":"16"},"submitted":"2026-12-01T09:40:00.000Z",
   "started":"2026-12-01T09:41:00.000Z","nodes":["n1","n2"]},
  {"number":1043,"name":"","kind":"Notebook","queue":"vision","class":"notebook","user":"bob","state":"Queued",
   "reason":"NotEnoughFree","members":1,"gpus":{"milli":500,"text":"0.5"},"submitted":"2026-12-01T11:49:30.000Z"}]})";
constexpr const char* kActive = "GET /api/v1/workloads?state=active&limit=1000";

TEST_F(Verbs, QueueShowsWhatWaitsAndRuns) {
  server_.on(kActive, kTwoWorkloads);
  const Said said = say({"queue"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out,
            "NUMBER  NAME      QUEUE       CLASS     STATE        GPUS    AGE  REASON\n"
            "  1042  llama-ft  search/nlp  training  Running  16 (2x8)  2h10m  -\n"
            "  1043  -         vision      notebook  Queued        0.5    30s  NotEnoughFree\n");
  const auto seen = server_.seen();
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(*platform::find_header(seen[0].headers, "Authorization"), "Bearer t0ken");
}

TEST_F(Verbs, OutputForProgramsIsTheServersAnswer) {
  server_.on(kActive, kTwoWorkloads);
  EXPECT_EQ(boost::json::parse(say({"queue", "-o", "json"}).out),
            boost::json::parse(kTwoWorkloads));
  EXPECT_EQ(say({"queue", "-o", "name"}).out, "1042\n1043\n");
  EXPECT_NE(say({"queue", "-o", "yaml"}).out.find("- number: 1042\n  name: llama-ft\n"),
            std::string::npos);
}

TEST_F(Verbs, ColourNeedsATerminal) {
  server_.on(kActive, kTwoWorkloads);
  EXPECT_EQ(say({"queue"}).out.find('\x1b'), std::string::npos);
  EXPECT_NE(say({"queue"}, true).out.find("\x1b[32mRunning"), std::string::npos);
  EXPECT_EQ(say({"queue", "--no-color"}, true).out.find('\x1b'), std::string::npos);
}

TEST_F(Verbs, ALongListIsReadPageByPage) {
  server_.on(kActive, R"({"items":[{"number":1}],"cursor":"c1"})");
  server_.on("GET /api/v1/workloads?state=active&limit=999&cursor=c1",
             R"({"items":[{"number":2}]})");
  EXPECT_EQ(say({"queue", "-o", "name"}).out, "1\n2\n");
}

TEST_F(Verbs, AnEmptyListSaysSoOnTheErrorStream) {
  server_.on(kActive, R"({"items":[]})");
  const Said said = say({"queue"});
  EXPECT_EQ(said.code, 0);
  EXPECT_EQ(said.out, "");
  EXPECT_NE(said.err.find("nothing waits or runs"), std::string::npos);
}

TEST_F(Verbs, FailuresHaveTheirExitCodesAndAHint) {
  server_.on(
      "GET /api/v1/workloads/7",
      R"({"code":"NotFound","status":404,"detail":"there is no workload 7","hint":"see: berth queue --all"})",
      404);
  const Said missing = say({"show", "7"});
  EXPECT_EQ(missing.code, 3);
  EXPECT_EQ(missing.err, "error: there is no workload 7\nhint: see: berth queue --all\n");

  server_.on("POST /api/v1/workloads/8/cancel",
             R"({"code":"PermissionDenied","status":403,"detail":"8 belongs to bob"})", 403);
  EXPECT_EQ(say({"cancel", "8"}).code, 4);
  server_.on("POST /api/v1/workloads/9/hold",
             R"({"code":"Unauthenticated","status":401,"detail":"unknown token"})", 401);
  const Said unknown = say({"hold", "9"});
  EXPECT_EQ(unknown.code, 4);
  EXPECT_NE(unknown.err.find("--token or BERTH_TOKEN"), std::string::npos);
  server_.on("POST /api/v1/workloads/6/release",
             R"({"code":"FailedPrecondition","status":409,"detail":"6 is not held"})", 409);
  EXPECT_EQ(say({"release", "6"}).code, 1);
  EXPECT_EQ(say({"queeu"}).code, 2);
  EXPECT_EQ(say({"submit", "--gpus", "1.5", "--", "true"}).code, 2);
  EXPECT_EQ(say({"submit"}).code, 2);
  EXPECT_EQ(say({"logs", "7", "--tail", "x"}).code, 2);
}

TEST_F(Verbs, AServerThatIsNotThereIsFive) {
  server_.stop();
  const Said said = say({"queue"});
  EXPECT_EQ(said.code, 5);
  EXPECT_NE(said.err.find("no server answers at " + server_.url()), std::string::npos) << said.err;
  EXPECT_NE(said.err.find("hint: start one with: berth serve"), std::string::npos);
}

TEST_F(Verbs, SubmitSendsAManifestWithAKeyOfItsOwn) {
  server_.on("POST /api/v1/workloads",
             R"({"action":"created","kind":"TrainingJob","name":"ft","number":5,"sequence":9})",
             201);
  EXPECT_EQ(say({"submit", "--gpus", "1", "--name", "ft", "--", "true"}).out,
            "trainingjob 5 (ft) created\n");
  EXPECT_EQ(say({"submit", "-o", "name", "--", "true"}).out, "5\n");
  const auto seen = server_.seen();
  ASSERT_EQ(seen.size(), 2u);
  const std::string* first = platform::find_header(seen[0].headers, "Idempotency-Key");
  const std::string* second = platform::find_header(seen[1].headers, "Idempotency-Key");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(boost::json::parse(seen[0].body).at("kind"), "TrainingJob");
}

TEST_F(Verbs, ApplyReadsStandardInputAndReportsEachDocument) {
  server_.on("POST /api/v1/apply", R"({"items":[
    {"action":"configured","kind":"Queue","name":"search","sequence":3},
    {"action":"refused","kind":"Queue","name":"x","sequence":0,
     "error":{"detail":"unknown parent queue y","field":"metadata.name","hint":"define y first"}}]})",
             207);
  const Said said = say({"apply", "-f", "-"});
  EXPECT_EQ(said.code, 1);
  EXPECT_EQ(said.out, "queue search configured\n");
  EXPECT_EQ(said.err,
            "error: standard input: metadata.name: unknown parent queue y\nhint: define y first\n");
  EXPECT_EQ(server_.seen()[0].body, "kind: Queue\n");
  EXPECT_EQ(*platform::find_header(server_.seen()[0].headers, "Content-Type"), "application/yaml");
}

TEST_F(Verbs, WhyPrintsTheServersWordsInTheLanguageAskedFor) {
  server_.on("GET /api/v1/workloads/1043/why?lang=zh",
             R"({"verdict":"blocked","text":"等待：需要 8 块 GPU\n 1. 可用\u001b[2J"})");
  const Said said = say({"why", "1043", "--lang", "zh"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "等待：需要 8 块 GPU\n 1. 可用\\x1b[2J\n");
}

TEST_F(Verbs, CancelOfSeveralTriesThemAll) {
  server_.on("POST /api/v1/workloads/1/cancel", R"({"action":"accepted","number":1})");
  server_.on("POST /api/v1/workloads/3/cancel", R"({"action":"accepted","number":3})");
  const Said said = say({"cancel", "1", "2", "3"});
  EXPECT_EQ(said.code, 3);
  EXPECT_EQ(said.out, "workload 1 cancelled\nworkload 3 cancelled\n");
}

TEST_F(Verbs, LogsAreReadToTheirEnd) {
  server_.on("GET /api/v1/workloads/5", R"({"number":5,"attempts":[{"id":"5.1"},{"id":"5.2"}]})");
  server_.add("GET /api/v1/attempts/5.2/logs?member=0&stream=stdout",
              {.response = {.status = 200,
                            .headers = {{"Berth-Log-Offset", "0"}, {"Berth-Log-Size", "6"}},
                            .body = "one\n"}});
  server_.add("GET /api/v1/attempts/5.2/logs?member=0&stream=stdout&offset=4",
              {.response = {.status = 200,
                            .headers = {{"Berth-Log-Offset", "4"}, {"Berth-Log-Size", "6"}},
                            .body = "2\n"}});
  EXPECT_EQ(say({"logs", "5"}).out, "one\n2\n");
  server_.on("GET /api/v1/workloads/6", R"({"number":6,"attempts":[]})");
  const Said waiting = say({"logs", "6"});
  EXPECT_EQ(waiting.code, 1);
  EXPECT_NE(waiting.err.find("has not started"), std::string::npos);
}

TEST_F(Verbs, FollowedLogsGoOnWhereTheyBroke) {
  // The first stream ends although the member runs: the server stopped. The second has the rest.
  server_.on_stream("GET /api/v1/attempts/5.1/logs?member=0&stream=stdout&offset=0&follow=true",
                    "abc\n");
  server_.on("GET /api/v1/attempts/5.1", R"({"state":"running","members":[{"rank":0}]})");
  server_.on("GET /api/v1/attempts/5.1", R"({"state":"ended"})");
  server_.on_stream("GET /api/v1/attempts/5.1/logs?member=0&stream=stdout&offset=4&follow=true",
                    "def\n");
  server_.on_stream("GET /api/v1/attempts/5.1/logs?member=0&stream=stdout&offset=8&follow=true",
                    "");
  const Said said = say({"logs", "5.1", "-f"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "abc\ndef\n");
}

std::string sse(int sequence, const std::string& kind, const std::string& body = "{}") {
  return "id: " + std::to_string(sequence) + "\nevent: " + kind +
         "\ndata: {\"sequence\":" + std::to_string(sequence) +
         ",\"at\":\"2026-12-01T11:00:00.000Z\",\"kind\":\"" + kind + "\",\"body\":" + body +
         "}\n\n";
}

TEST_F(Verbs, EventsResumeWithoutGapOrDouble) {
  server_.on_stream("GET /api/v1/events?after=5", sse(6, "workloadHeld") + sse(7, "start"));
  server_.on_stream("GET /api/v1/events?after=7",
                    sse(7, "start") + sse(8, "evict") + sse(9, "wait"));
  const Said said = say({"events", "-f", "--after", "5", "--limit", "4", "-o", "name"});
  EXPECT_EQ(said.code, 0) << said.err;
  EXPECT_EQ(said.out, "6\n7\n8\n9\n");
}

TEST_F(Verbs, EventsAreLinesForPeople) {
  server_.on("GET /api/v1/events?after=0&limit=1000", R"({"items":[
    {"sequence":1,"at":"2026-12-01T11:00:00.000Z","kind":"workloadSubmitted","actor":"ann",
     "body":{"workloadSubmitted":{"workload":{"id":1042,"name":"ft"}}}},
    {"sequence":2,"at":"2026-12-01T11:00:00.001Z","kind":"start",
     "body":{"decided":{"decision":{"body":{"start":{"attempt":{"workload":1042,"ordinal":1}}},"explanation":{}}}}},
    {"sequence":3,"at":"2026-12-01T11:00:09.000Z","kind":"evict",
     "body":{"decided":{"decision":{"body":{"evict":{"victims":[{"workload":1042,"ordinal":1}],"cause":"Reclaim","owner":1050}}}}}},
    {"sequence":4,"at":"2026-12-01T11:00:10.000Z","kind":"membersEnded",
     "body":{"membersEnded":{"attempt":{"workload":1042,"ordinal":1},"members":[{"rank":0,"endClass":"signal","signal":9}]}}}],
    "cursor":"4"})");
  server_.on("GET /api/v1/events?after=4&limit=1000", R"({"items":[],"cursor":"4"})");
  EXPECT_EQ(say({"events", "--after", "0"}).out,
            "     1  2026-12-01T11:00:00.000Z  workloadSubmitted    1042 ft  by ann\n"
            "     2  2026-12-01T11:00:00.001Z  start                1042.1\n"
            "     3  2026-12-01T11:00:09.000Z  evict                1042.1, Reclaim for 1050\n"
            "     4  2026-12-01T11:00:10.000Z  membersEnded         1042.1, rank 0 signal 9\n");
}

TEST_F(Verbs, NodesAndDevicesShowAmountsForPeople) {
  server_.on("GET /api/v1/nodes?limit=1000",
             R"({"items":[{"name":"n1","pool":"default","condition":"ready",
    "gpus":{"milli":2000,"text":"2"},"gpusUsed":{"milli":500,"text":"0.5"},
    "allocatable":[{"resource":"cpu","amount":2000,"text":"2"},{"resource":"memory","amount":23696240640,"text":"23140860Ki"}],
    "used":[],"devices":[{"model":"H800"},{"model":"H800"}]}]})");
  EXPECT_EQ(say({"nodes"}).out,
            "NODE  POOL     CONDITION   GPUS  CPU  MEMORY  REAL CPU  REAL MEM  MODELS  NOTE\n"
            "n1    default  ready      0.5/2  0/2  0/22Gi         -         -  2xH800  -\n");
  server_.on("GET /api/v1/devices?limit=1000",
             R"({"items":[{"node":"n1","index":0,"uuid":"u0","model":"H800",
    "health":"ok","source":"declared","memory":{"bytes":85899345920,"text":"80Gi"},"used":{"milli":500,"text":"0.5"},
    "usedMemory":{"bytes":1610612736,"text":"1536Mi"},"occupants":[{"attempt":"5.1"}]}]})");
  EXPECT_EQ(say({"devices"}).out,
            "NODE  DEV  MODEL  HEALTH  ALLOC      MEMORY  REAL USE  OWNER  SOURCE\n"
            "n1      0  H800   ok        50%  1.5Gi/80Gi         -  5.1    declared\n");
}

TEST_F(Verbs, RealUseIsShownWhereItWasMeasured) {
  server_.on("GET /api/v1/nodes?limit=1000",
             R"({"items":[{"name":"n1","pool":"p","condition":"ready","devices":[],
    "utilisation":{"cpuPercent":7,"memory":{"bytes":3221225472,"text":"3Gi"}}}]})");
  EXPECT_NE(say({"nodes"}).out.find("7%       3Gi"), std::string::npos) << say({"nodes"}).out;
  server_.on("GET /api/v1/devices?limit=1000",
             R"({"items":[{"node":"n1","index":0,"model":"H800","health":"ok",
    "utilisation":{"percent":0}}]})");
  EXPECT_NE(say({"devices"}).out.find(" 0% "), std::string::npos) << say({"devices"}).out;
}

TEST_F(Verbs, UsageAddsUpWhereTheLinesDo) {
  const std::string lines = R"("items":[
    {"key":"ann","allocated":10800000000,"started":2,"completed":1,"failed":0,"cancelled":0,"evicted":1},
    {"key":"bob","allocated":90000000,"started":1,"completed":0,"failed":1,"cancelled":0,"evicted":0},
    {"key":"eve","allocated":8000000,"started":1,"completed":0,"failed":0,"cancelled":1,"evicted":0}]})";
  server_.on("GET /api/v1/usage?by=user", R"({"by":"user",)" + lines);
  EXPECT_EQ(say({"usage", "--by", "user"}).out,
            "USER             USED   PART  STARTED  DONE  FAILED  CANCELLED  EVICTED\n"
            "ann       3 GPU-hours  99.1%        2     1       0          0        1\n"
            "bob   1.5 GPU-minutes   0.8%        1     0       1          0        0\n"
            "eve     8 GPU-seconds   0.0%        1     0       0          1        0\n");
  server_.on("GET /api/v1/usage?by=queue", R"({"by":"queue",)" + lines);
  EXPECT_EQ(say({"usage"}).out.find('%'), std::string::npos)
      << "a queue includes those below it: " << say({"usage"}).out;
  for (const char* by : {"class", "kind", "pool"}) {
    server_.on(std::string("GET /api/v1/usage?by=") + by, "{" + lines);
    EXPECT_EQ(say({"usage", "--by", by}).code, 0) << by;
  }
  EXPECT_EQ(say({"usage", "--by", "workload"}).code, 2);
}

class Foreground : public Verbs {
 protected:
  // A workload of two events: it runs, then it has ended as `end` says.
  void script(const std::string& end) {
    server_.on("POST /api/v1/workloads",
               R"({"action":"created","kind":"TrainingJob","name":"","number":5,"sequence":9})",
               201);
    server_.on_stream(
        "GET /api/v1/events?after=8&workload=5",
        sse(9, "workloadSubmitted") + sse(11, "attemptRunning") + sse(12, "membersEnded"));
    server_.on("GET /api/v1/workloads/5",
               R"({"number":5,"state":"Queued","reason":"NotEnoughFree"})");
    server_.on(
        "GET /api/v1/workloads/5",
        R"({"number":5,"state":"Running","attempts":[{"id":"5.1","ordinal":1,"started":"x","members":[{"rank":0}]}]})");
    server_.on(
        "GET /api/v1/workloads/5",
        R"({"number":5,"attempts":[{"id":"5.1","ordinal":1,"started":"x","members":[{"rank":0}]}],)" +
            end + "}");
    server_.on("GET /api/v1/attempts/5.1", R"({"state":"ended"})");
    for (const std::string stream : {"stdout", "stderr"}) {
      const std::string at = "GET /api/v1/attempts/5.1/logs?member=0&stream=" + stream + "&offset=";
      server_.on_stream(at + "0&follow=true", stream == "stdout" ? "result 42\n" : "warning\n");
      server_.on_stream(at + (stream == "stdout" ? "10" : "8") + "&follow=true", "");
    }
  }
};

TEST_F(Foreground, RunShowsTheOutputAndReturnsTheExitCode) {
  script(R"("state":"Failed","exitCode":7,"endClass":"user_error")");
  const Said said = say({"run", "--gpus", "1", "--", "python", "eval.py"});
  EXPECT_EQ(said.code, 7);
  EXPECT_EQ(said.out, "result 42\n");
  EXPECT_NE(said.err.find("warning\n"), std::string::npos);
  EXPECT_NE(said.err.find("workload 5 waits: NotEnoughFree"), std::string::npos) << said.err;
}

TEST_F(Foreground, ASignalIsItsNumberAbove128) {
  script(R"("state":"Failed","signal":9,"exitCode":0,"endClass":"oom")");
  const Said said = say({"run", "--", "true"});
  EXPECT_EQ(said.code, 137);
  EXPECT_NE(said.err.find("oom"), std::string::npos);
}

TEST_F(Foreground, SuccessIsZero) {
  script(R"("state":"Completed","exitCode":0,"endClass":"ok")");
  EXPECT_EQ(say({"run", "--", "true"}).code, 0);
}

TEST_F(Verbs, RolesOfOtherFoldersAreHandedTheirWords) {
  std::vector<std::string> words{"serve", "--listen", "127.0.0.1:0"};
  std::string listen;
  const int code =
      run(words, {.console = {.out = [](std::string_view) {}, .err = [](std::string_view) {}},
                  .environment = {},
                  .serve = [&](const Invocation& typed) {
                    listen = typed.value("listen");
                    return 0;
                  }});
  EXPECT_EQ(code, 0);
  EXPECT_EQ(listen, "127.0.0.1:0");
}

}  // namespace
}  // namespace cli
