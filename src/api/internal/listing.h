#pragma once
// What lists have in common: a page of at most kMaxPage items, and a cursor that says after which
// item the next page begins.

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "api/internal/json_object.h"
#include "api/internal/query.h"
#include "base/json_text.h"
#include "base/result.h"
#include "model/workload.h"

namespace api {

inline constexpr std::int64_t kDefaultPage = 100;
inline constexpr std::int64_t kMaxPage = 1000;

struct Page {
  std::size_t limit = kDefaultPage;
  std::string cursor;  // empty: from the beginning
};
base::Result<Page> page_of(const Query& query);

// {"items":[…],"cursor":"…"}: offer() the items in order with their own cursor until it says no.
class PageWriter {
 public:
  explicit PageWriter(std::size_t limit) : limit_(limit) {}

  // The text to append the item to; null when the page is full, and then there is more.
  std::string* next(const std::string& cursor) {
    if (count_ == limit_) {
      has_more_ = true;
      return nullptr;
    }
    if (count_++ > 0) items_ += ',';
    last_ = cursor;
    return &items_;
  }
  std::string finish() const {
    std::string out;
    {
      JsonObject object(out);
      object.value("items") += "[" + items_ + "]";
      if (has_more_) object.text("cursor", last_);
    }
    return out;
  }

 private:
  const std::size_t limit_;
  std::size_t count_ = 0;
  bool has_more_ = false;
  std::string items_;
  std::string last_;
};

// "key=value" or "key", as asked for with label=.
using LabelPattern = std::pair<std::string, std::optional<std::string>>;
std::vector<LabelPattern> label_patterns(const Query& query);
bool matches_all(const std::map<std::string, std::string>& labels,
                 const std::vector<LabelPattern>& patterns);

}  // namespace api
