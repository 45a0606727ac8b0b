#include "backends/local/job_record.h"

#include <limits>
#include <string_view>
#include <type_traits>

#include <boost/json.hpp>

#include "backends/local/folder.h"
#include "base/json_text.h"
#include "base/text.h"

namespace backends::local {
namespace {

using base::Code;
using base::Done;
using base::Result;
namespace json = boost::json;

// Fills the listed fields of a record from a JSON object. An absent key keeps the default, because
// empty lists and texts are left out on writing; a key of the wrong type is a fault.
class RecordReader {
 public:
  template <base::Record T>
  void read(const json::value& from, T& to) {
    const json::object* object = from.if_object();
    if (object == nullptr) return set_fault("an object is expected");
    T::fields(to, [&](int, std::string_view name, auto& field) {
      if (const json::value* value = object->if_contains(name)) take(*value, field, name);
    });
  }
  const std::string& fault() const { return fault_; }

 private:
  void set_fault(std::string_view what) {
    if (fault_.empty()) fault_ = what;
  }

  template <class T>
  void take(const json::value& value, T& field, std::string_view name) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (const json::string* text = value.if_string())
        field.assign(text->data(), text->size());
      else
        set_fault(name);
    } else if constexpr (std::is_same_v<T, bool>) {
      if (const bool* flag = value.if_bool())
        field = *flag;
      else
        set_fault(name);
    } else if constexpr (base::IsVector<T>::value) {
      const json::array* list = value.if_array();
      if (list == nullptr) return set_fault(name);
      field.clear();
      for (const json::value& element : *list)
        take(element, field.emplace_back(), name);
    } else if constexpr (base::IsMap<T>::value) {
      const json::object* object = value.if_object();
      if (object == nullptr) return set_fault(name);
      for (const auto& [key, element] : *object)
        take(element, field[std::string(key)], name);
    } else if constexpr (base::Record<T>) {
      read(value, field);
    } else {
      take_scalar(value, field, name);
    }
  }

  template <class T>
  void take_scalar(const json::value& value, T& field, std::string_view name) {
    if constexpr (base::NamedEnum<T>) {
      const json::string* text = value.if_string();
      const auto found = text == nullptr
                             ? std::nullopt
                             : base::enum_from<T>(std::string_view(text->data(), text->size()));
      if (found)
        field = *found;
      else
        set_fault(name);
    } else if constexpr (std::is_same_v<T, base::Instant>) {
      const json::string* text = value.if_string();
      if (text == nullptr) return set_fault(name);
      const auto parsed = base::parse_instant(std::string_view(text->data(), text->size()));
      if (parsed)
        field = *parsed;
      else
        set_fault(name);
    } else if constexpr (std::is_same_v<T, base::Duration>) {
      take_scalar(value, field.millis, name);
    } else {
      boost::system::error_code error;
      const T number = value.to_number<T>(error);
      if (error)
        set_fault(name);
      else
        field = number;
    }
  }

  std::string fault_;
};

template <base::Record T>
Result<Done> write_any(int folder, const char* name, const T& record) {
  return write_file_durably(folder, name, base::to_json(record) + "\n");
}

}  // namespace

template <class T>
Result<T> parse_record(std::string_view text, std::string_view name) {
  boost::system::error_code error;
  const json::value document = json::parse(text, error);
  if (error) return base::fail(Code::DataLoss, "{} is not whole: {}", name, error.message());
  T record;
  RecordReader reader;
  reader.read(document, record);
  if (!reader.fault().empty())
    return base::fail(Code::DataLoss, "{} is damaged: {}", name, reader.fault());
  return record;
}
template Result<JobSpec> parse_record(std::string_view, std::string_view);
template Result<AttemptRecord> parse_record(std::string_view, std::string_view);
template Result<ProcessRecord> parse_record(std::string_view, std::string_view);
template Result<StopRequest> parse_record(std::string_view, std::string_view);
template Result<ExitRecord> parse_record(std::string_view, std::string_view);

namespace {

template <base::Record T>
Result<T> read_any(int folder, const char* name) {
  const Result<std::string> text = read_small_file(folder, name);
  if (!text) return tl::unexpected(text.error());
  return parse_record<T>(*text, name);
}

}  // namespace

Result<Done> write_record(int folder, const char* name, const JobSpec& record) {
  return write_any(folder, name, record);
}
Result<Done> write_record(int folder, const char* name, const AttemptRecord& record) {
  return write_any(folder, name, record);
}
Result<Done> write_record(int folder, const char* name, const ProcessRecord& record) {
  return write_any(folder, name, record);
}
Result<Done> write_record(int folder, const char* name, const StopRequest& record) {
  return write_any(folder, name, record);
}
Result<Done> write_record(int folder, const char* name, const ExitRecord& record) {
  return write_any(folder, name, record);
}

Result<JobSpec> read_job(int folder) { return read_any<JobSpec>(folder, kJobFile); }
Result<AttemptRecord> read_attempt(int folder) {
  return read_any<AttemptRecord>(folder, kAttemptFile);
}
Result<ProcessRecord> read_process(int folder, const char* name) {
  return read_any<ProcessRecord>(folder, name);
}
Result<StopRequest> read_stop(int folder) { return read_any<StopRequest>(folder, kStopFile); }
Result<ExitRecord> read_exit(int folder) { return read_any<ExitRecord>(folder, kExitFile); }

}  // namespace backends::local
