// The one binary: its first word chooses the role. What the process is given from outside (words,
// environment, streams, terminal) is gathered here and nowhere else.

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/server_roles.h"
#include "cli/run.h"
#include "platform/system_clock.h"
#include "shim/shim.h"
#include "simulator/role.h"
#include "storm/role.h"

namespace {

constexpr std::string_view kVersion = "0.1.0";

cli::Environment environment_of_process() {
  cli::Environment environment;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

// Each write reaches the other side at once: output of followed work must not wait in a buffer.
std::function<void(std::string_view)> writer_to(FILE* stream) {
  return [stream](std::string_view bytes) {
    std::fwrite(bytes.data(), 1, bytes.size(), stream);
    std::fflush(stream);
  };
}

std::size_t terminal_width() {
  winsize size{};
  constexpr std::size_t kDefault = 80;
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 40) return kDefault;
  return size.ws_col;
}

std::string working_directory() {
  std::error_code failed;
  const std::filesystem::path path = std::filesystem::current_path(failed);
  return failed ? std::string("/") : path.string();
}

std::string all_of_standard_input() {
  return {std::istreambuf_iterator<char>(std::cin), std::istreambuf_iterator<char>()};
}

int run_command_line(const std::vector<std::string>& words) {
  const bool is_terminal = isatty(STDOUT_FILENO) != 0;
  const app::ServerSurroundings around{.version = std::string(kVersion),
                                       .environment = environment_of_process(),
                                       .is_terminal = is_terminal};
  return cli::run(
      words,
      {.console = {.out = writer_to(stdout),
                   .err = writer_to(stderr),
                   .is_terminal = is_terminal,
                   .width = is_terminal ? terminal_width() : 80},
       .environment = around.environment,
       .directory = working_directory(),
       .version = around.version,
       .clock = platform::system_now,
       .input = all_of_standard_input,
       .serve = [&](const cli::Invocation& typed) { return app::serve(typed, around); },
       .simulate = [](const cli::Invocation& typed) { return simulator::main(typed.arguments); },
       .storm = [](const cli::Invocation& typed) { return storm::main(typed.arguments); },
       .doctor =
           [&](const cli::Invocation& typed) { return app::doctor(typed, around.environment); }});
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::span<char*> all(argv, static_cast<std::size_t>(argc));
    if (argc > 1 && std::string_view(argv[1]) == "shim") return shim::run(argc, argv);
    std::vector<std::string> words;
    for (std::size_t i = 1; i < all.size(); ++i)
      words.emplace_back(all[i]);
    return run_command_line(words);
  } catch (const std::exception& error) {
    // Memory that is not there, or a fault of a library that no adapter has met yet.
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
