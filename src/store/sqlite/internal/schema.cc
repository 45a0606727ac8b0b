#include "store/sqlite/internal/schema.h"

#include <array>
#include <string>
#include <utility>

namespace store::sqlite {

namespace {

struct Migration {
  const char* name;
  const char* sql;
};

// Only append. A released migration never changes.
constexpr std::array<Migration, 1> kMigrations{{
    {"journal, meta and checkpoint",
     "CREATE TABLE journal("
     " sequence INTEGER PRIMARY KEY,"
     " at INTEGER NOT NULL,"
     " kind TEXT NOT NULL,"
     " bytes BLOB NOT NULL,"
     " chain BLOB NOT NULL);"
     "CREATE TABLE meta(key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
     "INSERT INTO meta(key, value) VALUES ('epoch', 0);"
     "CREATE TABLE checkpoint("
     " sequence INTEGER PRIMARY KEY,"
     " bytes BLOB NOT NULL,"
     " digest BLOB NOT NULL);"},
}};

base::Result<std::int64_t> number(Connection& connection, const char* sql) {
  auto statement = connection.prepare(sql);
  if (!statement) return tl::unexpected(std::move(statement.error()));
  const auto has_row = statement->step();
  if (!has_row) return tl::unexpected(has_row.error());
  return *has_row ? statement->integer(0) : 0;
}

// How many migrations the file has seen; 0 for an empty file.
base::Result<std::int64_t> schema_of(Connection& connection) {
  const auto application = number(connection, "PRAGMA application_id");
  if (!application) return tl::unexpected(application.error());
  const auto tables = number(connection, "SELECT count(*) FROM sqlite_schema");
  if (!tables) return tl::unexpected(tables.error());
  if (*tables == 0) return 0;
  if (*application != kApplicationId)
    return base::fail(base::Code::FailedPrecondition,
                      "the store's file is a database of another program");
  return number(connection, "SELECT coalesce(max(version), 0) FROM migration");
}

tl::unexpected<base::Error> newer(std::int64_t version) {
  auto error = base::fail(base::Code::FailedPrecondition,
                          "the store has schema {}, this version of Berth knows up to {}", version,
                          newest_schema());
  error.value().hint = "run the version of Berth that wrote it, or a later one";
  return error;
}

base::Result<base::Done> add(Connection& connection, std::int64_t version) {
  const Migration& migration = kMigrations[static_cast<std::size_t>(version - 1)];
  if (auto done = connection.run(migration.sql); !done) return done;
  auto statement = connection.prepare("INSERT INTO migration(version, name) VALUES (?, ?)");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  statement->bind(1, version);
  statement->bind_text(2, migration.name);
  const auto stepped = statement->step();
  if (!stepped) return tl::unexpected(stepped.error());
  return base::Done{};
}

}  // namespace

int newest_schema() { return static_cast<int>(kMigrations.size()); }

base::Result<base::Done> check_is_known(Connection& connection) {
  const auto version = schema_of(connection);
  if (!version) return tl::unexpected(version.error());
  if (*version > newest_schema()) return newer(*version);
  return base::Done{};
}

base::Result<base::Done> migrate(Connection& connection) {
  auto transaction = Transaction::begin(connection);
  if (!transaction) return tl::unexpected(std::move(transaction.error()));
  const auto version = schema_of(connection);
  if (!version) return tl::unexpected(version.error());
  if (*version > newest_schema()) return newer(*version);
  if (*version == newest_schema()) return base::Done{};
  if (*version == 0) {
    const std::string begin = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                              "; CREATE TABLE migration(version INTEGER PRIMARY KEY,"
                              " name TEXT NOT NULL)";
    if (auto done = connection.run(begin.c_str()); !done) return done;
  }
  for (std::int64_t next = *version + 1; next <= newest_schema(); ++next)
    if (auto done = add(connection, next); !done) return done;
  return transaction->commit();
}

base::Result<base::Done> check_is_newest(Connection& connection) {
  if (auto known = check_is_known(connection); !known) return known;
  const auto version = schema_of(connection);
  if (!version) return tl::unexpected(version.error());
  if (*version < newest_schema())
    return base::fail(base::Code::FailedPrecondition,
                      "the store has schema {}, older than {}; start the daemon once to bring it "
                      "up to date",
                      *version, newest_schema());
  return base::Done{};
}

}  // namespace store::sqlite
