#pragma once
// The chain that makes the journal tamper-evident: every event's link is SHA-256 over the link
// before it and the event's stored bytes, so that a changed, removed or inserted event breaks every
// link from there on. The head, kept outside the store, vouches for the whole journal.
//
//   link[0] = 32 zero bytes;  link[n] = SHA-256(link[n-1] || bytes of event n)

#include <array>
#include <string>
#include <string_view>

namespace controller {

using ChainLink = std::array<unsigned char, 32>;

ChainLink next_link(const ChainLink& previous, std::string_view bytes);
// Lower case, 64 digits.
std::string to_hex(const ChainLink& link);

}  // namespace controller
