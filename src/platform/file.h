#pragma once
// Files, so that a crash at any moment leaves the old content or the new one, never a mixture, and
// nothing that a stranger planted is followed.
//
//   if (auto done = write_file_atomically(path, text, FileMode::OwnerOnly); !done) ...

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.h"

namespace platform {

enum class FileMode { OwnerOnly, WorldReadable };  // 0600 and 0644

// Follows no link at the last part of the path. Code::NotFound, Code::TooLarge beyond `max_bytes`,
// Code::PermissionDenied, else Code::Unavailable.
base::Result<std::string> read_file(const std::filesystem::path& path,
                                    std::size_t max_bytes = 16 << 20);

// As read_file, and the file must belong to this user and be closed to everybody else; the error
// names the command that repairs it.
base::Result<std::string> read_secret_file(const std::filesystem::path& path,
                                           std::size_t max_bytes = 1 << 20);

// Temporary file beside it, fsync, rename, fsync of the folder. Code::Exhausted on a full disk.
base::Result<base::Done> write_file_atomically(const std::filesystem::path& path,
                                               std::string_view content,
                                               FileMode mode = FileMode::OwnerOnly);

// Only when nothing has that name yet, else Code::AlreadyExists. As durable as the above.
base::Result<base::Done> create_file(const std::filesystem::path& path, std::string_view content,
                                     FileMode mode = FileMode::OwnerOnly);

// The folder and its parents; a new one is 0700. Fine when it exists.
base::Result<base::Done> make_folder(const std::filesystem::path& path);

// Of the folder, so that a new name in it survives a crash.
base::Result<base::Done> sync_folder(const std::filesystem::path& path);

// An empty folder of its own, removed with everything in it at the end.
class TemporaryFolder {
 public:
  TemporaryFolder();  // below the system's place for temporary files
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace platform
