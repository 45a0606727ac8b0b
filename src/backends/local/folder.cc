#include "backends/local/folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

namespace backends::local {
namespace {

using base::Code;
using base::Done;
using base::Result;

Code code_of(int error_number) {
  switch (error_number) {
    case ENOENT:
    case ENOTDIR:
      return Code::NotFound;
    case EEXIST:
      return Code::AlreadyExists;
    case EACCES:
    case EPERM:
    case EROFS:
      return Code::PermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EMFILE:
    case ENFILE:
      return Code::Exhausted;
    default:
      return Code::Unavailable;
  }
}

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

Result<Done> write_all(int file, std::string_view content, const char* name) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return tl::unexpected(system_error("cannot write", name, errno));
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return Done{};
}

}  // namespace

base::Error system_error(std::string_view what, std::string_view path, int error_number) {
  return base::Error{.code = code_of(error_number),
                     .message = fmt::format("{} {}: {}", what, path, ::strerror(error_number)),
                     .field = {},
                     .hint = {}};
}

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = std::exchange(other.fd_, -1);
  }
  return *this;
}

void Descriptor::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

Result<Folder> Folder::make(const std::string& path) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const std::string part = path.substr(0, end);
    if (::mkdir(part.c_str(), 0700) != 0 && errno != EEXIST)
      return tl::unexpected(system_error("cannot make folder", part, errno));
    if (end == std::string::npos) break;
  }
  return open(path);
}

Result<Folder> Folder::open(const std::string& path) {
  Descriptor descriptor(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor.is_open()) return tl::unexpected(system_error("cannot open folder", path, errno));
  return Folder(std::move(descriptor), path);
}

Result<Folder> Folder::make_child(const std::string& name) const {
  if (::mkdirat(descriptor(), name.c_str(), 0700) != 0 && errno != EEXIST)
    return tl::unexpected(system_error("cannot make folder", path_ + "/" + name, errno));
  return open_child(name);
}

Result<Folder> Folder::open_child(const std::string& name) const {
  Descriptor child(::openat(descriptor(), name.c_str(), kFolderFlags));
  if (!child.is_open())
    return tl::unexpected(system_error("cannot open folder", path_ + "/" + name, errno));
  return Folder(std::move(child), path_ + "/" + name);
}

bool Folder::has(const char* name) const {
  struct stat status{};
  return ::fstatat(descriptor(), name, &status, AT_SYMLINK_NOFOLLOW) == 0;
}

std::vector<std::string> Folder::entries() const {
  std::vector<std::string> names;
  // A second descriptor, because closedir() closes the one it was given.
  const int copy = ::openat(descriptor(), ".", kFolderFlags);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(::fdopendir(copy), ::closedir);
  if (stream == nullptr) {
    ::close(copy);
    return names;
  }
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::string> read_small_file(int folder, const char* name) {
  const Descriptor file(::openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file.is_open()) return tl::unexpected(system_error("cannot open", name, errno));
  std::string content;
  char block[65536];
  while (true) {
    const ssize_t count = ::read(file.value(), block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return tl::unexpected(system_error("cannot read", name, errno));
    if (count == 0) return content;
    content.append(block, static_cast<std::size_t>(count));
    if (content.size() > kRecordBytesMax)
      return base::fail(Code::TooLarge, "{} is larger than {} bytes", name, kRecordBytesMax);
  }
}

Result<Done> write_file_durably(int folder, const char* name, std::string_view content) {
  const std::string temporary = fmt::format(".{}.{}", name, ::getpid());
  {
    const Descriptor file(::openat(folder, temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file.is_open()) return tl::unexpected(system_error("cannot create", temporary, errno));
    Result<Done> written = write_all(file.value(), content, name);
    if (written && ::fsync(file.value()) != 0)
      written = tl::unexpected(system_error("cannot flush", name, errno));
    if (!written) {
      ::unlinkat(folder, temporary.c_str(), 0);
      return written;
    }
  }
  if (::renameat(folder, temporary.c_str(), folder, name) != 0) {
    const int error_number = errno;
    ::unlinkat(folder, temporary.c_str(), 0);
    return tl::unexpected(system_error("cannot replace", name, error_number));
  }
  if (::fsync(folder) != 0)
    return tl::unexpected(system_error("cannot flush the folder of", name, errno));
  return Done{};
}

Result<Descriptor> take_lock(int folder, const char* name) {
  Descriptor file(::openat(folder, name, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.is_open()) return tl::unexpected(system_error("cannot open", name, errno));
  if (::flock(file.value(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK)
    return base::fail(Code::Conflict, "{} is held by another process", name);
  return tl::unexpected(system_error("cannot lock", name, errno));
}

}  // namespace backends::local
