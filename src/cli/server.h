#pragma once
// The server as the command line sees it: REST calls that give JSON, with its problem documents
// turned into Errors and a server that does not answer into Code::Unavailable with the next step.
//
// Thread contract: one thread at a time; `another` gives one for another thread.

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/json/value.hpp>

#include "base/result.h"
#include "cli/settings.h"
#include "platform/http_client.h"

namespace cli {

using Query =
    std::vector<std::pair<std::string, std::string>>;  // entries without value are left out

class Server {
 public:
  // `stop` ends calls in flight soon after it becomes true; it outlives the server.
  Server(Settings settings, const std::atomic<bool>* stop);

  // Paths begin behind /api/v1: "/workloads/1042". They are encoded already.
  base::Result<boost::json::value> get(std::string_view path, const Query& query = {});
  // All pages of a list as one {"items": [...]}, at most `most` items.
  base::Result<boost::json::value> list(std::string_view path, Query query, std::size_t most);
  // With an Idempotency-Key of its own. `body` is JSON or, by `content_type`, YAML.
  base::Result<boost::json::value> post(std::string_view path, const Query& query = {},
                                        std::string body = {},
                                        std::string_view content_type = "application/json");
  // The bytes of a stream as they come, until it ends or the sink returns false.
  base::Result<base::Done> stream(std::string_view path, const Query& query,
                                  std::string_view accept,
                                  const std::function<bool(std::string_view)>& sink);
  // The body as it is, of something that is no JSON.
  base::Result<platform::HttpResponse> raw(std::string_view path, const Query& query);

  Server another(const std::atomic<bool>* stop) const { return Server(settings_, stop); }

 private:
  platform::HttpCall call_to(std::string_view path, const Query& query) const;
  base::Error unreachable(const base::Error& error) const;
  base::Error problem(const platform::HttpResponse& response) const;

  Settings settings_;
  const std::atomic<bool>* stop_;
  platform::HttpClient client_;
};

// The exit code that programs rely on: 1 refused or failed, 2 usage of the command line is decided
// before any call, 3 not found, 4 not allowed, 5 not reachable.
int exit_code_of(base::Code code);

}  // namespace cli
