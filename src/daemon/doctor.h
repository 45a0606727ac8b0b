#pragma once
// `berth doctor`: looks at a data folder without changing it, also beside a running daemon. Reads
// the whole journal against its chain of hashes, replays it, compares the checkpoint with the
// replay, and checks every invariant of the State that comes out.

#include <string>
#include <vector>

namespace berthd {

struct Diagnosis {
  struct Line {
    bool is_sound = true;
    std::string text;  // "journal: 4012 events, chain head 9f86…"
    bool operator==(const Line&) const = default;
  };
  std::vector<Line> lines;
  bool is_sound() const;
  bool operator==(const Diagnosis&) const = default;
};

Diagnosis diagnose(const std::string& data_folder);
// "ok      journal: …" and "DAMAGED …", one a line.
std::string to_text(const Diagnosis& diagnosis);

}  // namespace berthd
