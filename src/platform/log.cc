#include "platform/log.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/text.h"
#include "platform/system_clock.h"

namespace platform {

namespace {

struct Output {
  std::mutex mutex;
  std::shared_ptr<spdlog::logger> logger;
  std::function<void(const std::string&)> sink;
  bool is_human = false;
};

std::atomic<int> least_level{static_cast<int>(LogLevel::Info)};

void open_stderr(Output& output, LogForm form) {
  output.is_human =
      form == LogForm::Human || (form == LogForm::Auto && ::isatty(STDERR_FILENO) == 1);
  spdlog::sink_ptr sink;
  if (output.is_human)
    sink = std::make_shared<spdlog::sinks::ansicolor_stderr_sink_mt>();
  else
    sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  output.logger = std::make_shared<spdlog::logger>("berth", std::move(sink));
  output.logger->set_level(spdlog::level::trace);
  output.logger->flush_on(spdlog::level::trace);
  // The line is complete; only its colour is left to the sink.
  output.logger->set_pattern(output.is_human ? "%^%v%$" : "%v");
}

// Made at first use and never destroyed: threads may log while the process ends.
Output& output() {
  static Output* const kOutput = [] {
    auto* made = new Output;
    open_stderr(*made, LogForm::Auto);
    return made;
  }();
  return *kOutput;
}

spdlog::level::level_enum level_of(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return spdlog::level::debug;
    case LogLevel::Info:
      return spdlog::level::info;
    case LogLevel::Warning:
      return spdlog::level::warn;
    case LogLevel::Error:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

std::string json_line(LogLevel level, std::string_view event,
                      std::initializer_list<LogField> fields) {
  std::string line = "{\"at\":";
  base::append_json_instant(line, system_now());
  line += ",\"level\":";
  base::append_json_string(line, level_name(level));
  line += ",\"event\":";
  base::append_json_string(line, event);
  for (const LogField& field : fields) {
    line += ',';
    base::append_json_string(line, field.key);
    line += ':';
    if (field.is_literal)
      line += field.text;
    else
      base::append_json_string(line, field.text);
  }
  line += '}';
  return line;
}

// "09:30:00.000 warning store_degraded code=Exhausted message="disk full""
std::string human_line(LogLevel level, std::string_view event,
                       std::initializer_list<LogField> fields) {
  const std::string at = base::print_instant(system_now());
  std::string line = at.substr(at.find('T') + 1) + ' ' + std::string(level_name(level)) + ' ';
  line += event;
  for (const LogField& field : fields) {
    line += ' ';
    line += field.key;
    line += '=';
    const bool is_plain = field.text.find_first_of(" \"\\=") == std::string::npos;
    std::string quoted;
    base::append_json_string(quoted, field.text);
    // What JSON leaves as it is, and needs no quotes to be one word, stands without them.
    const bool is_unchanged = quoted.size() == field.text.size() + 2 && !field.text.empty();
    line += field.is_literal || (is_plain && is_unchanged) ? field.text : quoted;
  }
  return line;
}

}  // namespace

std::string_view level_name(LogLevel level) {
  switch (level) {
    case LogLevel::Debug:
      return "debug";
    case LogLevel::Info:
      return "info";
    case LogLevel::Warning:
      return "warning";
    case LogLevel::Error:
      return "error";
  }
  return "error";
}

std::optional<LogLevel> level_from(std::string_view name) {
  for (const LogLevel level : {LogLevel::Debug, LogLevel::Info, LogLevel::Warning, LogLevel::Error})
    if (level_name(level) == name) return level;
  return std::nullopt;
}

void set_log(LogLevel least, LogForm form) {
  least_level = static_cast<int>(least);
  const std::lock_guard lock(output().mutex);
  open_stderr(output(), form);
}

void set_log_sink(std::function<void(const std::string&)> sink) {
  const std::lock_guard lock(output().mutex);
  output().sink = std::move(sink);
}

bool is_logged(LogLevel level) {
  return static_cast<int>(level) >= least_level.load(std::memory_order_relaxed);
}

void write_log(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  Output& out = output();
  const std::lock_guard lock(out.mutex);
  const std::string line =
      out.is_human ? human_line(level, event, fields) : json_line(level, event, fields);
  if (out.sink) {
    out.sink(line);
    return;
  }
  try {
    out.logger->log(level_of(level), "{}", line);
  } catch (const std::exception&) {
    // Standard error is gone. The log is not worth ending the process for.
  }
}

}  // namespace platform
