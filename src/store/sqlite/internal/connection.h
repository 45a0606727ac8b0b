#pragma once
// SQLite's C interface with owners and Results: a Connection closes itself, a Statement is
// finalised, and what SQLite says is turned into one of our codes in one place (error_of).
// Nothing here knows the journal.
//
//   auto statement = connection.prepare("SELECT value FROM meta WHERE key = ?");
//   statement->bind(1, "epoch");
//   auto has_row = statement->step();      // false: no more rows
//
// Thread contract: a Connection and its statements belong to one thread at a time.

#include <sqlite3.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace store::sqlite {

class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}

  // Positions start at 1. What is bound must stay alive until the next reset.
  void bind(int position, std::int64_t value);
  void bind_text(int position, std::string_view text);
  void bind_blob(int position, std::string_view bytes);
  // True when a row is there; false at the end.
  base::Result<bool> step();
  // Columns of the present row, from 0. The bytes live until the next step.
  std::int64_t integer(int column) const;
  std::string_view bytes(int column) const;
  // Ready to be bound and run again.
  void reset();

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

// Resets a kept statement when the scope ends, so that it never holds a transaction open.
class StatementUse {
 public:
  explicit StatementUse(Statement& statement) : statement_(statement) {}
  ~StatementUse() { statement_.reset(); }
  StatementUse(const StatementUse&) = delete;
  StatementUse& operator=(const StatementUse&) = delete;

 private:
  Statement& statement_;
};

enum class Access { Write, ReadOnly };

class Connection {
 public:
  // Creates the file when it may write and there is none. `vfs` is SQLite's name for what the file
  // is on; empty: the machine's own disk.
  static base::Result<Connection> open(const std::string& path, Access access,
                                       const std::string& vfs = {});

  base::Result<Statement> prepare(std::string_view sql);
  // Statements without results or parameters, separated by ';'.
  base::Result<base::Done> run(const char* sql);
  // Is a transaction open?
  bool is_in_transaction() const { return sqlite3_get_autocommit(connection_.get()) == 0; }
  sqlite3* handle() const { return connection_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* connection) const { sqlite3_close_v2(connection); }
  };
  explicit Connection(sqlite3* connection) : connection_(connection) {}
  std::unique_ptr<sqlite3, Close> connection_;
};

// Rolls back at the end of its scope unless committed.
class Transaction {
 public:
  // Takes the write lock at once, so that nothing read inside can change before the commit.
  static base::Result<Transaction> begin(Connection& connection);
  base::Result<base::Done> commit();

  Transaction(Transaction&& other) noexcept : connection_(other.connection_) {
    other.connection_ = nullptr;
  }
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;
};

// What a SQLite result code means to us, with SQLite's own words.
base::Error error_of(sqlite3* connection, int code);

}  // namespace store::sqlite
