#include "platform/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/assert.h"
#include "platform/fault_point.h"
#include "platform/random_bytes.h"

namespace platform {

namespace {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close_now(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  int number() const { return number_; }
  // A failed close can be the first news of a failed write.
  bool close_now() {
    const int number = std::exchange(number_, -1);
    return number < 0 || ::close(number) == 0;
  }

 private:
  int number_;
};

base::Code code_of(int error) {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return base::Code::NotFound;
    case EEXIST:
      return base::Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
    case ELOOP:
      return base::Code::PermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return base::Code::Exhausted;
    default:
      return base::Code::Unavailable;
  }
}

tl::unexpected<base::Error> failed(std::string_view what, const std::filesystem::path& path,
                                   int error) {
  auto failure = base::fail(code_of(error), "cannot {} {}: {}", what, path.string(),
                            error == ELOOP ? "it is a symbolic link" : std::strerror(error));
  if (error == ENOSPC || error == EDQUOT) failure.value().hint = "free some space on that disk";
  return failure;
}

int open_retrying(const std::filesystem::path& path, int flags, mode_t mode = 0) {
  int number = -1;
  do {
    number = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (number < 0 && errno == EINTR);
  return number;
}

base::Result<std::string> read_all(const Descriptor& file, const std::filesystem::path& path,
                                   std::size_t max_bytes) {
  std::string content;
  char block[65536];
  while (true) {
    const ssize_t got = ::read(file.number(), block, sizeof(block));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed("read", path, errno);
    if (got == 0) return content;
    content.append(block, static_cast<std::size_t>(got));
    if (content.size() > max_bytes)
      return base::fail(base::Code::TooLarge, "{} has more than {} bytes", path.string(),
                        max_bytes);
  }
}

// Regular files only: a fifo or device would block or never end.
base::Result<base::Done> check_is_regular(const struct stat& status,
                                          const std::filesystem::path& path) {
  if (S_ISREG(status.st_mode)) return base::Done{};
  return base::fail(base::Code::PermissionDenied, "{} is not a regular file", path.string());
}

base::Result<base::Done> check_is_secret(const struct stat& status,
                                         const std::filesystem::path& path) {
  if (status.st_uid != ::geteuid())
    return base::fail_field(base::Code::PermissionDenied, {},
                            fmt::format("{} belongs to user {}, not to user {} that runs this",
                                        path.string(), status.st_uid, ::geteuid()),
                            fmt::format("run: chown {} {}", ::geteuid(), path.string()));
  if ((status.st_mode & 0077) != 0)
    return base::fail_field(
        base::Code::PermissionDenied, {},
        fmt::format("{} is open to others (mode {:04o})", path.string(), status.st_mode & 07777),
        fmt::format("run: chmod 600 {}", path.string()));
  return base::Done{};
}

base::Result<base::Done> write_all(const Descriptor& file, const std::filesystem::path& path,
                                   std::string_view content) {
  while (!content.empty()) {
    const ssize_t put = ::write(file.number(), content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return failed("write", path, errno);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return base::Done{};
}

mode_t bits_of(FileMode mode) { return mode == FileMode::OwnerOnly ? 0600 : 0644; }

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : std::filesystem::path(".");
}

// Content and mode are on the disk when this returns; only the name is missing.
base::Result<base::Done> write_temporary(const std::filesystem::path& temporary,
                                         std::string_view content, FileMode mode) {
  Descriptor file(open_retrying(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600));
  if (!file.is_open()) return failed("create", temporary, errno);
  if (auto done = write_all(file, temporary, content); !done) return done;
  if (::fchmod(file.number(), bits_of(mode)) != 0)
    return failed("set the mode of", temporary, errno);
  if (FAULT("file.fsync")) return failed("fsync", temporary, ENOSPC);
  if (::fsync(file.number()) != 0) return failed("fsync", temporary, errno);
  if (!file.close_now()) return failed("close", temporary, errno);
  return base::Done{};
}

std::filesystem::path temporary_name(const std::filesystem::path& path) {
  return folder_of(path) / ("." + path.filename().string() + "." + random_hex(8));
}

}  // namespace

base::Result<std::string> read_file(const std::filesystem::path& path, std::size_t max_bytes) {
  const Descriptor file(open_retrying(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return failed("open", path, errno);
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return failed("look at", path, errno);
  if (auto done = check_is_regular(status, path); !done) return tl::unexpected(done.error());
  return read_all(file, path, max_bytes);
}

base::Result<std::string> read_secret_file(const std::filesystem::path& path,
                                           std::size_t max_bytes) {
  const Descriptor file(open_retrying(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK));
  if (!file.is_open()) return failed("open", path, errno);
  // The descriptor is asked, not the path, so that nothing can be swapped in between.
  struct stat status{};
  if (::fstat(file.number(), &status) != 0) return failed("look at", path, errno);
  if (auto done = check_is_regular(status, path); !done) return tl::unexpected(done.error());
  if (auto done = check_is_secret(status, path); !done) return tl::unexpected(done.error());
  return read_all(file, path, max_bytes);
}

base::Result<base::Done> write_file_atomically(const std::filesystem::path& path,
                                               std::string_view content, FileMode mode) {
  const std::filesystem::path temporary = temporary_name(path);
  auto written = write_temporary(temporary, content, mode);
  if (written && FAULT("file.rename")) written = failed("rename", temporary, EIO);
  if (written && ::rename(temporary.c_str(), path.c_str()) != 0)
    written = failed("rename to", path, errno);
  if (!written) {
    ::unlink(temporary.c_str());
    return written;
  }
  return sync_folder(folder_of(path));
}

base::Result<base::Done> create_file(const std::filesystem::path& path, std::string_view content,
                                     FileMode mode) {
  const std::filesystem::path temporary = temporary_name(path);
  auto written = write_temporary(temporary, content, mode);
  // link(2) fails where the name exists, unlike rename(2).
  if (written && ::link(temporary.c_str(), path.c_str()) != 0)
    written = failed("create", path, errno);
  ::unlink(temporary.c_str());
  if (!written) return written;
  return sync_folder(folder_of(path));
}

base::Result<base::Done> make_folder(const std::filesystem::path& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISDIR(status.st_mode)) return base::Done{};
    return failed("create folder", path, EEXIST);
  }
  if (path.has_parent_path() && path.parent_path() != path)
    if (auto done = make_folder(path.parent_path()); !done) return done;
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return failed("create folder", path, errno);
  return sync_folder(folder_of(path));
}

base::Result<base::Done> sync_folder(const std::filesystem::path& path) {
  const Descriptor folder(open_retrying(path, O_RDONLY | O_DIRECTORY));
  if (!folder.is_open()) return failed("open folder", path, errno);
  if (::fsync(folder.number()) != 0) return failed("fsync folder", path, errno);
  return base::Done{};
}

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "berth-XXXXXX").string();
  const char* made = ::mkdtemp(pattern.data());
  ASSERT(made != nullptr);
  path_ = made;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace platform
