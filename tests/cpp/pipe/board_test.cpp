// The shared memory in which a writer announces steps, and polling before an end of the pipe sleeps.
#include "pipe/board.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/descriptor.hpp"

namespace {

using plait::base::Descriptor;
using plait::pipe::Board;

/// The writer's and the reader's end of a board.
class PipeBoard : public testing::Test {
 protected:
  void SetUp() override {
    writer_ = Board::create(kFirst);
    ASSERT_NE(writer_, nullptr);
    EXPECT_FALSE(writer_->is_joined());
    reader_ = Board::join(Descriptor(::fcntl(writer_->descriptor(), F_DUPFD_CLOEXEC, 0)));
    ASSERT_NE(reader_, nullptr);
  }

  static constexpr std::int64_t kFirst = 40;  // the first step of the reader; not 0, as for one that attaches late
  std::unique_ptr<Board> writer_;
  std::unique_ptr<Board> reader_;
  std::string message_;
};

TEST_F(PipeBoard, AnnouncesStepsOneAfterTheOther) {
  EXPECT_TRUE(writer_->is_joined());
  ASSERT_EQ(reader_->first_step(), kFirst);
  EXPECT_FALSE(reader_->begin(kFirst, message_));
  for (std::int64_t step = kFirst; step < kFirst + 3 * Board::kEntries; ++step) {
    EXPECT_FALSE(reader_->begin(step, message_));
    writer_->announce(step, "step " + std::to_string(step));
    ASSERT_TRUE(reader_->begin(step, message_));
    EXPECT_EQ(message_, "step " + std::to_string(step));
    EXPECT_EQ(writer_->progress().begun, step);
    EXPECT_EQ(writer_->progress().finished, step - 1);
    EXPECT_FALSE(reader_->finish(step));
    EXPECT_EQ(writer_->progress().finished, step);
  }
}

TEST_F(PipeBoard, StepsBeyondTheCapacityAreNotAnnounced) {
  for (std::int64_t step = kFirst; step < kFirst + Board::kEntries + 2; ++step) writer_->announce(step, "words");
  for (std::int64_t step = kFirst; step < kFirst + Board::kEntries; ++step) ASSERT_TRUE(reader_->begin(step, message_));
  EXPECT_FALSE(reader_->begin(kFirst + Board::kEntries, message_))
      << "the announcement would have replaced a step that may still be read";
  reader_->record_begun(kFirst + Board::kEntries + 1);
  reader_->finish(kFirst + Board::kEntries + 1);
  // A description that is too long for an entry is not announced either.
  const std::int64_t next = kFirst + Board::kEntries + 2;
  writer_->announce(next, std::string(Board::kMaxMessage + 1, 'w'));
  EXPECT_FALSE(reader_->begin(next, message_));
  writer_->announce(next, std::string(Board::kMaxMessage, 'w'));
  ASSERT_TRUE(reader_->begin(next, message_));
  EXPECT_EQ(message_, std::string(Board::kMaxMessage, 'w'));
}

TEST_F(PipeBoard, TheReaderKnowsIfTheWriterSleeps) {
  writer_->request_notifications(true);
  EXPECT_TRUE(reader_->finish(kFirst));
  writer_->request_notifications(false);
  EXPECT_FALSE(reader_->finish(kFirst + 1));
}

TEST_F(PipeBoard, NoStepBeginsOnAClosedBoard) {
  writer_->announce(kFirst, "words");
  writer_->close();
  EXPECT_FALSE(reader_->begin(kFirst, message_));
}

TEST(PipeBoardMemory, OtherDescriptorsAreRejected) {
  EXPECT_EQ(Board::join(Descriptor()), nullptr);
  EXPECT_EQ(Board::join(Descriptor(::open("/dev/null", O_RDWR | O_CLOEXEC))), nullptr);
}

TEST(PipePolling, PollsRarelyAfterFailures) {
  plait::pipe::Polling polling;
  const auto count_polls = [&](bool succeeds) {
    int polls = 0;
    EXPECT_EQ(polling.run([&] {
      ++polls;
      return succeeds;
    }),
              succeeds);
    return polls;
  };
  // Each failed poll doubles the number of waits that do not poll (which check the condition once), up to 32.
  EXPECT_GT(count_polls(false), 1);
  for (const int skipped_waits : {1, 2, 4, 8, 16, 32, 32}) {
    for (int i = 0; i < skipped_waits; ++i) EXPECT_EQ(count_polls(false), 1) << skipped_waits;
    EXPECT_GT(count_polls(false), 1) << skipped_waits;
  }
  for (int i = 0; i < 32; ++i) EXPECT_EQ(count_polls(true), 1) << "a condition that holds is detected at once";
  EXPECT_EQ(count_polls(true), 1);
  EXPECT_GT(count_polls(false), 1) << "polling has succeeded often enough";
}

}  // namespace
