// Process 0 of a writer, with readers that the test plays: which frames it sends them, and when it needs none.
#include "pipe/writer/control.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "pipe/board.hpp"
#include "pipe/messages.hpp"
#include "pipe/options.hpp"
#include "pipe/protocol.hpp"

namespace plait::pipe {
namespace {

using transport::native::FrameHead;

/// The server's connection to the process of a reader's rank 0; records the frames that are sent to it.
class RecordingPeer final : public transport::native::Peer {
 public:
  RecordingPeer(std::uint64_t number, bool is_local) : number_(number), is_local_(is_local) {}

  std::uint64_t number() const override { return number_; }
  bool is_local() const override { return is_local_; }
  void send(FrameHead head, std::span<const std::byte> /*body*/, int descriptor) override {
    frames_.push_back(static_cast<Frame>(head.kind));
    if (descriptor >= 0) board_ = Board::join(base::Descriptor(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0)));
  }
  void stream(FrameHead, std::uint64_t, Produce, std::function<void(bool)>) override {}
  void close() override {}

  std::vector<Frame> take_frames() { return std::exchange(frames_, {}); }
  Board* board() { return board_.get(); }

 private:
  const std::uint64_t number_;
  const bool is_local_;
  std::vector<Frame> frames_;
  std::unique_ptr<Board> board_;
};

class PipeControl : public testing::Test {
 protected:
  /// Returns the control of a writer of 4 doubles with the options in the URL.
  std::unique_ptr<WriterControl> make_control(const std::string& url) {
    return std::make_unique<WriterControl>("pipe:flow", ArrayType{{4}, "<f8", 8, Order::kC}, "a test", 1,
                                           parse_options(url));
  }
  static void send_frame(WriterControl& writer, const std::shared_ptr<RecordingPeer>& from, Frame kind) {
    AttachRequest request;
    request.program = "a reader";
    const std::string body = kind == Frame::kAttach ? base::encode(request) : "";
    writer.received(from, {static_cast<std::uint32_t>(kind), 0, 0, body.size()}, std::as_bytes(std::span(body)));
  }
  /// Begins and publishes the next step, and returns its number.
  static std::int64_t publish_step(WriterControl& writer) {
    const Schedule::BegunStep begun = writer.begin();
    StepDescription step;
    step.number = begun.step;
    step.slot = begun.slot;
    writer.publish(step, WriterControl::make_frame(step));
    return step.number;
  }
  std::string message_;
};

TEST_F(PipeControl, AReaderOfTheSameHostNeedsNoFrames) {
  const auto writer = make_control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kWelcome});
  ASSERT_NE(reader->board(), nullptr);
  for (std::int64_t step = reader->board()->first_step(); step < 100; ++step) {
    EXPECT_EQ(publish_step(*writer), step);
    ASSERT_TRUE(reader->board()->begin(step, message_));
    EXPECT_FALSE(reader->board()->finish(step));
  }
  EXPECT_TRUE(reader->take_frames().empty());
}

TEST_F(PipeControl, AFrameWakesASleepingWriter) {
  const auto writer = make_control("pipe:flow?queue=1");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  publish_step(*writer);
  std::thread writing([&] { EXPECT_EQ(publish_step(*writer), 1); });
  ASSERT_TRUE(reader->board()->begin(0, message_));
  // Wait until the writer has stopped polling and sleeps; then only a frame wakes it.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (reader->board()->finish(0)) send_frame(*writer, reader, Frame::kDone);
  writing.join();
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, AReaderThatRequestsAStepGetsAFrame) {
  const auto writer = make_control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  reader->take_frames();
  send_frame(*writer, reader, Frame::kNext);
  EXPECT_TRUE(reader->take_frames().empty());
  publish_step(*writer);
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kStep});
  reader->board()->record_begun(0);
  reader->board()->finish(0);
  publish_step(*writer);
  EXPECT_TRUE(reader->take_frames().empty()) << "the reader has not asked for it";
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, ALateReaderGetsTheQueuedSteps) {
  const auto writer = make_control("pipe:flow?queue=3&readers=0");
  publish_step(*writer);
  publish_step(*writer);
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  EXPECT_EQ(reader->board()->first_step(), 0);
  EXPECT_TRUE(reader->board()->begin(0, message_));
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, AnAbortIsReportedBeforeTheQueuedSteps) {
  const auto writer = make_control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  publish_step(*writer);
  reader->take_frames();
  writer->abort("no more");
  EXPECT_FALSE(reader->board()->begin(0, message_));
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kAborted});
}

TEST_F(PipeControl, ReadersWithoutABoardGetFrames) {
  for (const bool drops_steps : {false, true}) {
    const auto writer = make_control(drops_steps ? "pipe:flow?drop=oldest" : "pipe:flow");
    const auto reader = std::make_shared<RecordingPeer>(1, drops_steps);
    send_frame(*writer, reader, Frame::kAttach);
    EXPECT_EQ(reader->board(), nullptr);
    for (int step = 0; step < 5; ++step) {
      publish_step(*writer);
      reader->take_frames();
      send_frame(*writer, reader, Frame::kNext);
      EXPECT_EQ(reader->take_frames(), std::vector{Frame::kStep});
      send_frame(*writer, reader, Frame::kDone);
    }
  }
}

}  // namespace
}  // namespace plait::pipe
