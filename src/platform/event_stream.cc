#include "platform/event_stream.h"

#include <algorithm>
#include <utility>

namespace platform {

namespace {

bool is_line_end(char c) { return c == '\n' || c == '\r'; }

void append_one_line(std::string& out, std::string_view field, std::string_view value) {
  out += field;
  for (const char c : value)
    if (!is_line_end(c) && c != '\0') out += c;
  out += '\n';
}

}  // namespace

std::string print_stream_event(const StreamEvent& event) {
  std::string out;
  out.reserve(event.data.size() + event.name.size() + event.id.size() + 32);
  if (!event.id.empty()) append_one_line(out, "id: ", event.id);
  if (!event.name.empty()) append_one_line(out, "event: ", event.name);
  std::string_view rest = event.data;
  while (true) {
    const auto end = std::find_if(rest.begin(), rest.end(), is_line_end);
    const auto length = static_cast<std::size_t>(end - rest.begin());
    out += "data: ";
    out += rest.substr(0, length);
    out += '\n';
    if (length == rest.size()) break;
    const bool is_pair = rest.substr(length, 2) == "\r\n";
    rest = rest.substr(length + (is_pair ? 2 : 1));
  }
  out += '\n';
  return out;
}

std::vector<StreamEvent> EventStreamParser::feed(std::string_view bytes) {
  std::vector<StreamEvent> complete;
  for (const char c : bytes) {
    if (skips_newline_) {
      skips_newline_ = false;
      if (c == '\n') continue;
    }
    if (!is_line_end(c)) {
      partial_ += c;
      continue;
    }
    skips_newline_ = c == '\r';
    line(std::exchange(partial_, {}), complete);
  }
  return complete;
}

void EventStreamParser::line(std::string_view text, std::vector<StreamEvent>& complete) {
  if (text.empty()) {
    if (has_data_) {
      event_.id = last_id_;
      complete.push_back(std::move(event_));
    }
    event_ = {};
    has_data_ = false;
    return;
  }
  const std::size_t colon = text.find(':');
  const std::string_view field = text.substr(0, colon);
  std::string_view value =
      colon == std::string_view::npos ? std::string_view{} : text.substr(colon + 1);
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    last_id_ = value;
  }
}

}  // namespace platform
