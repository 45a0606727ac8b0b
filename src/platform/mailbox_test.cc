#include "platform/mailbox.h"

#include <thread>

#include <gtest/gtest.h>

#include "platform/random_bytes.h"
#include "platform/sha256.h"

namespace platform {
namespace {

TEST(Mailbox, MessagesOfOneSenderKeepTheirOrderAndNoneIsLost) {
  Mailbox<std::pair<int, int>> mailbox;
  constexpr int kSenders = 4, kMessages = 2000;
  std::vector<std::thread> senders;
  for (int sender = 0; sender < kSenders; ++sender)
    senders.emplace_back([&mailbox, sender] {
      for (int i = 0; i < kMessages; ++i)
        ASSERT_TRUE(mailbox.post({sender, i}));
    });
  std::vector<int> next(kSenders, 0);
  int received = 0;
  while (received < kSenders * kMessages)
    for (const auto& [sender, number] : mailbox.wait_until(base::kNever)) {
      EXPECT_EQ(number, next[static_cast<std::size_t>(sender)]++);
      ++received;
    }
  for (std::thread& thread : senders)
    thread.join();
  EXPECT_TRUE(mailbox.take().empty());
}

TEST(Mailbox, WaitingEndsAtTheDeadlineWithNothing) {
  Mailbox<int> mailbox;
  EXPECT_TRUE(mailbox.wait_until(base::Instant{0}).empty());
  const base::Instant until = system_now() + base::milliseconds(20);
  EXPECT_TRUE(mailbox.wait_until(until).empty());
  EXPECT_GE(system_now(), until);
}

TEST(Mailbox, WakeAndCloseEndAWaitOfAnyLength) {
  Mailbox<int> mailbox;
  mailbox.wake();
  EXPECT_TRUE(mailbox.wait_until(base::kNever).empty());
  std::thread waker([&mailbox] { mailbox.wake(); });
  EXPECT_TRUE(mailbox.wait_until(base::kNever).empty());
  waker.join();
  std::thread closer([&mailbox] { mailbox.close(); });
  EXPECT_TRUE(mailbox.wait_until(base::kNever).empty());
  closer.join();
  EXPECT_TRUE(mailbox.is_closed());
}

TEST(Mailbox, WhatIsInsideCanBeTakenAfterClosingButNothingIsAdded) {
  Mailbox<int> mailbox;
  ASSERT_TRUE(mailbox.post(1));
  mailbox.close();
  EXPECT_FALSE(mailbox.post(2));
  EXPECT_EQ(mailbox.wait_until(base::kNever), (std::vector<int>{1}));
}

TEST(Mailbox, AFullMailboxRefusesUntilItIsEmptied) {
  Mailbox<int> mailbox(2);
  EXPECT_TRUE(mailbox.post(1));
  EXPECT_TRUE(mailbox.post(2));
  EXPECT_FALSE(mailbox.post(3));
  EXPECT_EQ(mailbox.take().size(), 2u);
  EXPECT_TRUE(mailbox.post(3));
}

TEST(RandomBytes, AreOfTheLengthAskedForAndDiffer) {
  EXPECT_EQ(random_bytes(33).size(), 33u);
  EXPECT_EQ(random_hex(16).size(), 32u);
  EXPECT_NE(random_hex(16), random_hex(16));
}

TEST(Sha256, GivesThePublishedDigests) {
  EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(Sha256, ConstantTimeComparisonIsEquality) {
  EXPECT_TRUE(equals_in_constant_time("abc", "abc"));
  EXPECT_TRUE(equals_in_constant_time("", ""));
  EXPECT_FALSE(equals_in_constant_time("abc", "abd"));
  EXPECT_FALSE(equals_in_constant_time("abc", "ab"));
}

}  // namespace
}  // namespace platform
