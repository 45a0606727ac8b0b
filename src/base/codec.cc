#include "base/codec.h"

namespace base {

std::uint64_t Decoder::take_count(Wire wire) {
  if (wire != Wire::List) {
    set_fault("expected a list");
    return 0;
  }
  const std::uint64_t count = take_varint();
  if (count > (bytes_.size() - at_) / 2) {
    set_fault("a list longer than its record");
    return 0;
  }
  return count;
}

Wire Decoder::take_wire() {
  if (at_ == bytes_.size()) {
    set_fault("ends in the middle of a list");
    return Wire::Varint;
  }
  const auto raw = static_cast<unsigned char>(bytes_[at_++]);
  if (raw > static_cast<unsigned char>(Wire::List)) set_fault("unknown wire form");
  return static_cast<Wire>(raw & 3);
}

std::uint64_t Decoder::take_varint() {
  std::uint64_t value = 0;
  for (int shift = 0; shift < 64; shift += 7) {
    if (at_ == bytes_.size()) {
      set_fault("ends in the middle of a number");
      return 0;
    }
    const auto byte = static_cast<unsigned char>(bytes_[at_++]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
    if ((byte & 0x80) == 0) return value;
  }
  set_fault("a number longer than 64 bits");
  return 0;
}

std::string_view Decoder::take_bytes() {
  const std::uint64_t size = take_varint();
  if (size > bytes_.size() - at_) {
    set_fault("bytes longer than their record");
    return {};
  }
  const std::string_view taken = bytes_.substr(at_, size);
  at_ += size;
  return taken;
}

bool Decoder::enter() {
  if (++depth_ <= kMaxDepth) return true;
  --depth_;
  set_fault("nested too deeply");
  return false;
}

void Decoder::skip(Wire wire) {
  if (!enter()) return;
  switch (wire) {
    case Wire::Varint:
      take_varint();
      break;
    case Wire::Bytes:
      take_bytes();
      break;
    case Wire::Record:
      while (const std::uint64_t tag = take_varint()) {
        if (is_faulty()) break;
        skip(static_cast<Wire>(tag & 3));
      }
      break;
    case Wire::List: {
      const std::uint64_t count = take_count(wire);
      for (std::uint64_t i = 0; i < count && !is_faulty(); ++i)
        skip(take_wire());
      break;
    }
  }
  --depth_;
}

}  // namespace base
