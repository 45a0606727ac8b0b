#pragma once
// A set of nodes as a bitmap with a summary of its words: entering and leaving cost the same
// however many there are, and a walk in the order of ids reads memory in a row. Memory: one bit for
// each id up to the largest that was ever in it. Thread contract: none of its own.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "model/ids.h"

namespace scheduling::internal {

class NodeSet {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }

  // `id` is not in it.
  void insert(model::NodeId id) {
    const std::size_t word = id.value / kBits;
    if (word >= words_.size()) {
      words_.resize(word + 1);
      summary_.resize(word / kBits + 1);
    }
    words_[word] |= bit(id.value);
    summary_[word / kBits] |= bit(word);
    ++size_;
  }
  // `id` is in it.
  void erase(model::NodeId id) {
    const std::size_t word = id.value / kBits;
    words_[word] &= ~bit(id.value);
    if (words_[word] == 0) summary_[word / kBits] &= ~bit(word);
    --size_;
  }

  // By id, until one is taken: `takes(id)`. True when one was.
  template <class Takes>
  bool any(Takes&& takes) const {
    for (std::size_t s = 0; s < summary_.size(); ++s)
      for (std::uint64_t words = summary_[s]; words != 0; words &= words - 1) {
        const std::size_t word = s * kBits + lowest(words);
        for (std::uint64_t ids = words_[word]; ids != 0; ids &= ids - 1)
          if (takes(node(word, lowest(ids)))) return true;
      }
    return false;
  }
  // The same from the highest id down.
  template <class Takes>
  bool any_down(Takes&& takes) const {
    for (std::size_t s = summary_.size(); s-- > 0;)
      for (std::uint64_t words = summary_[s]; words != 0; words &= ~bit(highest(words))) {
        const std::size_t word = s * kBits + highest(words);
        for (std::uint64_t ids = words_[word]; ids != 0; ids &= ~bit(highest(ids)))
          if (takes(node(word, highest(ids)))) return true;
      }
    return false;
  }

 private:
  static constexpr std::size_t kBits = 64;
  static std::uint64_t bit(std::size_t index) { return std::uint64_t{1} << (index % kBits); }
  static std::size_t lowest(std::uint64_t bits) {
    return static_cast<std::size_t>(std::countr_zero(bits));
  }
  static std::size_t highest(std::uint64_t bits) {
    return kBits - 1 - static_cast<std::size_t>(std::countl_zero(bits));
  }
  static model::NodeId node(std::size_t word, std::size_t index) {
    return model::NodeId(static_cast<model::NodeId::Representation>(word * kBits + index));
  }

  std::vector<std::uint64_t> words_;    // bit i of word w: node 64 w + i
  std::vector<std::uint64_t> summary_;  // bit i of word w: word 64 w + i is not zero
  std::size_t size_ = 0;
};

}  // namespace scheduling::internal
