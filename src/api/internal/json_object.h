#pragma once
// Writes one JSON object field by field into a text. Fields of one name are the caller's business.
//
//   JsonObject object(out);
//   object.text("name", queue.name);
//   { JsonList items(object.value("items")); append_queue(items.next(), ...); }
//   // the destructor writes the closing brace

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/instant.h"

namespace api {

class JsonObject {
 public:
  explicit JsonObject(std::string& out) : out_(out) { out_ += '{'; }
  ~JsonObject() { out_ += '}'; }
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  void text(std::string_view key, std::string_view value);
  void text_if_any(std::string_view key, std::string_view value);  // nothing when empty
  void number(std::string_view key, std::int64_t value);
  void truth(std::string_view key, bool value);
  void time(std::string_view key, base::Instant value);  // kNever is null
  void time_if_any(std::string_view key, const std::optional<base::Instant>& value);
  void texts(std::string_view key, const std::vector<std::string>& values);
  void map(std::string_view key, const std::map<std::string, std::string>& values);
  // {"millis":…,"text":"1d12h"}
  void span(std::string_view key, base::Duration value);
  // {"milli":…,"text":"0.5"}
  void devices(std::string_view key, std::int64_t milli);
  // {"bytes":…,"text":"128Gi"}
  void memory(std::string_view key, std::int64_t bytes);
  // Writes the key; the caller appends the value to the text that comes back.
  std::string& value(std::string_view key);

 private:
  std::string& out_;
  bool is_first_ = true;
};

// The same for a list: `next()` before each element gives the text to append it to.
class JsonList {
 public:
  explicit JsonList(std::string& out) : out_(out) { out_ += '['; }
  ~JsonList() { out_ += ']'; }
  JsonList(const JsonList&) = delete;
  JsonList& operator=(const JsonList&) = delete;

  std::string& next();

 private:
  std::string& out_;
  bool is_first_ = true;
};

}  // namespace api
