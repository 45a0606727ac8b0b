#include "store/sqlite/sqlite_store.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <mutex>
#include <utility>
#include <vector>

#include "base/codec.h"
#include "controller/journal_chain.h"
#include "platform/fault_point.h"
#include "store/sqlite/internal/connection.h"
#include "store/sqlite/internal/schema.h"

namespace store {

namespace {

using controller::ChainLink;
using sqlite::Access;
using sqlite::Connection;
using sqlite::Statement;
using sqlite::StatementUse;
using sqlite::Transaction;

std::string_view bytes_of(const ChainLink& link) {
  return {reinterpret_cast<const char*>(link.data()), link.size()};
}

base::Result<ChainLink> link_from(std::string_view bytes, std::int64_t sequence) {
  ChainLink link{};
  if (bytes.size() != link.size())
    return base::fail(base::Code::DataLoss, "event {} has a damaged link of the chain", sequence);
  std::memcpy(link.data(), bytes.data(), link.size());
  return link;
}

// FULL: the log is synced at every commit. An append that returned survives a power loss.
base::Result<base::Done> prepare_to_write(Connection& connection, const SqliteOptions& options) {
  // First of all, so that the file of another program is not touched.
  if (auto known = sqlite::check_is_known(connection); !known) return known;
  std::string settings =
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF";
  if (options.pages_max > 0)
    settings += "; PRAGMA max_page_count = " + std::to_string(options.pages_max);
  if (auto configured = connection.run(settings.c_str()); !configured) return configured;
  return sqlite::migrate(connection);
}

}  // namespace

// Where the journal ends: what an append continues.
struct JournalEnd {
  std::int64_t sequence = 0;
  ChainLink link{};
};

struct SqliteStore::Parts {
  Parts(SqliteOptions opened_with, Connection connection)
      : options(std::move(opened_with)), writer(std::move(connection)) {}

  SqliteOptions options;
  Connection writer;
  std::mutex writer_mutex;  // small reads share the writer's connection
  Statement insert, last, epoch;
  model::Epoch own_epoch;

  std::mutex readers_mutex;
  std::vector<Connection> idle_readers;

