#include "governance/reason_page.h"

#include <array>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "model/reason.h"

namespace governance {

namespace {

using model::Reason;

// A chapter goes from its first reason to the first of the next one, in the order of the
// enumeration.
struct Chapter {
  Reason first = Reason::None;
  std::string_view title;
  std::string_view text;
};

constexpr auto kChapters = std::to_array<Chapter>({
    {Reason::Held, "Not a candidate at the moment",
     "The workload is not tried in this cycle, whatever is free."},
    {Reason::NoSuchPool, "Can never run as asked here",
     "The verdict is *infeasible*: even on an empty and healthy cluster it would not fit. It stays "
     "queued, because a changed cluster or limit may still take it."},
    {Reason::QueueMax, "Quota", "Devices may be free, but not for this queue."},
    {Reason::BehindHead, "Order", "Something else must go first."},
    {Reason::NotEnoughFree, "Place",
     "Why nodes were rejected, and why those that were not are together too few."},
    {Reason::WaitingForVictims, "Taking back",
     "Why what others hold cannot be taken back for it, or not yet."},
    {Reason::Reclaim, "Why an attempt was evicted or a claim ended",
     "These stand on attempts, claims and events, not on waiting workloads."},
    {Reason::DuplicateName, "Why a command was refused", "Nothing was changed."},
});

std::string_view title_at(Reason reason, std::string_view& text) {
  for (const Chapter& chapter : kChapters)
    if (chapter.first == reason) {
      text = chapter.text;
      return chapter.title;
    }
  return {};
}

// "<workload>" would be taken for a tag.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "&lt;";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::string reason_page() {
  std::string page =
      "# Reasons\n\n"
      "Every \"no\" of Berth carries one of these reasons; the list is closed and only grows. "
      "`berth "
      "why`\nshows the reason with the numbers behind it. This page is made from the table in "
      "`src/model/reason.cc`;\nto change a sentence, change it there and run the tests with "
      "`BERTH_UPDATE_DOCS=1`.\n";
  for (const model::ReasonText& row : model::reason_catalogue()) {
    if (row.reason == Reason::None) continue;
    std::string_view text;
    if (const std::string_view title = title_at(row.reason, text); !title.empty())
      page += fmt::format(
          "\n## {}\n\n{}\n\n| Reason | Meaning | 含义 | What helps |\n|---|---|---|---|\n", title,
          text);
    page += fmt::format("| `{}` | {} | {} | {} |\n", row.name, row.english, row.chinese,
                        escaped(row.remedy));
  }
  return page;
}

}  // namespace governance
