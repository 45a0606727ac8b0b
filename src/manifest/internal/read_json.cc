#include <set>
#include <string>

#include <boost/json/basic_parser_impl.hpp>

#include "base/assert.h"
#include "manifest/internal/field.h"
#include "manifest/internal/read_text.h"

namespace manifest {

namespace {

namespace json = boost::json;
using Failure = json::error_code;

// Builds a tree from the events of the parser, which says nothing about positions: the caller feeds
// it line by line and keeps `line` true.
struct TreeBuilder {
  // What the parser wants to know; other limits are checked before.
  static constexpr std::size_t max_object_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_array_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_key_size = static_cast<std::size_t>(-1);
  static constexpr std::size_t max_string_size = static_cast<std::size_t>(-1);

  struct Open {
    Tree tree;
    std::string key;
    int key_line = 0;
    std::set<std::string> keys;
  };

  int line = 1;
  Tree document;
  std::vector<Open> open;
  std::string part;
  std::string doubled_key;

  void add(Tree tree) {
    if (open.empty()) {
      document = std::move(tree);
      return;
    }
    Open& parent = open.back();
    if (parent.tree.shape == Tree::Shape::List)
      parent.tree.items.push_back(std::move(tree));
    else
      parent.tree.entries.push_back(Tree::Entry{
          .key = std::move(parent.key), .line = parent.key_line, .value = std::move(tree)});
  }
  bool begin(Tree tree) {
    tree.line = line;
    open.push_back(Open{.tree = std::move(tree), .key = {}, .key_line = 0, .keys = {}});
    return true;
  }
  bool end() {
    Tree tree = std::move(open.back().tree);
    open.pop_back();
    add(std::move(tree));
    return true;
  }
  bool add_scalar(Tree tree) {
    tree.line = line;
    add(std::move(tree));
    return true;
  }
  std::string take(json::string_view last) {
    part.append(last.data(), last.size());
    return std::exchange(part, {});
  }
  bool keep(json::string_view some) {
    part.append(some.data(), some.size());
    return true;
  }

  bool on_document_begin(Failure&) { return true; }
  bool on_document_end(Failure&) { return true; }
  bool on_array_begin(Failure&) { return begin(Tree::list()); }
  bool on_array_end(std::size_t, Failure&) { return end(); }
  bool on_object_begin(Failure&) { return begin(Tree::map()); }
  bool on_object_end(std::size_t, Failure&) { return end(); }
  bool on_string_part(json::string_view s, std::size_t, Failure&) { return keep(s); }
  bool on_string(json::string_view s, std::size_t, Failure&) {
    return add_scalar(Tree::of_text(take(s)));
  }
  bool on_key_part(json::string_view s, std::size_t, Failure&) { return keep(s); }
  bool on_key(json::string_view s, std::size_t, Failure& failure) {
    Open& parent = open.back();
    parent.key = take(s);
    parent.key_line = line;
    if (parent.keys.insert(parent.key).second) return true;
    doubled_key = parent.key;
    failure = json::error::extra_data;
    return false;
  }
  // The digits are kept as they stand; the value that the parser made of them is not used.
  bool on_number_part(json::string_view s, Failure&) { return keep(s); }
  bool on_int64(std::int64_t, json::string_view s, Failure&) {
    return add_scalar(Tree::of_word(take(s)));
  }
  bool on_uint64(std::uint64_t, json::string_view s, Failure&) {
    return add_scalar(Tree::of_word(take(s)));
  }
  bool on_double(double, json::string_view s, Failure&) {
    return add_scalar(Tree::of_word(take(s)));
  }
  bool on_bool(bool is_true, Failure&) {
    return add_scalar(Tree::of_word(is_true ? "true" : "false"));
  }
  bool on_null(Failure&) { return add_scalar(Tree{}); }
  bool on_comment_part(json::string_view, Failure&) { return true; }
  bool on_comment(json::string_view, Failure&) { return true; }
};

base::Error error_at(const TreeBuilder& builder, const Failure& failure) {
  base::Error error{.code = base::Code::InvalidArgument,
                    .message = {},
                    .field = std::to_string(builder.line),
                    .hint = {}};
  if (!builder.doubled_key.empty()) {
    error.message = "key " + shortened(builder.doubled_key) + " stands twice in the same map";
    error.hint = "keep one of the two";
  } else if (failure == json::error::too_deep) {
    error.code = base::Code::TooLarge;
    error.message = "more than " + std::to_string(kMaxDepth) + " levels of nesting";
    error.hint = "no manifest needs that; look for a bracket that is not closed";
  } else if (failure == json::error::incomplete) {
    error.message = "not JSON: the text ends too early";
    error.hint = "close every bracket and quote";
  } else {
    error.message = "not JSON: " + failure.message();
    error.hint = "check commas, quotes and brackets on this line and the one before";
  }
  return error;
}

}  // namespace

base::Result<Tree> read_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::basic_parser<TreeBuilder> parser(options);
  Failure failure;
  // A line break is a piece of its own, so that a number that it ends is still on its line.
  while (!text.empty() && !failure) {
    const std::size_t end = text.front() == '\n' ? 1 : std::min(text.find('\n'), text.size());
    const std::string_view piece = text.substr(0, end);
    const std::size_t read = parser.write_some(true, piece.data(), piece.size(), failure);
    if (!failure && read < piece.size()) failure = json::error::extra_data;
    if (failure) break;
    if (piece == "\n") ++parser.handler().line;
    text.remove_prefix(end);
  }
  if (!failure) parser.write_some(false, "", 0, failure);
  if (failure) return tl::unexpected(error_at(parser.handler(), failure));
  ASSERT(parser.handler().open.empty());
  return std::move(parser.handler().document);
}

}  // namespace manifest
