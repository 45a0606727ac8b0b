#include "simulator/journal_file.h"

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/codec.h"

namespace simulator {

using base::Code;
using base::Done;
using base::Result;

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::uint64_t kLargestEvent = std::uint64_t{1} << 28;

void append_length(std::string& out, std::uint64_t length) {
  while (length >= 0x80) {
    out.push_back(static_cast<char>(length | 0x80));
    length >>= 7;
  }
  out.push_back(static_cast<char>(length));
}

// One event after the other from a file, a megabyte at a time.
class EventFileReader {
 public:
  explicit EventFileReader(std::FILE* file) : file_(file), buffer_(kBufferBytes) {}

  // The encoded bytes of the next event, valid until the next call; empty at the end of the file.
  Result<std::string_view> next() {
    if (!fill(1)) return std::string_view{};
    std::uint64_t length = 0;
    for (int shift = 0;; shift += 7) {
      if (shift > 28 || !fill(1)) return base::fail(Code::DataLoss, "cut in a length");
      const auto byte = static_cast<unsigned char>(buffer_[begin_++]);
      length |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) break;
    }
    if (length == 0 || length > kLargestEvent || !fill(length))
      return base::fail(Code::DataLoss, "cut in an event");
    const std::string_view bytes(buffer_.data() + begin_, length);
    begin_ += length;
    return bytes;
  }

 private:
  // At least `wanted` unread bytes in the buffer, if the file has them.
  bool fill(std::size_t wanted) {
    if (end_ - begin_ >= wanted) return true;
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    end_ += std::fread(buffer_.data() + end_, 1, buffer_.size() - end_, file_);
    return end_ - begin_ >= wanted;
  }

  std::FILE* file_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;
};

}  // namespace

Result<std::unique_ptr<JournalFile>> JournalFile::create(std::filesystem::path path) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr)
    return base::fail(Code::Unavailable, "journal {} cannot be created: {}", path.string(),
                      std::strerror(errno));
  std::setvbuf(file, nullptr, _IOFBF, kBufferBytes);
  return std::unique_ptr<JournalFile>(new JournalFile(std::move(path), file));
}

JournalFile::JournalFile(std::filesystem::path path, std::FILE* file)
    : path_(std::move(path)), file_(file) {}

JournalFile::~JournalFile() = default;

Result<model::Epoch> JournalFile::acquire_epoch() {
  epoch_ = model::Epoch{epoch_.value + 1};
  return epoch_;
}

Result<Done> JournalFile::append(std::span<const model::Event> events) {
  if (events.empty()) return Done{};
  if (events.front().sequence.value != last_.value + 1)
    return base::fail(Code::Conflict, "event {} does not follow event {}",
                      events.front().sequence.value, last_.value);
  batch_.clear();
  controller::ChainLink head = head_;
  for (const model::Event& event : events) {
    encoded_.clear();
    base::Encoder(encoded_).record(event);
    append_length(batch_, encoded_.size());
    batch_ += encoded_;
    head = controller::next_link(head, encoded_);
  }
  if (std::fwrite(batch_.data(), 1, batch_.size(), file_.get()) != batch_.size())
    return base::fail(Code::Exhausted, "journal {} cannot grow: {}", path_.string(),
                      std::strerror(errno));
  head_ = head;
  bytes_ += static_cast<std::int64_t>(batch_.size());
  last_ = events.back().sequence;
  return Done{};
}

Result<model::Sequence> JournalFile::last_sequence() { return last_; }

Result<Done> JournalFile::read(model::Sequence after, std::size_t limit,
                               const std::function<bool(const model::Event&)>& visit) {
  if (limit == 0 || after >= last_) return Done{};
  if (std::fflush(file_.get()) != 0)
    return base::fail(Code::Exhausted, "journal {} cannot grow: {}", path_.string(),
                      std::strerror(errno));
  std::size_t given = 0;
  const auto head = read_journal_file(path_, [&](const model::Event& event) {
    if (event.sequence <= after) return true;
    return visit(event) && ++given < limit;
  });
  if (!head) return tl::unexpected(head.error());
  return Done{};
}

Result<std::optional<controller::StoredCheckpoint>> JournalFile::latest_checkpoint() {
  return checkpoint_;
}

Result<Done> JournalFile::write_checkpoint(const controller::StoredCheckpoint& checkpoint) {
  checkpoint_ = checkpoint;
  return Done{};
}

Result<std::string> JournalFile::chain_head() {
  // Whoever compares the head with the file must find everything in it.
  if (std::fflush(file_.get()) != 0)
    return base::fail(Code::Exhausted, "journal {} cannot grow: {}", path_.string(),
                      std::strerror(errno));
  return controller::to_hex(head_);
}

Result<std::string> read_journal_file(const std::filesystem::path& path,
                                      const std::function<bool(const model::Event&)>& visit) {
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Closer> file(std::fopen(path.c_str(), "rb"));
  if (!file)
    return base::fail(Code::NotFound, "journal {} cannot be read: {}", path.string(),
                      std::strerror(errno));
  EventFileReader reader(file.get());
  controller::ChainLink head{};
  for (model::Sequence expected{1};; ++expected.value) {
    const Result<std::string_view> bytes = reader.next();
    if (!bytes)
      return base::fail(Code::DataLoss, "journal {} is damaged at event {}: {}", path.string(),
                        expected.value, bytes.error().message);
    if (bytes->empty()) return controller::to_hex(head);
    model::Event event;
    base::Decoder decoder(*bytes);
    decoder.record(event);
    if (decoder.is_faulty() || !decoder.is_at_end() || event.sequence != expected)
      return base::fail(Code::DataLoss, "journal {} is damaged at event {}: {}", path.string(),
                        expected.value,
                        decoder.is_faulty() ? decoder.fault() : "another event stands there");
    head = controller::next_link(head, *bytes);
    if (!visit(event)) return controller::to_hex(head);
  }
}

}  // namespace simulator
