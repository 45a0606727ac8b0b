# The written table of layers, lowest rank first: what a folder is called, where it stands and
# which folders it may include. Nothing else is allowed; equal ranks never include each other.
# The configuration, the link tests, the purity check and tools/tidy all read these rows.

# ---- pure: decides, touches nothing outside ----
berth_layer(NAME base RANK 0 PURE LIBS fmt::fmt tl::expected)
berth_layer(NAME model RANK 1 PURE DEPS base)
berth_layer(NAME policy RANK 2 PURE DEPS base model LIBS Boost::headers TEST_DEPS lifecycle)
berth_layer(NAME lifecycle RANK 3 PURE DEPS base model policy TEST_DEPS invariants)
berth_layer(NAME serving RANK 3 PURE DEPS base model policy)
berth_layer(NAME governance RANK 3 PURE DEPS base model policy)
berth_layer(NAME scheduling RANK 4 PURE DEPS base model policy lifecycle)
berth_layer(NAME invariants RANK 5 PURE
  DEPS base model policy lifecycle governance scheduling)

# ---- the purity bar: from here on a layer may touch the machine ----
berth_layer(NAME platform RANK 6 DEPS base
  LIBS spdlog::spdlog fmt::fmt Boost::headers Boost::url CURL::libcurl OpenSSL::SSL
       OpenSSL::Crypto Threads::Threads ${CMAKE_DL_LIBS})
berth_layer(NAME manifest RANK 6 DEPS base model policy
  LIBS yaml-cpp Boost::headers Boost::json)
berth_layer(NAME controller RANK 7
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
  LIBS Threads::Threads)
berth_layer(NAME devices RANK 7 DEPS base model platform manifest)

# ---- adapters: the worlds outside, each behind a seam of the controller ----
berth_layer(NAME backends_local FOLDER backends/local RANK 8
  DEPS base model policy lifecycle platform manifest controller devices
  LIBS Boost::headers Boost::json Threads::Threads)
berth_layer(NAME backends_simulated FOLDER backends/simulated RANK 8
  DEPS base model policy lifecycle platform manifest controller devices)
berth_layer(NAME store_sqlite FOLDER store/sqlite RANK 8
  DEPS base model policy lifecycle governance platform manifest controller
  LIBS SQLite::SQLite3)
berth_layer(NAME store_memory FOLDER store/memory RANK 8
  DEPS base model policy lifecycle governance platform manifest controller)
berth_layer(NAME identity_tokens FOLDER identity/tokens RANK 8
  DEPS base model policy platform manifest controller
  LIBS OpenSSL::Crypto Boost::headers Boost::json)
berth_layer(NAME telemetry RANK 8
  DEPS base model policy lifecycle serving governance platform manifest controller devices
  LIBS prometheus-cpp::core Boost::headers Boost::json Threads::Threads)
berth_layer(NAME api RANK 8
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices
  LIBS Boost::headers Boost::json Boost::url TEST_DEPS store_memory)
# The assembler reads the description, which no scan of includes can see.
set_source_files_properties("${PROJECT_SOURCE_DIR}/src/api/openapi_text.cc" PROPERTIES
  OBJECT_DEPENDS "${PROJECT_SOURCE_DIR}/src/api/openapi.yaml")

# ---- roles: flags, configuration, wiring; the only ranks that name an adapter ----
berth_layer(NAME shim RANK 9 DEPS base platform backends_local)
berth_layer(NAME daemon RANK 9
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices backends_local backends_simulated store_sqlite store_memory
       identity_tokens telemetry api
  LIBS CLI11::CLI11 Boost::headers Boost::json Threads::Threads)
berth_layer(NAME cli RANK 9
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices store_sqlite store_memory
  LIBS CLI11::CLI11 Boost::headers Boost::json Boost::url)
berth_layer(NAME simulator RANK 9
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices backends_simulated store_sqlite store_memory
  LIBS CLI11::CLI11 simdjson::simdjson Boost::headers Boost::json)
berth_layer(NAME storm RANK 9
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices backends_local backends_simulated store_sqlite store_memory
  LIBS CLI11::CLI11)
berth_layer(NAME app RANK 10
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices backends_local backends_simulated store_sqlite store_memory
       identity_tokens telemetry api shim daemon cli simulator storm
  LIBS CLI11::CLI11)

# ---- support for tests: builders, fakes, readers of golden files; only tests include it ----
berth_layer(NAME testing SUPPORT RANK 9
  DEPS base model policy lifecycle serving governance scheduling invariants platform manifest
       controller devices backends_simulated
  LIBS GTest::gtest GTest::gmock rapidcheck)
