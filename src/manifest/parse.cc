#include "manifest/parse.h"

#include <algorithm>

#include "base/text.h"
#include "manifest/internal/field.h"
#include "manifest/internal/read_document.h"
#include "manifest/internal/read_text.h"

namespace manifest {

namespace {

using base::Code;

// "train.yaml:12", "train.yaml" without a line, "line 12" without a source.
std::string place(const ParseOptions& options, int line) {
  if (options.source.empty()) return line > 0 ? fmt::format("line {}", line) : std::string();
  return line > 0 ? fmt::format("{}:{}", options.source, line) : options.source;
}

// The offset of the first byte that starts no character, or the size of the text.
std::size_t first_bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
    if (!base::is_utf8(text.substr(at, size))) return at;
    at += size;
  }
  return text.size();
}

// The readers take some control characters for the end of the text.
std::size_t first_control_character(std::string_view text) {
  const auto at = std::find_if(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t' && c != '\r') || byte == 0x7f;
  });
  return static_cast<std::size_t>(at - text.begin());
}

base::Result<base::Done> check_text(std::string_view text, const ParseOptions& options) {
  if (text.size() > kMaxTextBytes)
    return base::fail_field(
        Code::TooLarge, place(options, 0),
        fmt::format("the text has {} bytes, at most {} are allowed", text.size(), kMaxTextBytes),
        "send it in several pieces");
  if (const std::size_t at = first_bad_byte(text); at < text.size())
    return base::fail_field(Code::InvalidArgument, place(options, 0),
                            fmt::format("the text is not UTF-8: byte {:#04x} at offset {}",
                                        static_cast<unsigned char>(text[at]), at),
                            "save it as UTF-8");
  if (const std::size_t at = first_control_character(text); at < text.size())
    return base::fail_field(Code::InvalidArgument, place(options, 0),
                            fmt::format("the text holds the control character {:#04x} at offset {}",
                                        static_cast<unsigned char>(text[at]), at),
                            "remove it, or write it as an escape in double quotes");
  return base::Done{};
}

base::Result<std::vector<Tree>> read_any(std::string_view text, Notation notation) {
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  const bool may_be_json =
      start != std::string_view::npos && (text[start] == '{' || text[start] == '[');
  if (notation == Notation::Json || (notation == Notation::Detect && may_be_json)) {
    auto json = read_json(text);
    if (json) return std::vector<Tree>{*std::move(json)};
    // YAML has the same brackets for a map in one line: {kind: Queue}.
    if (notation == Notation::Json) return tl::unexpected(json.error());
    auto yaml = read_yaml(text, kMaxDocuments);
    if (!yaml) return tl::unexpected(json.error());
    return yaml;
  }
  return read_yaml(text, kMaxDocuments);
}

// A list at the top stands for its items.
base::Result<std::vector<Tree>> flattened(std::vector<Tree> trees) {
  std::vector<Tree> flat;
  for (Tree& tree : trees) {
    if (tree.shape != Tree::Shape::List) {
      flat.push_back(std::move(tree));
      continue;
    }
    for (Tree& item : tree.items)
      flat.push_back(std::move(item));
  }
  if (flat.size() > kMaxDocuments)
    return base::fail_field(
        Code::TooLarge, "1",
        fmt::format("{} documents in one text, at most {} are allowed", flat.size(), kMaxDocuments),
        "send them in several pieces");
  return flat;
}

// The one error of a text in which several documents are wrong.
base::Error together(const std::vector<Fault>& faults, const ParseOptions& options,
                     bool is_only_document) {
  constexpr std::size_t kMaxShown = 10;
  const auto field_of = [&](const Fault& fault) {
    // A program that sent one document wants the path alone.
    if (options.source.empty() && is_only_document && !fault.error->field.empty())
      return fault.error->field;
    const std::string start = place(options, fault.line);
    if (start.empty() || fault.error->field.empty()) return start + fault.error->field;
    return start + ": " + fault.error->field;
  };
  base::Error error = *faults.front().error;
  error.field = field_of(faults.front());
  for (std::size_t i = 1; i < faults.size() && i < kMaxShown; ++i) {
    base::Error other = *faults[i].error;
    other.field = field_of(faults[i]);
    error.message += "\nalso " + base::to_text(other);
  }
  if (faults.size() > kMaxShown)
    error.message += fmt::format("\nand {} more documents are wrong", faults.size() - kMaxShown);
  return error;
}

}  // namespace

base::Result<std::vector<Document>> parse(std::string_view text, const ParseOptions& options) {
  if (const auto checked = check_text(text, options); !checked)
    return tl::unexpected(checked.error());
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  auto trees = read_any(text, options.notation).and_then(flattened);
  if (!trees) {
    // The readers name the line where fields name the path.
    base::Error error = trees.error();
    int line = 0;
    if (const auto number = base::parse_integer(error.field)) line = static_cast<int>(*number);
    error.field = place(options, line);
    return tl::unexpected(error);
  }
  if (trees->empty())
    return base::fail_field(Code::InvalidArgument, place(options, 0), "there is no document",
                            "write one with apiVersion, kind, metadata and spec");
  std::vector<Document> documents;
  std::vector<Fault> faults;
  for (const Tree& tree : *trees) {
    Fault fault;
    Document document = read_document(tree, fault);
    if (!options.source.empty() || trees->size() > 1) document.source = place(options, tree.line);
    if (fault.error)
      faults.push_back(std::move(fault));
    else
      documents.push_back(std::move(document));
  }
  if (!faults.empty()) return tl::unexpected(together(faults, options, trees->size() == 1));
  return documents;
}

base::Result<Document> parse_one(std::string_view text, const ParseOptions& options) {
  auto documents = parse(text, options);
  if (!documents) return tl::unexpected(documents.error());
  if (documents->size() == 1) return std::move(documents->front());
  return base::fail_field(Code::InvalidArgument, documents->at(1).source,
                          fmt::format("{} documents where one is wanted", documents->size()),
                          "send them one by one");
}

}  // namespace manifest
