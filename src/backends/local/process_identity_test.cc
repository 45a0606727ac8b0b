#include "backends/local/process_identity.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

namespace {

using backends::local::parse_process_status;

TEST(ProcessIdentity, ANameMayHoldSpacesAndParentheses) {
  const auto status = parse_process_status(
      "77 (a) S (b c)) R 12 77 66 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 98765 0 0\n");
  ASSERT_TRUE(status);
  EXPECT_EQ(status->pid, 77);
  EXPECT_EQ(status->state, 'R');
  EXPECT_EQ(status->parent, 12);
  EXPECT_EQ(status->session, 66);
  EXPECT_EQ(status->start_time, 98765U);
  for (const char* bad : {"", "77", "77 (x", "77 (x) R 1 2", "x (y) R 1 2 3 4 5 6 7 8"})
    EXPECT_FALSE(parse_process_status(bad)) << bad;
}

TEST(ProcessIdentity, AProcessIsFoundAgainUntilItEnds) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto record = backends::local::identify(child, "");
  ASSERT_TRUE(record);
  EXPECT_TRUE(backends::local::open_process(*record));
  const auto below = backends::local::descendants_of(::getpid());
  EXPECT_NE(std::find(below.begin(), below.end(), child), below.end());

  auto other = *record;
  ++other.start_time;  // as if the pid had been reused
  EXPECT_EQ(backends::local::open_process(other).error().code, base::Code::NotFound);
  other = *record;
  other.boot_id = "another boot";
  EXPECT_EQ(backends::local::open_process(other).error().code, base::Code::NotFound);

  ::kill(child, SIGKILL);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  // Not waited for yet: watching it would report an end for ever.
  EXPECT_EQ(backends::local::open_process(*record).error().code, base::Code::NotFound);
  EXPECT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(backends::local::open_process(*record).error().code, base::Code::NotFound);
}

TEST(ProcessIdentity, SignalsAreNamedWithAndWithoutPrefix) {
  EXPECT_EQ(backends::local::signal_from_name("SIGUSR1"), SIGUSR1);
  EXPECT_EQ(backends::local::signal_from_name("USR2"), SIGUSR2);
  EXPECT_EQ(backends::local::signal_from_name("SIGNOPE"), std::nullopt);
  EXPECT_EQ(backends::local::signal_from_name(""), std::nullopt);
}

TEST(ProcessIdentity, ACaughtSignalIsSeen) {
  ::signal(SIGUSR2, [](int) {});
  EXPECT_TRUE(backends::local::catches_signal(::getpid(), SIGUSR2));
  ::signal(SIGUSR2, SIG_DFL);
  EXPECT_FALSE(backends::local::catches_signal(::getpid(), SIGUSR2));
  EXPECT_FALSE(backends::local::catches_signal(::getpid(), 0));
}

}  // namespace
