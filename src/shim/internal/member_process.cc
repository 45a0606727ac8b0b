#include "shim/internal/member_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "backends/local/cgroup.h"

namespace shim {
namespace {

using backends::local::Descriptor;
using backends::local::Folder;
using backends::local::JobSpec;

enum class Step : int { Group, Session, Output, Directory, Execute };

// What the child tells through the pipe when it does not get as far as exec.
struct ChildFault {
  Step step = Step::Execute;
  int error_number = 0;
};

// Everything that the child needs, made before the fork: between fork and exec only system calls.
struct Preparation {
  std::vector<Descriptor> groups;
  Descriptor input, output, error;
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  Descriptor fault_reader, fault_writer;
};

tl::unexpected<SpawnFailure> machine_failure(std::string_view what, int error_number) {
  return tl::unexpected(SpawnFailure{.note = fmt::format("{}: {}", what, ::strerror(error_number)),
                                     .exit_code = 126,
                                     .is_of_user = false});
}

Descriptor open_log(const Folder& folder, const char* name) {
  return Descriptor(::openat(folder.descriptor(), name,
                             O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
}

tl::expected<Preparation, SpawnFailure> prepare(const Folder& folder, const JobSpec& job) {
  Preparation made;
  for (const std::string& file : backends::local::entry_files(job.cgroup)) {
    Descriptor group(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!group.is_open()) return machine_failure("cannot open " + file, errno);
    made.groups.push_back(std::move(group));
  }
  made.input = Descriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  made.output = open_log(folder, backends::local::kOutputFile);
  made.error = open_log(folder, backends::local::kErrorFile);
  if (!made.input.is_open() || !made.output.is_open() || !made.error.is_open())
    return machine_failure("cannot open the logs", errno);
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return machine_failure("cannot make a pipe", errno);
  made.fault_reader = Descriptor(ends[0]);
  made.fault_writer = Descriptor(ends[1]);
  for (const std::string& word : job.argv)
    made.argv.push_back(const_cast<char*>(word.c_str()));
  made.argv.push_back(nullptr);
  for (const auto& [name, value] : job.environment)
    made.environment.push_back(fmt::format("{}={}", name, value));
  for (std::string& pair : made.environment)
    made.envp.push_back(pair.data());
  made.envp.push_back(nullptr);
  return made;
}

[[noreturn]] void end_child(const Preparation& made, Step step) {
  const ChildFault fault{.step = step, .error_number = errno};
  // A failed write reads as "exec succeeded, then exit 127" on the other side, which is close.
  static_cast<void>(!::write(made.fault_writer.value(), &fault, sizeof fault));
  ::_exit(127);
}

void reset_signals() {
  for (const int signal : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1, SIGUSR2})
    ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void run_child(const Preparation& made, const JobSpec& job, pid_t shim) {
  for (const Descriptor& group : made.groups)
    if (::write(group.value(), "0", 1) < 0) end_child(made, Step::Group);
  if (::setsid() < 0) end_child(made, Step::Session);
  // Without its shim nobody would know how it ends, so it does not outlive it.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != shim) ::_exit(127);
  if (::dup2(made.input.value(), STDIN_FILENO) < 0 ||
      ::dup2(made.output.value(), STDOUT_FILENO) < 0 ||
      ::dup2(made.error.value(), STDERR_FILENO) < 0)
    end_child(made, Step::Output);
  if (!job.directory.empty() && ::chdir(job.directory.c_str()) != 0)
    end_child(made, Step::Directory);
  const rlimit no_core{.rlim_cur = 0, .rlim_max = 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  ::umask(022);
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  reset_signals();
  // execvp searches the PATH of the environment in force, which must be the member's.
  environ = const_cast<char**>(made.envp.data());
  ::execvp(made.argv[0], made.argv.data());
  end_child(made, Step::Execute);
}

SpawnFailure describe(const ChildFault& fault, const JobSpec& job) {
  const char* reason = ::strerror(fault.error_number);
  switch (fault.step) {
    case Step::Execute:
      return {.note = fmt::format("cannot execute {}: {}", job.argv[0], reason),
              .exit_code = fault.error_number == ENOENT ? 127 : 126,
              .is_of_user = fault.error_number != ENOMEM && fault.error_number != EAGAIN};
    case Step::Directory:
      return {.note = fmt::format("cannot enter the directory {}: {}", job.directory, reason),
              .exit_code = 126,
              .is_of_user = true};
    case Step::Group:
    case Step::Session:
    case Step::Output:
      break;
  }
  return {.note = fmt::format("cannot prepare the process: {}", reason),
          .exit_code = 126,
          .is_of_user = false};
}

}  // namespace

Spawned spawn_member(const Folder& folder, const JobSpec& job) {
  if (job.argv.empty() || job.argv[0].empty())
    return tl::unexpected(
        SpawnFailure{.note = "the command is empty", .exit_code = 127, .is_of_user = true});
  auto made = prepare(folder, job);
  if (!made) return tl::unexpected(made.error());
  const pid_t shim = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return machine_failure("cannot fork", errno);
  if (child == 0) run_child(*made, job, shim);

  made->fault_writer.reset();
  ChildFault fault;
  ssize_t count = 0;
  do {
    count = ::read(made->fault_reader.value(), &fault, sizeof fault);
  } while (count < 0 && errno == EINTR);
  if (count != static_cast<ssize_t>(sizeof fault)) return child;
  while (::waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return tl::unexpected(describe(fault, job));
}

}  // namespace shim
