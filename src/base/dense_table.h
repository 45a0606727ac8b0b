#pragma once
// Values by an id that counts up from 1: constant-time lookup, iteration in id order, gaps allowed.
// A removed value leaves one empty pointer behind, so memory follows the ids ever given out with 8
// bytes each; addresses of values stay the same until their removal.

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/assert.h"

namespace base {

template <class Id, class T>
class DenseTable {
 public:
  DenseTable() = default;
  DenseTable(DenseTable&&) noexcept = default;
  DenseTable& operator=(DenseTable&&) noexcept = default;
  DenseTable(const DenseTable& other) { copy_from(other); }
  DenseTable& operator=(const DenseTable& other) {
    if (this != &other) copy_from(other);
    return *this;
  }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // One past the largest id ever inserted.
  Id next_id() const { return Id(static_cast<typename Id::Representation>(slots_.size() + 1)); }

  const T* find(Id id) const {
    return id.value >= 1 && id.value <= slots_.size() ? slots_[id.value - 1].get() : nullptr;
  }
  T* find(Id id) { return const_cast<T*>(std::as_const(*this).find(id)); }
  const T& at(Id id) const {
    const T* found = find(id);
    ASSERT(found != nullptr);
    return *found;
  }
  T& at(Id id) { return const_cast<T&>(std::as_const(*this).at(id)); }

  // `id` must not be present.
  T& insert(Id id, T value) {
    ASSERT(id.value >= 1);
    if (id.value > slots_.size()) slots_.resize(id.value);
    ASSERT(slots_[id.value - 1] == nullptr);
    slots_[id.value - 1] = std::make_unique<T>(std::move(value));
    ++size_;
    return *slots_[id.value - 1];
  }

  void erase(Id id) {
    ASSERT(find(id) != nullptr);
    slots_[id.value - 1].reset();
    --size_;
  }

  // In id order; `visit(Id, T&)`.
  template <class Visit>
  void each(Visit&& visit) const {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i] != nullptr)
        visit(Id(static_cast<typename Id::Representation>(i + 1)), std::as_const(*slots_[i]));
  }

  bool operator==(const DenseTable& other) const {
    if (size_ != other.size_) return false;
    const std::size_t longest =
        slots_.size() > other.slots_.size() ? slots_.size() : other.slots_.size();
    for (std::size_t i = 0; i < longest; ++i) {
      const T* mine = i < slots_.size() ? slots_[i].get() : nullptr;
      const T* theirs = i < other.slots_.size() ? other.slots_[i].get() : nullptr;
      if ((mine == nullptr) != (theirs == nullptr)) return false;
      if (mine != nullptr && !(*mine == *theirs)) return false;
    }
    return true;
  }

 private:
  void copy_from(const DenseTable& other) {
    slots_.clear();
    slots_.resize(other.slots_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (other.slots_[i] != nullptr) slots_[i] = std::make_unique<T>(*other.slots_[i]);
    size_ = other.size_;
  }

  std::vector<std::unique_ptr<T>> slots_;
  std::size_t size_ = 0;
};

}  // namespace base
