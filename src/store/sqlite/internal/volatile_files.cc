#include "store/sqlite/internal/volatile_files.h"

#include <algorithm>
#include <utility>

namespace store::sqlite {

namespace {

void put(std::string& content, std::size_t offset, std::string_view bytes) {
  if (content.size() < offset + bytes.size()) content.resize(offset + bytes.size());
  content.replace(offset, bytes.size(), bytes);
}

}  // namespace

void VolatileFile::write(std::size_t offset, std::string_view bytes) {
  put(content_, offset, bytes);
  unsynced_.push_back({.at = offset, .bytes = std::string(bytes)});
}

void VolatileFile::truncate(std::size_t size) {
  content_.resize(size);
  unsynced_.push_back({.at = size, .bytes = std::nullopt});
}

void VolatileFile::sync() {
  for (const UnsyncedChange& change : std::exchange(unsynced_, {})) {
    if (change.bytes)
      put(durable_, change.at, *change.bytes);
    else
      durable_.resize(change.at);
  }
}

void VolatileFile::lose_unsynced(base::Random& random) {
  for (const UnsyncedChange& change : std::exchange(unsynced_, {})) {
    if (!change.bytes) {
      if (random.chance(1, 2)) durable_.resize(change.at);
      continue;
    }
    each_piece(change.at, *change.bytes, [&](std::size_t at, std::string_view piece) {
      if (random.chance(1, 2)) put(durable_, at, piece);
      return true;
    });
  }
  content_ = durable_;
}

VolatileFiles::Shared VolatileFiles::find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : found->second;
}

VolatileFiles::Shared VolatileFiles::create(const std::string& name) {
  return names_[name] = std::make_shared<VolatileFile>();
}

bool VolatileFiles::remove(const std::string& name) { return names_.erase(name) > 0; }

void VolatileFiles::sync_folder() { durable_names_ = names_; }

void VolatileFiles::cut_power(base::Random& random) {
  // A name that came, went or changed its file since the folder was synced is as it was or as it
  // became; both are honest outcomes of a crash.
  std::map<std::string, std::pair<Shared, Shared>> both;
  for (const auto& [name, file] : durable_names_)
    both[name].first = file;
  for (const auto& [name, file] : names_)
    both[name].second = file;
  names_.clear();
  for (const auto& [name, files] : both) {
    const auto& [before, after] = files;
    const Shared& kept = before == after || random.chance(1, 2) ? after : before;
    if (kept == nullptr) continue;
    kept->lose_unsynced(random);
    names_[name] = kept;
  }
  durable_names_ = names_;
}

}  // namespace store::sqlite
