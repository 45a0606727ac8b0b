#pragma once
// Folders and small files addressed from an open directory, never by following a symbolic link:
// what a member does to its own files cannot lead the daemon elsewhere.
//
//   base::Result<Folder> jobs = Folder::make(data + "/jobs");
//   base::Result<Folder> member = jobs->make_child("1042.1");

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace backends::local {

// Owns a file descriptor; -1: none.
class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept;
  ~Descriptor() { reset(); }

  int value() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }
  void reset();

 private:
  int fd_ = -1;
};

class Folder {
 public:
  // Opens, and makes when absent (0700, parents too for make()).
  static base::Result<Folder> make(const std::string& path);
  static base::Result<Folder> open(const std::string& path);
  base::Result<Folder> make_child(const std::string& name) const;
  base::Result<Folder> open_child(const std::string& name) const;

  int descriptor() const { return descriptor_.value(); }
  const std::string& path() const { return path_; }
  bool has(const char* name) const;
  // Names of the entries, sorted, without "." and "..".
  std::vector<std::string> entries() const;

 private:
  Folder(Descriptor descriptor, std::string path)
      : descriptor_(std::move(descriptor)), path_(std::move(path)) {}

  Descriptor descriptor_;
  std::string path_;
};

inline constexpr std::size_t kRecordBytesMax = 4 << 20;

// "what path: text of errno".
base::Error system_error(std::string_view what, std::string_view path, int error_number);

// Whole content; Code::NotFound when absent, Code::TooLarge above kRecordBytesMax.
base::Result<std::string> read_small_file(int folder, const char* name);
// Replaces the file whole and durably: after a crash there is the old content or the new one.
base::Result<base::Done> write_file_durably(int folder, const char* name, std::string_view content);
// Takes the exclusive lock without waiting; Code::Conflict when another process holds it.
base::Result<Descriptor> take_lock(int folder, const char* name);

}  // namespace backends::local
