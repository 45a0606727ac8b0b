#pragma once
// The text/event-stream format (server-sent events), written and read.
//
//   id: 42
//   event: workloadSubmitted
//   data: {"sequence":42, ...}
//   <empty line>

#include <string>
#include <string_view>
#include <vector>

namespace platform {

struct StreamEvent {
  std::string id;    // of the last event that had one, as the format says
  std::string name;  // empty: "message"
  std::string data;  // lines joined by \n
  bool operator==(const StreamEvent&) const = default;
};

// Line ends in `data` become several data lines; those in id and name are dropped.
std::string print_stream_event(const StreamEvent& event);

// Feed it bytes in any portions; it gives the events that are complete. Comments are skipped.
class EventStreamParser {
 public:
  std::vector<StreamEvent> feed(std::string_view bytes);
  // The id to resume after, as Last-Event-ID.
  const std::string& last_id() const { return last_id_; }

 private:
  void line(std::string_view text, std::vector<StreamEvent>& complete);

  std::string partial_;
  std::string last_id_;
  StreamEvent event_;
  bool has_data_ = false;
  bool skips_newline_ = false;  // a \r was the last byte, so a \n belongs to it
};

}  // namespace platform
