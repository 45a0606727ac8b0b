#pragma once
// One authenticated request on its way through the loop and back, and what all handlers share.
// Handlers are free functions `void(Desk&, std::shared_ptr<Exchange>)` named in the table of
// routes; they answer through the exchange, exactly once, from any thread.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/internal/event_feed.h"
#include "api/internal/query.h"
#include "api/loop_port.h"
#include "api/rest_api.h"
#include "base/result.h"
#include "controller/identity.h"
#include "platform/http_server.h"

namespace api {

class Exchange {
 public:
  Exchange(platform::HttpRequest request, platform::HttpReply reply, controller::Caller caller);

  // Status 200 and JSON.
  void answer(std::string json) const;
  void answer(platform::HttpResponse response) const;
  // The same with an ETag of the content, or 304 when the caller has it already.
  void answer_with_tag(std::string json) const;
  void refuse(const base::Error& error) const;
  void refuse_stopping() const;  // the loop takes nothing any more

  const platform::HttpRequest request;
  const platform::HttpReply reply;
  const controller::Caller caller;
  std::vector<std::string> names;  // of the path, decoded, in the order of the pattern
  Query query;
  std::function<void(int status)> told;  // once, with the answer

 private:
  void tell(int status) const;
};

struct Desk {
  RestOptions options;
  LoopPort& port;
  controller::Identity& identity;
  std::shared_ptr<EventFeed> feed;
};

using ExchangePtr = std::shared_ptr<Exchange>;

// Runs `work` on the loop and answers with the JSON that it gives, or refuses with its error.
using Reading =
    std::function<base::Result<std::string>(const controller::Controller&, base::Instant now)>;
void answer_from_loop(Desk& desk, const ExchangePtr& exchange, Reading work);
void answer_from_loop_with_tag(Desk& desk, const ExchangePtr& exchange, Reading work);

// A workload by number or by name, the queue telling apart several of one name (empty: not given).
// An unfinished one comes before those that have finished.
base::Result<const model::WorkloadRecord*> find_workload(const model::State& state,
                                                         const std::string& word,
                                                         const std::string& queue);
// "1042.1". Code::InvalidArgument, Code::NotFound.
base::Result<const model::Attempt*> find_attempt(const model::State& state,
                                                 const std::string& word);
base::Result<model::QueueId> find_queue(const model::State& state, const std::string& name);
base::Result<model::PoolId> find_pool(const model::State& state, const std::string& name);
// "there is no node n7", with the nearest name that there is.
template <class Map>
tl::unexpected<base::Error> no_such(std::string_view what, const std::string& name,
                                    const Map& by_name);

tl::unexpected<base::Error> unknown_name(std::string_view what, const std::string& name,
                                         const std::vector<std::string_view>& known);

template <class Map>
tl::unexpected<base::Error> no_such(std::string_view what, const std::string& name,
                                    const Map& by_name) {
  std::vector<std::string_view> known;
  for (const auto& [key, value] : by_name)
    known.push_back(key);
  return unknown_name(what, name, known);
}

}  // namespace api
