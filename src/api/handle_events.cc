// Events as a page or as a stream, chosen by what the caller accepts.

#include <algorithm>
#include <limits>
#include <utility>

#include "api/internal/dto.h"
#include "api/internal/handlers.h"
#include "api/internal/listing.h"
#include "base/text.h"

namespace api {

using base::Code;
using base::Result;

namespace {

// A page with a narrow filter reads no further than this; its cursor says where to go on.
constexpr std::size_t kMaxScanned = 10'000;

template <class... Alternatives>
void add_kinds(std::vector<std::string_view>& kinds, const std::variant<Alternatives...>*) {
  (kinds.push_back(Alternatives::kKind), ...);
}

// Of every event; a decision shows its own kind instead of "decided".
std::vector<std::string_view> event_kinds() {
  std::vector<std::string_view> kinds;
  add_kinds(kinds, static_cast<const model::EventBody*>(nullptr));
  std::erase(kinds, model::Decided::kKind);
  add_kinds(kinds, static_cast<const model::DecisionBody*>(nullptr));
  return kinds;
}

Result<EventFilter> filter_of(const Query& query) {
  EventFilter filter;
  const std::vector<std::string_view> known = event_kinds();
  for (std::string& kind : query.list("kinds")) {
    if (std::find(known.begin(), known.end(), kind) == known.end()) {
      const auto near = base::nearest(kind, known);
      return base::fail_field(Code::InvalidArgument, "kinds",
                              fmt::format("\"{}\" is not a kind of event", kind),
                              near ? fmt::format("did you mean \"{}\"?", *near) : std::string());
    }
    filter.kinds.insert(std::move(kind));
  }
  const auto workload = query.number("workload", 1, std::numeric_limits<std::int64_t>::max());
  if (!workload) return tl::unexpected(workload.error());
  if (*workload) filter.workload = model::WorkloadId(static_cast<std::uint64_t>(**workload));
  return filter;
}

// Last-Event-ID says what the reader really got, so it wins over the address it began with.
Result<std::optional<model::Sequence>> position_of(const Exchange& exchange) {
  const auto after = exchange.query.number("after", 0, std::numeric_limits<std::int64_t>::max());
  if (!after) return tl::unexpected(after.error());
  if (const std::string* last = platform::find_header(exchange.request.headers, "Last-Event-ID")) {
    const auto number = base::parse_integer(*last);
    if (!number || *number < 0)
      return base::fail_field(Code::InvalidArgument, "Last-Event-ID",
                              fmt::format("\"{}\" is not a sequence", *last),
                              "send the id of the last event that was received");
    return std::optional(model::Sequence(static_cast<std::uint64_t>(*number)));
  }
  if (!*after) return std::optional<model::Sequence>{};
  return std::optional(model::Sequence(static_cast<std::uint64_t>(**after)));
}

void stream_events(Desk& desk, const ExchangePtr& exchange, EventFilter filter,
                   std::optional<model::Sequence> after) {
  const auto last = desk.port.store().last_sequence();
  if (!last) return exchange->refuse(last.error());
  if (after && *after > *last)
    return exchange->refuse(
        {.code = Code::InvalidArgument,
         .message = fmt::format("the journal ends at {}, before {}", last->value, after->value),
         .field = "after",
         .hint = "this is another journal; begin anew without a position"});
  if (exchange->told) exchange->told(200);
  platform::HttpStream stream =
      exchange->reply.stream({.status = 200,
                              .headers = {{"Content-Type", "text/event-stream"},
                                          {"Cache-Control", "no-store"},
                                          {"X-Accel-Buffering", "no"}},
                              .body = {}},
                             ":\n\n");
  // Something at once, so that a proxy passes the headers on.
  if (!stream.write("retry: 2000\n\n")) return;
  desk.feed->open(std::move(stream), after.value_or(*last), std::move(filter));
}

void page_events(Desk& desk, const ExchangePtr& exchange, const EventFilter& filter,
                 model::Sequence after) {
  const auto page = page_of(exchange->query);
  if (!page) return exchange->refuse(page.error());
  model::Sequence last = after;
  std::size_t count = 0;
  std::string items;
  const auto read = desk.port.store().read(after, kMaxScanned, [&](const model::Event& event) {
    last = event.sequence;
    if (!filter.takes(event)) return true;
    if (count > 0) items += ',';
    append_event(items, event);
    return ++count < page->limit;
  });
  if (!read) return exchange->refuse(read.error());
  exchange->answer(fmt::format("{{\"items\":[{}],\"cursor\":\"{}\"}}", items, last.value));
}

}  // namespace

void list_events(Desk& desk, const ExchangePtr& exchange) {
  auto filter = filter_of(exchange->query);
  const auto after = position_of(*exchange);
  if (!filter) return exchange->refuse(filter.error());
  if (!after) return exchange->refuse(after.error());
  const std::string* accept = platform::find_header(exchange->request.headers, "Accept");
  if (accept != nullptr && accept->find("text/event-stream") != std::string::npos)
    return stream_events(desk, exchange, std::move(*filter), *after);
  page_events(desk, exchange, *filter, after->value_or(model::Sequence{}));
}

}  // namespace api
