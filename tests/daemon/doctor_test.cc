// `berth doctor` on sound and on damaged data folders.

#include "daemon/doctor.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "platform/file.h"
#include "store/sqlite/sqlite_store.h"
#include "tests/controller/bench.h"

namespace {

class DoctorTest : public testing::Test {
 protected:
  DoctorTest() {
    auto store = store::SqliteStore::open({.file = file_});
    EXPECT_TRUE(store);
    controller_test::RecordingBackend backend;
    controller::Controller controller({.version = "test", .checkpoint_every_events = 3}, **store,
                                      {&backend});
    EXPECT_TRUE(controller.recover(controller_test::start_of_time()));
    controller::Inbox inbox;
    for (int i = 0; i < 3; ++i)
      inbox.commands.emplace_back(
          controller::Command{
              .body = controller::Apply{.document = controller_test::document_of(
                                            testkit::a_workload("w" + std::to_string(i)))},
              .caller = {.user = "ann"}},
          [](const base::Result<controller::Reply>& reply) { EXPECT_TRUE(reply); });
    controller.turn(controller_test::start_of_time(), std::move(inbox));
  }

  void run_sql(const std::string& sql) {
    sqlite3* connection = nullptr;
    ASSERT_EQ(sqlite3_open(file_.c_str(), &connection), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(connection, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(connection);
  }
  std::string found() const { return berthd::to_text(berthd::diagnose(folder_.path())); }

  platform::TemporaryFolder folder_;
  std::string file_ = folder_.path() / "journal.db";
};

TEST_F(DoctorTest, ASoundFolderIsSound) {
  const auto diagnosis = berthd::diagnose(folder_.path());
  EXPECT_TRUE(diagnosis.is_sound()) << berthd::to_text(diagnosis);
  EXPECT_NE(found().find("chain head"), std::string::npos);
  EXPECT_NE(found().find("agrees with the journal"), std::string::npos) << found();
  EXPECT_NE(found().find("every invariant holds"), std::string::npos);
}

TEST_F(DoctorTest, NamesADamagedEvent) {
  run_sql("UPDATE journal SET bytes = zeroblob(4) WHERE sequence = 2");
  EXPECT_FALSE(berthd::diagnose(folder_.path()).is_sound());
  EXPECT_NE(found().find("DAMAGED  journal: event 2 "), std::string::npos) << found();
}

TEST_F(DoctorTest, NamesADamagedCheckpoint) {
  run_sql("UPDATE checkpoint SET bytes = zeroblob(4)");
  EXPECT_FALSE(berthd::diagnose(folder_.path()).is_sound());
  EXPECT_NE(found().find("DAMAGED  checkpoint: "), std::string::npos) << found();
  EXPECT_NE(found().find("every invariant holds"), std::string::npos);
}

TEST_F(DoctorTest, SaysWhenThereIsNothingToLookAt) {
  const auto diagnosis = berthd::diagnose(folder_.path() / "none");
  EXPECT_FALSE(diagnosis.is_sound());
  EXPECT_NE(berthd::to_text(diagnosis).find("--data"), std::string::npos);
}

}  // namespace
