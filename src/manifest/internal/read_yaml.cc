#include <set>
#include <sstream>
#include <string>

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include "base/assert.h"
#include "manifest/internal/field.h"
#include "manifest/internal/read_text.h"

namespace manifest {

namespace {

using base::Code;

// Leaves the library from inside one of its callbacks; never leaves this file.
struct Refused {
  base::Error error;
};

[[noreturn]] void refuse(Code code, int line, std::string message, std::string hint) {
  throw Refused{base::Error{.code = code,
                            .message = std::move(message),
                            .field = std::to_string(line),
                            .hint = std::move(hint)}};
}

class TreeBuilder : public YAML::EventHandler {
 public:
  Tree take_document() { return std::move(document_); }

  void OnDocumentStart(const YAML::Mark& mark) override {
    // At a token that can neither go on with a document nor begin one, such as the comma of {},
    // the library gives an empty document, takes nothing, and would do so for ever.
    if (mark.pos <= document_at_)
      refuse(Code::InvalidArgument, mark.line + 1,
             "not YAML: the text at column " + std::to_string(mark.column + 1) +
                 " belongs to no document",
             "check brackets and commas on this line and the one before; --- begins a document");
    document_at_ = mark.pos;
    document_ = Tree{};
    open_.clear();
  }
  void OnDocumentEnd() override {}

  void OnAnchor(const YAML::Mark& mark, const std::string& name) override {
    refuse(Code::InvalidArgument, mark.line + 1, "anchor &" + shortened(name) + " is not allowed",
           "write the value out where it is used");
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t) override {
    refuse(Code::InvalidArgument, mark.line + 1, "an alias (*name) is not allowed",
           "write the value out where it is used");
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    Tree tree;
    tree.line = mark.line + 1;
    add(std::move(tree));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    // The library marks quoted and block scalars with "!" and plain ones with "?" or nothing.
    if (tag != "!" && tag != "?" && !tag.empty()) refuse_tag(mark, tag);
    const bool is_quoted = tag == "!";
    Tree tree = is_quoted ? Tree::of_text(value) : Tree::of_word(value);
    if (!is_quoted && (value == "~" || value == "null" || value == "Null" || value == "NULL"))
      tree = Tree{};
    tree.line = mark.line + 1;
    add(std::move(tree));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, tag, Tree::list());
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, tag, Tree::map());
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    Tree tree;
    bool has_key = false;
    std::string key;
    int key_line = 0;
    std::set<std::string> keys;  // a scan of the entries would be quadratic
  };

  [[noreturn]] static void refuse_tag(const YAML::Mark& mark, const std::string& tag) {
    refuse(Code::InvalidArgument, mark.line + 1, "tag " + shortened(tag) + " is not allowed",
           "remove it; the field decides the type");
  }

  void open(const YAML::Mark& mark, const std::string& tag, Tree tree) {
    if (!tag.empty() && tag != "?" && tag != "!") refuse_tag(mark, tag);
    if (static_cast<int>(open_.size()) >= kMaxDepth)
      refuse(Code::TooLarge, mark.line + 1,
             "more than " + std::to_string(kMaxDepth) + " levels of nesting",
             "no manifest needs that; look for a bracket that is not closed");
    if (!open_.empty() && open_.back().tree.shape == Tree::Shape::Map && !open_.back().has_key)
      refuse(Code::InvalidArgument, mark.line + 1, "a key is a list or a map",
             "keys are single words; quote text that starts with [ or {");
    tree.line = mark.line + 1;
    open_.push_back(
        Open{.tree = std::move(tree), .has_key = false, .key = {}, .key_line = 0, .keys = {}});
  }

  void close() {
    ASSERT(!open_.empty());
    Tree tree = std::move(open_.back().tree);
    open_.pop_back();
    add(std::move(tree));
  }

  void add(Tree tree) {
    if (open_.empty()) {
      document_ = std::move(tree);
      return;
    }
    Open& parent = open_.back();
    if (parent.tree.shape == Tree::Shape::List) {
      parent.tree.items.push_back(std::move(tree));
    } else if (parent.has_key) {
      parent.tree.entries.push_back(Tree::Entry{
          .key = std::move(parent.key), .line = parent.key_line, .value = std::move(tree)});
      parent.has_key = false;
    } else {
      take_key(parent, std::move(tree));
    }
  }

  static void take_key(Open& parent, Tree tree) {
    if (!tree.is_scalar())
      refuse(Code::InvalidArgument, tree.line, "a key is empty or null", "write a name before :");
    if (!parent.keys.insert(tree.text).second)
      refuse(Code::InvalidArgument, tree.line,
             "key " + shortened(tree.text) + " stands twice in the same map",
             "keep one of the two");
    parent.key = std::move(tree.text);
    parent.key_line = tree.line;
    parent.has_key = true;
  }

  int document_at_ = -1;  // where the document begins, in characters
  Tree document_;
  std::vector<Open> open_;
};

}  // namespace

base::Result<std::vector<Tree>> read_yaml(std::string_view text, std::size_t max_documents) {
  std::vector<Tree> documents;
  try {
    // An explicit end of the document makes the library refuse a quote that is still open there;
    // at the end of the text it would close it silently.
    std::istringstream stream{std::string(text) + (text.ends_with('\n') ? "...\n" : "\n...\n")};
    YAML::Parser parser(stream);
    TreeBuilder builder;
    while (parser.HandleNextDocument(builder)) {
      Tree document = builder.take_document();
      if (document.shape == Tree::Shape::Null) continue;
      if (documents.size() == max_documents)
        refuse(Code::TooLarge, document.line,
               "more than " + std::to_string(max_documents) + " documents in one text",
               "send them in several pieces");
      documents.push_back(std::move(document));
    }
  } catch (const Refused& refused) {
    return tl::unexpected(refused.error);
  } catch (const YAML::DeepRecursion& deep) {
    return tl::unexpected(
        base::Error{.code = Code::TooLarge,
                    .message = "more than " + std::to_string(kMaxDepth) + " levels of nesting",
                    .field = std::to_string(deep.mark.line + 1),
                    .hint = "no manifest needs that; look for a bracket that is not closed"});
  } catch (const YAML::Exception& failure) {
    return tl::unexpected(base::Error{
        .code = Code::InvalidArgument,
        .message =
            "not YAML: " + failure.msg + ", at column " + std::to_string(failure.mark.column + 1),
        .field = std::to_string(failure.mark.line + 1),
        .hint = "check indentation, colons and quotes on this line and the one before"});
  }
  return documents;
}

}  // namespace manifest
