#pragma once
// The page docs/reasons.md, made from the catalogue of reasons, so that what the program says and
// what the page says cannot differ. A test fails when the committed page is another and rewrites it
// when asked to: tests/docs/reason_page_test.cc.

#include <string>

namespace governance {

// Markdown, with a newline at its end.
std::string reason_page();

}  // namespace governance
