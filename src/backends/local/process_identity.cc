#include "backends/local/process_identity.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <set>
#include <utility>

namespace backends::local {
namespace {

using base::Code;
using base::Result;

std::string proc_path(std::int32_t pid, const char* file) {
  return fmt::format("/proc/{}/{}", pid, file);
}

template <class T>
std::optional<T> number_from(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (true) {
    const std::size_t begin = text.find_first_not_of(" \n\t");
    if (begin == std::string_view::npos) return words;
    text.remove_prefix(begin);
    const std::size_t end = text.find_first_of(" \n\t");
    words.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  }
}

}  // namespace

Result<std::string> read_boot_id() {
  Result<std::string> text = read_small_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id");
  if (!text) return base::fail(Code::Unavailable, "{}", text.error().message);
  while (!text->empty() && text->back() == '\n')
    text->pop_back();
  return text;
}

std::optional<ProcessStatus> parse_process_status(std::string_view text) {
  // "1234 (name with ) and spaces) S 1 1234 1234 …": what counts follows the last parenthesis.
  const std::size_t close = text.rfind(')');
  const std::size_t open = text.find(' ');
  if (close == std::string_view::npos || open == std::string_view::npos) return std::nullopt;
  const std::vector<std::string_view> words = split_words(text.substr(close + 1));
  // Field 3 (state) is words[0], so field n is words[n - 3].
  if (words.size() < 20 || words[0].size() != 1) return std::nullopt;
  const auto pid = number_from<std::int32_t>(text.substr(0, open));
  const auto parent = number_from<std::int32_t>(words[1]);
  const auto session = number_from<std::int32_t>(words[3]);
  const auto start_time = number_from<std::uint64_t>(words[19]);
  if (!pid || !parent || !session || !start_time) return std::nullopt;
  return ProcessStatus{.pid = *pid,
                       .parent = *parent,
                       .session = *session,
                       .state = words[0][0],
                       .start_time = *start_time};
}

std::optional<ProcessStatus> read_process_status(std::int32_t pid) {
  const Result<std::string> text = read_small_file(AT_FDCWD, proc_path(pid, "stat").c_str());
  if (!text) return std::nullopt;
  return parse_process_status(*text);
}

Result<ProcessRecord> identify(std::int32_t pid, const std::string& cgroup) {
  Result<std::string> boot = read_boot_id();
  if (!boot) return tl::unexpected(boot.error());
  const std::optional<ProcessStatus> status = read_process_status(pid);
  if (!status) return base::fail(Code::NotFound, "process {} is gone", pid);
  return ProcessRecord{
      .boot_id = std::move(*boot), .pid = pid, .start_time = status->start_time, .cgroup = cgroup};
}

Result<Descriptor> open_process(const ProcessRecord& record) {
  const Result<std::string> boot = read_boot_id();
  if (!boot) return tl::unexpected(boot.error());
  if (*boot != record.boot_id || record.pid <= 0)
    return base::fail(Code::NotFound, "process {} ran before this boot", record.pid);
  Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, record.pid, 0)));
  if (!process.is_open()) {
    if (errno == ESRCH) return base::fail(Code::NotFound, "process {} is gone", record.pid);
    return tl::unexpected(system_error("cannot open process", std::to_string(record.pid), errno));
  }
  // Compared after opening: from here on the descriptor cannot come to mean another process.
  const std::optional<ProcessStatus> status = read_process_status(record.pid);
  // One that has ended but was not waited for is as good as gone.
  const bool is_same = status && status->start_time == record.start_time;
  if (!is_same || status->state == 'Z' || status->state == 'X')
    return base::fail(Code::NotFound, "process {} is gone", record.pid);
  return process;
}

std::vector<std::int32_t> descendants_of(std::int32_t root) {
  std::multimap<std::int32_t, ProcessStatus> by_parent;
  const Result<Folder> proc = Folder::open("/proc");
  if (!proc) return {};
  for (const std::string& name : proc->entries()) {
    const auto pid = number_from<std::int32_t>(name);
    if (!pid) continue;
    if (const auto status = read_process_status(*pid)) by_parent.emplace(status->parent, *status);
  }
  std::vector<std::int32_t> found;
  std::vector<std::int32_t> open{root};
  std::set<std::int32_t> seen{root};  // the listing is no snapshot, so it could hold a ring
  while (!open.empty()) {
    const std::int32_t parent = open.back();
    open.pop_back();
    const auto [begin, end] = by_parent.equal_range(parent);
    for (auto child = begin; child != end; ++child) {
      if (!seen.insert(child->second.pid).second) continue;
      open.push_back(child->second.pid);
      if (child->second.state != 'Z') found.push_back(child->second.pid);
    }
  }
  return found;
}

bool catches_signal(std::int32_t pid, int signal) {
  const Result<std::string> text = read_small_file(AT_FDCWD, proc_path(pid, "status").c_str());
  if (!text) return false;
  constexpr std::string_view kKey = "SigCgt:\t";
  const std::size_t at = text->find(kKey);
  if (at == std::string::npos) return false;
  std::string_view mask = std::string_view(*text).substr(at + kKey.size());
  mask = mask.substr(0, mask.find('\n'));
  const auto bits = number_from<std::uint64_t>(mask, 16);
  return bits && signal >= 1 && signal <= 64 && (*bits >> (signal - 1) & 1) != 0;
}

std::optional<int> signal_from_name(std::string_view name) {
  static constexpr std::array<std::pair<std::string_view, int>, 20> kSignals{{
      {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT}, {"ILL", SIGILL},
      {"TRAP", SIGTRAP}, {"ABRT", SIGABRT}, {"BUS", SIGBUS},   {"FPE", SIGFPE},
      {"KILL", SIGKILL}, {"USR1", SIGUSR1}, {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
      {"PIPE", SIGPIPE}, {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT},
      {"STOP", SIGSTOP}, {"TSTP", SIGTSTP}, {"XCPU", SIGXCPU}, {"WINCH", SIGWINCH},
  }};
  if (name.starts_with("SIG")) name.remove_prefix(3);
  for (const auto& [known, number] : kSignals)
    if (known == name) return number;
  return std::nullopt;
}

}  // namespace backends::local
