#pragma once
// The log: one JSON object a line on standard error, or a readable line when that is a terminal.
// An event has a stable name and key-value pairs; text that came from outside cannot break a line
// or colour a terminal, because control characters are escaped.
//
//   LOG(Info, "server_started", {"port", port}, {"address", options.address});
//   {"at":"2026-12-01T09:30:00.000Z","level":"info","event":"server_started","port":8080,...}
//
// Never log a secret. Thread contract: any thread.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace platform {

enum class LogLevel { Debug, Info, Warning, Error };
std::string_view level_name(LogLevel level);                // "debug", …
std::optional<LogLevel> level_from(std::string_view name);  // the reverse

enum class LogForm { Auto, Json, Human };  // Auto: Human when standard error is a terminal

// One pair; a number or truth value stays one in JSON.
struct LogField {
  LogField(std::string_view k, std::string_view v) : key(k), text(v) {}
  LogField(std::string_view k, const std::string& v) : key(k), text(v) {}
  LogField(std::string_view k, const char* v) : key(k), text(v) {}
  LogField(std::string_view k, bool v) : key(k), text(v ? "true" : "false"), is_literal(true) {}
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  LogField(std::string_view k, T v) : key(k), text(std::to_string(v)), is_literal(true) {}

  std::string_view key;
  std::string text;
  bool is_literal = false;
};

void set_log(LogLevel least, LogForm form = LogForm::Auto);
// Lines go there instead of standard error, for tests; null: back to standard error.
void set_log_sink(std::function<void(const std::string& line)> sink);
bool is_logged(LogLevel level);
void write_log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

}  // namespace platform

// The fields are evaluated only when the level is logged.
#define LOG(level, event, ...)                                                    \
  (::platform::is_logged(::platform::LogLevel::level)                             \
       ? ::platform::write_log(::platform::LogLevel::level, event, {__VA_ARGS__}) \
       : static_cast<void>(0))