  base::Result<base::Done> prepare();
  base::Result<JournalEnd> end();
  base::Result<std::int64_t> stored_epoch();
  base::Result<base::Done> check_epoch();
  base::Result<base::Done> insert_all(std::span<const model::Event> events, JournalEnd end);
  base::Result<Connection> take_reader();
  void give_back(Connection reader);
};

base::Result<base::Done> SqliteStore::Parts::prepare() {
  const auto keep = [this](Statement& kept, std::string_view sql) -> base::Result<base::Done> {
    auto statement = writer.prepare(sql);
    if (!statement) return tl::unexpected(std::move(statement.error()));
    kept = std::move(*statement);
    return base::Done{};
  };
  if (auto done = keep(last, "SELECT sequence, chain FROM journal ORDER BY sequence DESC LIMIT 1");
      !done)
    return done;
  if (auto done = keep(epoch, "SELECT value FROM meta WHERE key = 'epoch'"); !done) return done;
  return keep(insert,
              "INSERT INTO journal(sequence, at, kind, bytes, chain) VALUES (?, ?, ?, ?, ?)");
}

base::Result<JournalEnd> SqliteStore::Parts::end() {
  const StatementUse use(last);
  const auto has_row = last.step();
  if (!has_row) return tl::unexpected(has_row.error());
  JournalEnd end;
  if (!*has_row) return end;
  end.sequence = last.integer(0);
  const auto link = link_from(last.bytes(1), end.sequence);
  if (!link) return tl::unexpected(link.error());
  end.link = *link;
  return end;
}

base::Result<std::int64_t> SqliteStore::Parts::stored_epoch() {
  const StatementUse use(epoch);
  const auto has_row = epoch.step();
  if (!has_row) return tl::unexpected(has_row.error());
  if (!*has_row) return base::fail(base::Code::DataLoss, "the store has lost its epoch");
  return epoch.integer(0);
}

base::Result<base::Done> SqliteStore::Parts::check_epoch() {
  const auto stored = stored_epoch();
  if (!stored) return tl::unexpected(stored.error());
  if (static_cast<std::uint64_t>(*stored) != own_epoch.value)
    return base::fail(base::Code::Conflict,
                      "the journal was taken over: epoch {} writes, but epoch {} owns it",
                      own_epoch.value, *stored);
  return base::Done{};
}

base::Result<base::Done> SqliteStore::Parts::insert_all(std::span<const model::Event> events,
                                                        JournalEnd end) {
  for (const model::Event& event : events) {
    const auto sequence = static_cast<std::int64_t>(event.sequence.value);
    if (sequence != end.sequence + 1)
      return base::fail(base::Code::Conflict, "event {} follows event {} in the journal", sequence,
                        end.sequence);
    const std::string bytes = base::encode(event);
    end = {.sequence = sequence, .link = controller::next_link(end.link, bytes)};
    const StatementUse use(insert);
    insert.bind(1, sequence);
    insert.bind(2, event.at.millis);
    insert.bind_text(3, model::kind_of(event));
    insert.bind_blob(4, bytes);
    insert.bind_blob(5, bytes_of(end.link));
    const auto inserted = insert.step();
    if (!inserted) return tl::unexpected(inserted.error());
  }
  return base::Done{};
}

base::Result<Connection> SqliteStore::Parts::take_reader() {
  {
    const std::scoped_lock lock(readers_mutex);
    if (!idle_readers.empty()) {
      Connection reader = std::move(idle_readers.back());
      idle_readers.pop_back();
      return reader;
    }
  }
  return Connection::open(options.file, Access::ReadOnly, options.vfs);
}

void SqliteStore::Parts::give_back(Connection reader) {
  static constexpr std::size_t kIdleReadersMax = 4;
  const std::scoped_lock lock(readers_mutex);
  if (idle_readers.size() < kIdleReadersMax) idle_readers.push_back(std::move(reader));
}

SqliteStore::SqliteStore(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SqliteStore::~SqliteStore() = default;

base::Result<std::unique_ptr<SqliteStore>> SqliteStore::open(SqliteOptions options) {
  auto connection = Connection::open(
      options.file, options.is_read_only ? Access::ReadOnly : Access::Write, options.vfs);
  if (!connection) return tl::unexpected(std::move(connection.error()));
  auto ready = options.is_read_only ? sqlite::check_is_newest(*connection)
                                    : prepare_to_write(*connection, options);
  if (!ready) {
    ready.error().message += " (" + options.file + ")";
    return tl::unexpected(std::move(ready.error()));
  }
  auto parts = std::make_unique<Parts>(std::move(options), std::move(*connection));
  if (auto prepared = parts->prepare(); !prepared) return tl::unexpected(prepared.error());
  return std::unique_ptr<SqliteStore>(new SqliteStore(std::move(parts)));
}

base::Result<model::Epoch> SqliteStore::acquire_epoch() {
  const std::scoped_lock lock(parts_->writer_mutex);
  auto transaction = Transaction::begin(parts_->writer);
  if (!transaction) return tl::unexpected(std::move(transaction.error()));
  const auto stored = parts_->stored_epoch();
  if (!stored) return tl::unexpected(stored.error());
  auto update = parts_->writer.prepare("UPDATE meta SET value = ? WHERE key = 'epoch'");
  if (!update) return tl::unexpected(std::move(update.error()));
  update->bind(1, *stored + 1);
  const auto updated = update->step();
  if (!updated) return tl::unexpected(updated.error());
  update->reset();
  if (FAULT("store.epoch")) return base::fail(base::Code::Unavailable, "injected: store.epoch");
  if (auto committed = transaction->commit(); !committed)
    return tl::unexpected(std::move(committed.error()));
  parts_->own_epoch = model::Epoch(static_cast<std::uint64_t>(*stored + 1));
  return parts_->own_epoch;
}

base::Result<base::Done> SqliteStore::append(std::span<const model::Event> events) {
  if (events.empty()) return base::Done{};
  const std::scoped_lock lock(parts_->writer_mutex);
  auto transaction = Transaction::begin(parts_->writer);
  if (!transaction) return tl::unexpected(std::move(transaction.error()));
  if (auto owned = parts_->check_epoch(); !owned) return owned;
  const auto end = parts_->end();
  if (!end) return tl::unexpected(end.error());
  if (auto inserted = parts_->insert_all(events, *end); !inserted) return inserted;
  if (FAULT("store.append.before_commit"))
    return base::fail(base::Code::Exhausted, "injected: store.append.before_commit");
  auto committed = transaction->commit();
  // Committed and not yet acknowledged: a crash here must lose nothing and repeat nothing.
  static_cast<void>(FAULT("store.append.after_commit"));
  return committed;
}

base::Result<model::Sequence> SqliteStore::last_sequence() {
  const std::scoped_lock lock(parts_->writer_mutex);
  const auto end = parts_->end();
  if (!end) return tl::unexpected(end.error());
  return model::Sequence(static_cast<std::uint64_t>(end->sequence));
}

namespace {

// The link before the first event that will be read; nothing when the journal ends before it.
base::Result<std::optional<ChainLink>> link_at(Connection& reader, std::int64_t sequence) {
  if (sequence == 0) return ChainLink{};
  auto statement = reader.prepare("SELECT chain FROM journal WHERE sequence = ?");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  statement->bind(1, sequence);
  const auto has_row = statement->step();
  if (!has_row) return tl::unexpected(has_row.error());
  if (!*has_row) return std::optional<ChainLink>();
  const auto link = link_from(statement->bytes(0), sequence);
  if (!link) return tl::unexpected(link.error());
  return *link;
}

// The event of the present row, which must continue `link`; moves `link` on.
base::Result<model::Event> checked_event(const Statement& row, std::int64_t expected,
                                         ChainLink& link) {
  const std::int64_t sequence = row.integer(0);
  if (sequence != expected)
    return base::fail(base::Code::DataLoss, "event {} is missing from the journal", expected);
  const ChainLink computed = controller::next_link(link, row.bytes(1));
  if (bytes_of(computed) != row.bytes(2))
    return base::fail(base::Code::DataLoss,
                      "event {} is not what was written: its link of the chain does not match",
                      sequence);
  link = computed;
  auto event = base::decode<model::Event>(row.bytes(1));
  if (!event)
    return base::fail(base::Code::DataLoss, "event {} is damaged: {}", sequence,
                      event.error().message);
  if (event->sequence.value != static_cast<std::uint64_t>(sequence))
    return base::fail(base::Code::DataLoss, "event {} stands where event {} belongs",
                      event->sequence.value, sequence);
  return event;
}

base::Result<base::Done> read_from(Connection& reader, std::int64_t after, std::int64_t limit,
                                   const std::function<bool(const model::Event&)>& visit) {
  auto link = link_at(reader, after);
  if (!link) return tl::unexpected(std::move(link.error()));
  auto rows = reader.prepare(
      "SELECT sequence, bytes, chain FROM journal WHERE sequence > ? ORDER BY sequence LIMIT ?");
  if (!rows) return tl::unexpected(std::move(rows.error()));
  rows->bind(1, after);
  rows->bind(2, limit);
  for (std::int64_t expected = after + 1;; ++expected) {
    const auto has_row = rows->step();
    if (!has_row) return tl::unexpected(has_row.error());
    if (!*has_row) return base::Done{};
    if (!link->has_value())
      return base::fail(base::Code::DataLoss, "event {} is missing from the journal", after);
    const auto event = checked_event(*rows, expected, **link);
    if (!event) return tl::unexpected(event.error());
    if (!visit(*event)) return base::Done{};
  }
}

}  // namespace

base::Result<base::Done> SqliteStore::read(model::Sequence after, std::size_t limit,
                                           const std::function<bool(const model::Event&)>& visit) {
  static constexpr auto kMost = std::numeric_limits<std::int64_t>::max() - 1;
  if (limit == 0 || after.value > static_cast<std::uint64_t>(kMost)) return base::Done{};
  if (FAULT("store.read")) return base::fail(base::Code::Unavailable, "injected: store.read");
  auto reader = parts_->take_reader();
  if (!reader) return tl::unexpected(std::move(reader.error()));
  // One transaction, so that the link and the rows are of the same moment.
  if (auto begun = reader->run("BEGIN"); !begun) return begun;
  const auto count = std::min(static_cast<std::uint64_t>(limit), static_cast<std::uint64_t>(kMost));
  auto done = read_from(*reader, static_cast<std::int64_t>(after.value),
                        static_cast<std::int64_t>(count), visit);
  auto ended = reader->run("COMMIT");
  if (done && !ended) return ended;
  if (done) parts_->give_back(std::move(*reader));
  return done;
}

base::Result<std::optional<controller::StoredCheckpoint>> SqliteStore::latest_checkpoint() {
  if (FAULT("store.checkpoint.read"))
    return base::fail(base::Code::Unavailable, "injected: store.checkpoint.read");
  const std::scoped_lock lock(parts_->writer_mutex);
  auto statement = parts_->writer.prepare(
      "SELECT sequence, bytes, digest FROM checkpoint ORDER BY sequence DESC LIMIT 1");
  if (!statement) return tl::unexpected(std::move(statement.error()));
  const auto has_row = statement->step();
  if (!has_row) return tl::unexpected(has_row.error());
  if (!*has_row) return std::optional<controller::StoredCheckpoint>();
  controller::StoredCheckpoint checkpoint;
  checkpoint.sequence = model::Sequence(static_cast<std::uint64_t>(statement->integer(0)));
  checkpoint.bytes = std::string(statement->bytes(1));
  const ChainLink digest = controller::next_link({}, checkpoint.bytes);
  if (bytes_of(digest) != statement->bytes(2))
    return base::fail(base::Code::DataLoss,
                      "the checkpoint of event {} is not what was written: its digest does not "
                      "match",
                      checkpoint.sequence.value);
  statement->reset();
  const auto end = parts_->end();
  if (!end) return tl::unexpected(end.error());
  if (checkpoint.sequence.value > static_cast<std::uint64_t>(end->sequence))
    return base::fail(base::Code::DataLoss,
                      "the journal ends with event {}, before its checkpoint of event {}",
                      end->sequence, checkpoint.sequence.value);
  return checkpoint;
}

base::Result<base::Done> SqliteStore::write_checkpoint(
    const controller::StoredCheckpoint& checkpoint) {
  const std::scoped_lock lock(parts_->writer_mutex);
  auto transaction = Transaction::begin(parts_->writer);
  if (!transaction) return tl::unexpected(std::move(transaction.error()));
  if (auto owned = parts_->check_epoch(); !owned) return owned;
  const auto end = parts_->end();
  if (!end) return tl::unexpected(end.error());
  if (checkpoint.sequence.value > static_cast<std::uint64_t>(end->sequence))
    return base::fail(base::Code::Conflict,
                      "a checkpoint of event {} in a journal that ends with event {}",
                      checkpoint.sequence.value, end->sequence);
  if (auto cleared = parts_->writer.run("DELETE FROM checkpoint"); !cleared) return cleared;
  auto insert =
      parts_->writer.prepare("INSERT INTO checkpoint(sequence, bytes, digest) VALUES (?, ?, ?)");
  if (!insert) return tl::unexpected(std::move(insert.error()));
  const ChainLink digest = controller::next_link({}, checkpoint.bytes);
  insert->bind(1, static_cast<std::int64_t>(checkpoint.sequence.value));
  insert->bind_blob(2, checkpoint.bytes);
  insert->bind_blob(3, bytes_of(digest));
  const auto inserted = insert->step();
  if (!inserted) return tl::unexpected(inserted.error());
  insert->reset();
  if (FAULT("store.checkpoint.before_commit"))
    return base::fail(base::Code::Unavailable, "injected: store.checkpoint.before_commit");
  auto committed = transaction->commit();
  static_cast<void>(FAULT("store.checkpoint.after_commit"));
  return committed;
}

base::Result<std::string> SqliteStore::chain_head() {
  const std::scoped_lock lock(parts_->writer_mutex);
  const auto end = parts_->end();
  if (!end) return tl::unexpected(end.error());
  return controller::to_hex(end->link);
}

}  // namespace store
