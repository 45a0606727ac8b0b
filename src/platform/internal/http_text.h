#pragma once
// The text of HTTP/1.1 responses: heads, chunks, and the answers that the server gives by itself.

#include <cstddef>
#include <string>
#include <string_view>

#include "platform/http_message.h"

namespace platform {

enum class BodyForm { Sized, Chunked, UntilClose, None };
enum class AfterResponse { KeepAlive, Close };

// Status line and headers with the empty line. Headers that frame the message are ours, those of
// the response are left out; line breaks in values are dropped.
std::string print_response_head(const HttpResponse& response, BodyForm form, AfterResponse after);

void append_chunk(std::string& out, std::string_view bytes);
inline constexpr std::string_view kLastChunk = "0\r\n\r\n";

// 204, 304 and 1xx have no body.
bool has_body(int status);

// application/problem+json of what goes wrong below the handler; `code` as base::code_name.
HttpResponse plain_problem(int status, std::string_view code, std::string_view detail);

}  // namespace platform
