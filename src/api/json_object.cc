#include "api/internal/json_object.h"

#include "base/json_text.h"
#include "base/text.h"

namespace api {

std::string& JsonObject::value(std::string_view key) {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  base::append_json_string(out_, key);
  out_ += ':';
  return out_;
}

void JsonObject::text(std::string_view key, std::string_view text) {
  base::append_json_string(value(key), text);
}

void JsonObject::text_if_any(std::string_view key, std::string_view text) {
  if (!text.empty()) base::append_json_string(value(key), text);
}

void JsonObject::number(std::string_view key, std::int64_t number) {
  value(key) += std::to_string(number);
}

void JsonObject::truth(std::string_view key, bool truth) { value(key) += truth ? "true" : "false"; }

void JsonObject::time(std::string_view key, base::Instant time) {
  base::append_json_instant(value(key), time);
}

void JsonObject::time_if_any(std::string_view key, const std::optional<base::Instant>& time) {
  if (time) base::append_json_instant(value(key), *time);
}

void JsonObject::texts(std::string_view key, const std::vector<std::string>& values) {
  JsonList list(value(key));
  for (const std::string& text : values)
    base::append_json_string(list.next(), text);
}

void JsonObject::map(std::string_view key, const std::map<std::string, std::string>& values) {
  JsonObject object(value(key));
  for (const auto& [name, text] : values)
    object.text(name, text);
}

void JsonObject::span(std::string_view key, base::Duration span) {
  JsonObject object(value(key));
  object.number("millis", span.millis);
  object.text("text", base::print_duration(span));
}

void JsonObject::devices(std::string_view key, std::int64_t milli) {
  JsonObject object(value(key));
  object.number("milli", milli);
  object.text("text", base::print_milli(milli));
}

void JsonObject::memory(std::string_view key, std::int64_t bytes) {
  JsonObject object(value(key));
  object.number("bytes", bytes);
  object.text("text", base::print_bytes(bytes));
}

std::string& JsonList::next() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
  return out_;
}

}  // namespace api
