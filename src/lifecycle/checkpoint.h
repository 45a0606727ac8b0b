#pragma once
// State as bytes and back: what a restart begins from. encode_checkpoint(decode_checkpoint(b)) ==
// b, and the decoded State equals the encoded one.

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/state.h"

namespace lifecycle {

std::string encode_checkpoint(const model::State& state);
// Code::DataLoss on damage.
base::Result<model::State> decode_checkpoint(std::string_view bytes);

}  // namespace lifecycle
