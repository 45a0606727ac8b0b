// Verbs that change work: apply, submit, cancel, hold, release.

#include <boost/json.hpp>

#include "cli/json_access.h"
#include "cli/session.h"
#include "cli/submit_manifest.h"
#include "platform/file.h"

namespace cli {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxManifestBytes = 1 << 20;

struct ManifestText {
  std::string source;  // "train.yaml", "standard input"
  std::string text;
};

base::Result<std::vector<ManifestText>> read_manifests(const Session& session) {
  std::vector<ManifestText> found;
  for (const std::string& file : session.invocation.values("file")) {
    if (file == "-") {
      found.push_back({"standard input", session.input()});
      continue;
    }
    base::Result<std::string> text = platform::read_file(file, kMaxManifestBytes);
    if (!text) return tl::unexpected(text.error());
    found.push_back({file, std::move(*text)});
  }
  return found;
}

std::string_view content_type(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json =
      first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  return is_json ? "application/json" : "application/yaml";
}

// "trainingjob 1042 (llama-ft) created", "queue search/nlp unchanged".
std::string done_line(const json::value& item) {
  const std::string number = text_at(item, "number"), name = text_at(item, "name");
  std::string what = text_at(item, "kind");
  for (char& c : what)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (!number.empty()) what += " " + number;
  if (!name.empty()) what += number.empty() ? " " + name : fmt::format(" ({})", name);
  return printable(fmt::format("{} {}", what, text_at(item, "action")));
}

base::Error error_of(const json::value& item) {
  const json::value* problem = value_at(item, "error");
  if (problem == nullptr)
    return {.code = base::Code::FailedPrecondition, .message = "refused", .field = {}, .hint = {}};
  return {.code = base::Code::FailedPrecondition,
          .message = text_at(*problem, "detail"),
          .field = text_at(*problem, "field"),
          .hint = text_at(*problem, "hint")};
}

// The answers of apply or submit, one line each; the exit code.
int print_done(const Session& session, const json::value& answer, const std::string& source) {
  if (session.format == Format::Json || session.format == Format::Yaml)
    print_one(session, answer, "", {});
  int code = 0;
  std::vector<json::value> one;
  std::span<const json::value> items = array_at(answer, "items");
  if (items.empty() && value_at(answer, "action") != nullptr) {
    one.push_back(answer);
    items = one;
  }
  for (const json::value& item : items) {
    if (text_at(item, "action") == "refused") {
      base::Error error = error_of(item);
      error.field = source.empty() ? error.field
                                   : fmt::format("{}{}{}", source, error.field.empty() ? "" : ": ",
                                                 error.field);
      print_error(session.console, error);
      code = 1;
      continue;
    }
    if (session.format == Format::Name) {
      const std::string number = text_at(item, "number");
      session.console.out(printable(number.empty() ? text_at(item, "name") : number) + "\n");
    } else if (session.format == Format::Table || session.format == Format::Wide) {
      session.console.out(done_line(item) + "\n");
      if (const json::value* would = value_at(item, "would")) {
        const std::string text = text_at(*would, "text");
        session.console.out(text.empty() ? fmt::format("  {} {}\n", text_at(*would, "verdict"),
                                                       text_at(*would, "reason"))
                                         : printable_lines(text));
      }
    }
  }
  return code;
}

std::string dry_run(const Session& session) {
  return session.invocation.has("dry-run") ? "true" : "";
}

base::Result<int> change_workloads(Session& session, std::string_view verb, std::string_view done) {
  int code = 0;
  for (const std::string& word : session.invocation.arguments) {
    const base::Result<json::value> answer =
        session.server.post(workload_path(word, fmt::format("/{}", verb)),
                            {{"queue", session.invocation.value("queue")}});
    if (!answer) {
      // Of several the others are still tried; the first failure is the exit code.
      if (session.invocation.arguments.size() == 1) return tl::unexpected(answer.error());
      print_error(session.console, answer.error());
      if (code == 0) code = exit_code_of(answer.error().code);
      continue;
    }
    print_one(session, *answer, "number", [&] {
      const std::string number = text_at(*answer, "number");
      return fmt::format("workload {} {}\n", printable(number.empty() ? word : number), done);
    });
  }
  return code;
}

}  // namespace

base::Result<int> apply(Session& session) {
  const base::Result<std::vector<ManifestText>> manifests = read_manifests(session);
  if (!manifests) return tl::unexpected(manifests.error());
  if (manifests->empty())
    return base::fail_field(
        base::Code::InvalidArgument, "--file", "no manifest is given",
        fmt::format("write for example: berth {} -f work.yaml", session.invocation.verb->name));
  int code = 0;
  for (const ManifestText& manifest : *manifests) {
    const base::Result<json::value> answer = session.server.post(
        "/apply", {{"dryRun", dry_run(session)}}, manifest.text, content_type(manifest.text));
    if (!answer) {
      base::Error error = answer.error();
      error.field =
          fmt::format("{}{}{}", manifest.source, error.field.empty() ? "" : ": ", error.field);
      return tl::unexpected(std::move(error));
    }
    code = std::max(code, print_done(session, *answer, manifest.source));
  }
  return code;
}

base::Result<int> submit(Session& session) {
  if (session.invocation.has("file")) {
    if (!session.invocation.command.empty())
      return base::fail_field(base::Code::InvalidArgument, "--file",
                              "a manifest has its own command", "give either -f or a command");
    return apply(session);
  }
  const base::Result<std::string> manifest =
      submit_manifest(session.invocation, session.directory, session.environment);
  if (!manifest) return tl::unexpected(manifest.error());
  const base::Result<json::value> answer =
      session.server.post("/workloads", {{"dryRun", dry_run(session)}}, *manifest);
  if (!answer) return tl::unexpected(answer.error());
  return print_done(session, *answer, "");
}

base::Result<int> cancel(Session& session) {
  return change_workloads(session, "cancel", "cancelled");
}
base::Result<int> hold(Session& session) { return change_workloads(session, "hold", "held"); }
base::Result<int> release(Session& session) {
  return change_workloads(session, "release", "released");
}

}  // namespace cli
