#include "store/sqlite/internal/connection.h"

#include <cerrno>
#include <utility>

#include "base/assert.h"

namespace store::sqlite {

namespace {

constexpr int kBusyMillis = 5'000;

base::Code code_of(sqlite3* connection, int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
    case SQLITE_NOMEM:
      return base::Code::Exhausted;
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN: {
      const int cause = connection == nullptr ? 0 : sqlite3_system_errno(connection);
      const bool is_full = cause == ENOSPC || cause == EDQUOT || cause == EMFILE;
      return is_full ? base::Code::Exhausted : base::Code::Unavailable;
    }
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
    case SQLITE_PROTOCOL:
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return base::Code::Unavailable;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return base::Code::DataLoss;
    case SQLITE_TOOBIG:
      return base::Code::TooLarge;
    default:
      return base::Code::Internal;
  }
}

std::string hint_of(int code) {
  switch (code & 0xFF) {
    case SQLITE_FULL:
      return "free space on the file system of the data directory";
    case SQLITE_BUSY:
      return "another process writes this store; stop it first";
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_CANTOPEN:
      return "check that the data directory exists and may be written";
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return "restore the data directory from a backup";
    default:
      return {};
  }
}

}  // namespace

base::Error error_of(sqlite3* connection, int code) {
  std::string message = "store: ";
  message += connection == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(connection);
  return {.code = code_of(connection, code),
          .message = std::move(message),
          .field = {},
          .hint = hint_of(code)};
}

void Statement::bind(int position, std::int64_t value) {
  ASSERT(sqlite3_bind_int64(statement_.get(), position, value) == SQLITE_OK);
}

void Statement::bind_text(int position, std::string_view text) {
  ASSERT(sqlite3_bind_text64(statement_.get(), position, text.data(), text.size(), SQLITE_STATIC,
                             SQLITE_UTF8) == SQLITE_OK);
}

void Statement::bind_blob(int position, std::string_view bytes) {
  // A null pointer would bind NULL; an empty blob is a value.
  const char* data = bytes.data() == nullptr ? "" : bytes.data();
  ASSERT(sqlite3_bind_blob64(statement_.get(), position, data, bytes.size(), SQLITE_STATIC) ==
         SQLITE_OK);
}

base::Result<bool> Statement::step() {
  const int code = sqlite3_step(statement_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  return tl::unexpected(error_of(sqlite3_db_handle(statement_.get()), code));
}

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string_view Statement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {static_cast<const char*>(data), static_cast<std::size_t>(size)};
}

void Statement::reset() {
  sqlite3_reset(statement_.get());
  sqlite3_clear_bindings(statement_.get());
}

base::Result<Connection> Connection::open(const std::string& path, Access access,
                                          const std::string& vfs) {
  const int mode = access == Access::ReadOnly ? SQLITE_OPEN_READONLY
                                              : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code =
      sqlite3_open_v2(path.c_str(), &handle, mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
                      vfs.empty() ? nullptr : vfs.c_str());
  Connection connection(handle);
  if (code != SQLITE_OK) {
    base::Error error = error_of(handle, code);
    error.message += " (" + path + ")";
    return tl::unexpected(std::move(error));
  }
  sqlite3_busy_timeout(handle, kBusyMillis);
  return connection;
}

base::Result<Statement> Connection::prepare(std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v2(connection_.get(), sql.data(), static_cast<int>(sql.size()),
                                      &statement, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(connection_.get(), code));
  return Statement(statement);
}

base::Result<base::Done> Connection::run(const char* sql) {
  const int code = sqlite3_exec(connection_.get(), sql, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return tl::unexpected(error_of(connection_.get(), code));
  return base::Done{};
}

base::Result<Transaction> Transaction::begin(Connection& connection) {
  auto begun = connection.run("BEGIN IMMEDIATE");
  if (!begun) return tl::unexpected(std::move(begun.error()));
  return Transaction(connection);
}

base::Result<base::Done> Transaction::commit() {
  auto committed = connection_->run("COMMIT");
  if (committed) connection_ = nullptr;
  return committed;
}

Transaction::~Transaction() {
  // Some failures (disk full, I/O) have rolled back by themselves.
  if (connection_ != nullptr && connection_->is_in_transaction())
    static_cast<void>(connection_->run("ROLLBACK"));
}

}  // namespace store::sqlite
