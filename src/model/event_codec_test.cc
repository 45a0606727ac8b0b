// Every event that can be written can be read again, and damaged bytes are never taken for another
// event silently changed into something unreadable. Events are generated field by field from a
// seed, through the same lists of fields that the codec walks, so that a new field or alternative
// is covered without a line here.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/codec.h"
#include "base/json_text.h"
#include "base/random.h"
#include "base/text.h"
#include "model/event.h"

namespace model {
namespace {

class Filler {
 public:
  explicit Filler(base::Seed seed) : random_(seed) {}

  template <class T>
  void fill(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      // Empty texts are not written, so one with another default (a policy's name) is never empty.
      const bool may_be_empty = value.empty();
      value = text();
      if (value.empty() && !may_be_empty) value = "x";
    } else if constexpr (base::IsOptional<T>::value) {
      if (random_.chance(1, 2)) fill(value.emplace());
    } else if constexpr (base::IsVector<T>::value) {
      for (std::uint64_t i = random_.below(3); i > 0; --i)
        fill(value.emplace_back());
    } else if constexpr (base::IsMap<T>::value) {
      for (std::uint64_t i = random_.below(3); i > 0; --i) {
        typename T::key_type key{};
        fill(key);
        fill(value[key]);
      }
    } else if constexpr (base::IsVariant<T>::value) {
      fill_alternative(value, random_.below(std::variant_size_v<T>));
    } else if constexpr (base::Record<T>) {
      T::fields(value, [this](int, std::string_view, auto& field) { fill(field); });
    } else {
      fill_number(value);
    }
  }

  template <class V>
  void fill_alternative(V& value, std::size_t index) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((I == index ? fill(value.template emplace<I>()) : void()), ...);
    }(std::make_index_sequence<std::variant_size_v<V>>{});
  }

 private:
  // Small, large and extreme ones alike.
  std::uint64_t number() { return random_.next() >> random_.below(64); }

  template <class T>
  void fill_number(T& value) {
    if constexpr (std::is_same_v<T, bool>)
      value = random_.chance(1, 2);
    else if constexpr (base::NamedEnum<T>)
      value = static_cast<T>(random_.below(enum_names(T{}).size()));
    else if constexpr (base::IdLike<T>)
      value = T(static_cast<typename T::Representation>(number()));
    else if constexpr (base::IsAmount<T>::value)
      value = T(static_cast<std::int64_t>(number()));
    else if constexpr (std::is_same_v<T, base::Instant> || std::is_same_v<T, base::Duration>)
      value = T{static_cast<std::int64_t>(number())};
    else
      value = static_cast<T>(number());
  }

  std::string text() {
    std::string text(random_.below(12), '\0');
    for (char& c : text)
      c = static_cast<char>(random_.next());
    return text;
  }

  base::Random random_;
};

Event an_event(std::uint64_t seed, std::size_t alternative) {
  Event event;
  Filler filler(base::Seed{seed});
  filler.fill(event);
  filler.fill_alternative(event.body, alternative);
  return event;
}

constexpr std::size_t kBodies = std::variant_size_v<EventBody>;

TEST(EventCodec, GivesBackEveryKindOfEvent) {
  for (std::size_t body = 0; body < kBodies; ++body)
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      const Event event = an_event(seed, body);
      const auto decoded = base::decode<Event>(base::encode(event));
      ASSERT_TRUE(decoded) << kind_of(event) << " seed " << seed << ": "
                           << to_text(decoded.error());
      ASSERT_EQ(*decoded, event) << kind_of(event) << " seed " << seed;
    }
}

TEST(EventCodec, GivesBackEveryKindOfDecision) {
  for (std::size_t body = 0; body < std::variant_size_v<DecisionBody>; ++body)
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Event event;
      Filler filler(base::Seed{seed});
      filler.fill(event);
      Decided& decided = event.body.emplace<Decided>();
      filler.fill(decided);
      filler.fill_alternative(decided.decision.body, body);
      ASSERT_EQ(*base::decode<Event>(base::encode(event)), event) << kind_of(event);
    }
}

RC_GTEST_PROP(EventCodecProperty, GivesBackAnyEventAndTheSameBytes, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto body = *rc::gen::inRange<std::size_t>(0, kBodies);
  const Event event = an_event(seed, body);
  const std::string bytes = base::encode(event);
  const auto decoded = base::decode<Event>(bytes);
  RC_ASSERT(decoded.has_value());
  RC_ASSERT(*decoded == event);
  RC_ASSERT(base::encode(*decoded) == bytes);
}

RC_GTEST_PROP(EventCodecProperty, RefusesTruncatedEvents, ()) {
  const Event event =
      an_event(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange<std::size_t>(0, kBodies));
  const std::string bytes = base::encode(event);
  const auto size = *rc::gen::inRange<std::size_t>(0, bytes.size());
  const auto decoded = base::decode<Event>(std::string_view(bytes).substr(0, size));
  RC_ASSERT(!decoded.has_value());
  RC_ASSERT(decoded.error().code == base::Code::DataLoss);
}

RC_GTEST_PROP(EventCodecProperty, DamagedEventsAreRefusedOrWholeRecords, ()) {
  const Event event =
      an_event(*rc::gen::arbitrary<std::uint64_t>(), *rc::gen::inRange<std::size_t>(0, kBodies));
  std::string bytes = base::encode(event);
  for (int flips = *rc::gen::inRange(1, 4); flips > 0; --flips) {
    const auto at = *rc::gen::inRange<std::size_t>(0, bytes.size());
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << *rc::gen::inRange(0, 8)));
  }
  const auto decoded = base::decode<Event>(bytes);
  if (!decoded) {
    RC_ASSERT(decoded.error().code == base::Code::DataLoss);
    return;
  }
  // What was read is a value like any other: it can be written, read and shown.
  RC_ASSERT(*base::decode<Event>(base::encode(*decoded)) == *decoded);
  RC_ASSERT(base::is_utf8(base::to_json(*decoded)));
}

RC_GTEST_PROP(EventCodecProperty, NoBytesBringTheReaderDown, (const std::string& bytes)) {
  const auto decoded = base::decode<Event>(bytes);
  if (!decoded) RC_ASSERT(decoded.error().code == base::Code::DataLoss);
}

TEST(KindOf, GivesEachEventAndDecisionANameOfItsOwn) {
  std::set<std::string_view> kinds;
  std::size_t decided = kBodies;
  for (std::size_t body = 0; body < kBodies; ++body) {
    const Event event = an_event(1, body);
    if (std::holds_alternative<Decided>(event.body))
      decided = body;
    else
      kinds.insert(kind_of(event));
  }
  ASSERT_LT(decided, kBodies);
  for (std::size_t body = 0; body < std::variant_size_v<DecisionBody>; ++body) {
    Event event;
    Filler(base::Seed{1}).fill_alternative(event.body.emplace<Decided>().decision.body, body);
    kinds.insert(kind_of(event));
  }
  EXPECT_EQ(kinds.size(), kBodies - 1 + std::variant_size_v<DecisionBody>);
}

TEST(KindOf, NamesADecisionByWhatWasDecided) {
  EXPECT_EQ(kind_of(Event{.body = Decided{.decision = {.body = Evict{}}}}), "evict");
  EXPECT_EQ(kind_of(Event{.body = WorkloadSubmitted{}}), "workloadSubmitted");
}

}  // namespace
}  // namespace model
