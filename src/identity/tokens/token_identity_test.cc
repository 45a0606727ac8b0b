// Tokens in a real file below a temporary folder; time is a value of the test.
#include "identity/tokens/token_identity.h"

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "platform/file.h"

namespace identity {
namespace {

using base::Code;
using controller::Role;

constexpr base::Instant kNow{1'000'000};

class Tokens : public testing::Test {
 protected:
  std::string add(const std::string& name, Role role, std::optional<base::Instant> expires = {}) {
    auto token = add_token(
        folder(),
        {.name = name, .user = "u-" + name, .role = role, .created = kNow, .expires = expires});
    EXPECT_TRUE(token) << base::to_text(token.error());
    return *token;
  }
  std::filesystem::path folder() const { return folder_.path() / "data"; }
  Code refusal(const std::string& credential) {
    const auto caller = identity_.authenticate(credential);
    return caller ? Code::Internal : caller.error().code;
  }

  platform::TemporaryFolder folder_;
  base::Instant now_ = kNow;
  TokenIdentity identity_{folder(), [this] { return now_; }};
};

TEST_F(Tokens, ATokenGivesItsUserAndRole) {
  for (const Role role : {Role::Viewer, Role::User, Role::Operator, Role::Admin}) {
    const std::string name(role_name(role));
    const auto caller = identity_.authenticate("Bearer " + add(name, role));
    ASSERT_TRUE(caller);
    EXPECT_EQ(caller->user, "u-" + name);
    EXPECT_EQ(caller->role, role);
  }
}

TEST_F(Tokens, WhatIsNotExactlyATokenIsRefusedWithTheSameWords) {
  const std::string token = add("a", Role::Admin);
  std::string other = token;
  other.back() = other.back() == '0' ? '1' : '0';
  std::set<std::string> words;
  for (const std::string& credential : std::vector<std::string>{
           std::string(), token, "bearer " + token, "Basic " + token, "Bearer ", "Bearer  " + token,
           "Bearer " + token + " ", "Bearer " + token.substr(0, token.size() - 1),
           "Bearer " + other, "Bearer " + std::string(100'000, 'x')}) {
    const auto caller = identity_.authenticate(credential);
    ASSERT_FALSE(caller) << credential;
    EXPECT_EQ(caller.error().code, Code::Unauthenticated);
    words.insert(base::to_text(caller.error()));
  }
  EXPECT_EQ(words.size(), 1u);
  EXPECT_TRUE(identity_.authenticate("Bearer " + token));
}

TEST_F(Tokens, SecretsAreLongDifferAndAreNotInTheFile) {
  const std::string first = add("a", Role::User);
  const std::string second = add("b", Role::User);
  EXPECT_EQ(first.size(), std::string("berth_").size() + 64);  // 256 bits
  EXPECT_NE(first, second);
  const std::string file = platform::read_file(token_file(folder())).value();
  EXPECT_EQ(file.find(first.substr(6)), std::string::npos);
  // The hash of a token is not a token.
  const std::string hash = read_tokens(folder()).value()[0].hash;
  EXPECT_EQ(refusal("Bearer " + hash), Code::Unauthenticated);
}

TEST_F(Tokens, ATokenEndsAtItsTimeAndWhenItIsRemoved) {
  const std::string short_lived = "Bearer " + add("a", Role::User, kNow + base::seconds(10));
  const std::string removed = "Bearer " + add("b", Role::User);
  EXPECT_TRUE(identity_.authenticate(short_lived));
  EXPECT_TRUE(identity_.authenticate(removed));
  now_ = kNow + base::seconds(10);
  EXPECT_EQ(refusal(short_lived), Code::Unauthenticated);
  ASSERT_TRUE(remove_token(folder(), "b"));
  EXPECT_EQ(refusal(removed), Code::Unauthenticated);
  EXPECT_EQ(remove_token(folder(), "b").error().code, Code::NotFound);
}

TEST_F(Tokens, AFileThatOthersCouldReadLetsNobodyInUntilItIsRepaired) {
  const std::string token = "Bearer " + add("a", Role::Admin);
  EXPECT_TRUE(identity_.authenticate(token));
  ASSERT_EQ(::chmod(token_file(folder()).c_str(), 0644), 0);
  EXPECT_EQ(refusal(token), Code::Unavailable);
  EXPECT_EQ(identity_.check().error().code, Code::PermissionDenied);
  EXPECT_NE(identity_.check().error().hint.find("chmod 600"), std::string::npos);
  ASSERT_EQ(::chmod(token_file(folder()).c_str(), 0600), 0);
  EXPECT_TRUE(identity_.authenticate(token));
}

TEST_F(Tokens, ADamagedFileIsAnErrorAndNeverAWrongCaller) {
  add("a", Role::Admin, kNow + base::hours(1));
  const std::string good = platform::read_file(token_file(folder())).value();
  const auto changed = [&good](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& bad : std::vector<std::string>{
           std::string(), good.substr(0, good.size() / 2),
           changed("\"version\":1", "\"version\":2"), changed("\"admin\"", "\"root\""),
           changed("\"role\"", "\"rolle\""), changed("\"expires\":\"", "\"expires\":\"x"),
           changed("\"expires\"", "\"expiers\""), changed("\"hash\":\"", "\"hash\":\"0")}) {
    ASSERT_TRUE(platform::write_file_atomically(token_file(folder()), bad));
    const auto entries = read_tokens(folder());
    ASSERT_FALSE(entries) << bad;
    EXPECT_EQ(entries.error().code, Code::DataLoss) << bad;
    EXPECT_EQ(identity_.check().error().code, Code::DataLoss);
  }
}

TEST_F(Tokens, NoFileMeansNobody) {
  EXPECT_TRUE(identity_.check());
  EXPECT_EQ(refusal("Bearer x"), Code::Unauthenticated);
}

TEST_F(Tokens, NamesAndUsersAreChecked) {
  const auto error_of = [this](const std::string& name, const std::string& user) {
    const auto token = add_token(folder(), {.name = name, .user = user});
    return token ? Code::Internal : token.error().code;
  };
  add("a", Role::User);
  EXPECT_EQ(error_of("a", "x"), Code::AlreadyExists);
  EXPECT_EQ(error_of("A b", "x"), Code::InvalidArgument);
  for (const char* user : {"", "a b", "a\nb", "\xff"})
    EXPECT_EQ(error_of("n", user), Code::InvalidArgument) << user;
}

TEST_F(Tokens, TheFirstStartMakesAnAdminTokenAndLaterOnesLeaveItAlone) {
  const auto path = create_admin_token_if_absent(folder(), kNow);
  ASSERT_TRUE(path) << base::to_text(path.error());
  std::string token = platform::read_secret_file(*path).value();
  ASSERT_TRUE(token.ends_with('\n'));
  token.pop_back();
  const auto caller = identity_.authenticate("Bearer " + token);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->role, Role::Admin);
  ASSERT_TRUE(create_admin_token_if_absent(folder(), kNow));
  EXPECT_EQ(platform::read_file(*path).value(), token + "\n");
  // Taken away for good once the operator has tokens of their own.
  add("mine", Role::Admin);
  ASSERT_TRUE(remove_token(folder(), "admin"));
  std::filesystem::remove(*path);
  ASSERT_TRUE(create_admin_token_if_absent(folder(), kNow));
  EXPECT_FALSE(std::filesystem::exists(*path));
}

}  // namespace
}  // namespace identity
