#include "app/server_roles.h"

#include <cstdio>

#include "daemon/doctor.h"
#include "daemon/serve.h"

namespace app {

int serve(const cli::Invocation& typed, const ServerSurroundings& surroundings) {
  return berthd::serve({.data_folder = typed.value("data"),
                        .listen = typed.value("listen"),
                        .config_file = typed.value("config"),
                        .version = surroundings.version,
                        .environment = surroundings.environment,
                        .is_terminal = surroundings.is_terminal});
}

int doctor(const cli::Invocation& typed, const cli::Environment& environment) {
  const std::string folder = typed.value("data", cli::default_data_folder(environment));
  const berthd::Diagnosis diagnosis = berthd::diagnose(folder);
  const std::string text = berthd::to_text(diagnosis);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return diagnosis.is_sound() ? 0 : 1;
}

}  // namespace app
