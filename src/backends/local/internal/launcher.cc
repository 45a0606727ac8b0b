#include "backends/local/internal/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace backends::local {
namespace {

using base::Result;

// The settings of posix_spawn, which must be destroyed.
class SpawnSettings {
 public:
  SpawnSettings() {
    ::posix_spawnattr_init(&attributes);
    ::posix_spawn_file_actions_init(&actions);
    sigset_t all, none;
    ::sigfillset(&all);
    ::sigemptyset(&none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawnattr_t attributes;
  posix_spawn_file_actions_t actions;
};

}  // namespace

Result<Launch> launch_shim(const std::vector<std::string>& command, const std::string& folder) {
  if (command.empty())
    return base::fail(base::Code::FailedPrecondition, "no shim command is configured");
  std::vector<std::string> words = command;
  words.emplace_back("--job");
  words.push_back(folder);
  std::vector<char*> argv;
  for (std::string& word : words)
    argv.push_back(word.data());
  argv.push_back(nullptr);
  char* const no_environment[] = {nullptr};
  const SpawnSettings settings;
  Launch launch;
  const int failed = ::posix_spawn(&launch.pid, argv[0], &settings.actions, &settings.attributes,
                                   argv.data(), no_environment);
  if (failed != 0) return tl::unexpected(system_error("cannot start the shim", command[0], failed));
  // The child is not waited for yet, so its pid cannot belong to anybody else.
  launch.process = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, launch.pid, 0)));
  if (!launch.process.is_open()) {
    const int error_number = errno;
    take_exit_code(launch);
    return tl::unexpected(system_error("cannot watch the shim", command[0], error_number));
  }
  return launch;
}

int take_exit_code(const Launch& launch) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(launch.pid, &status, 0);
  } while (waited < 0 && errno == EINTR);
  return waited == launch.pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace backends::local
