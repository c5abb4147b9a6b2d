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
  RecordingPeer(std::uint64_t number, bool near) : number_(number), near_(near) {}

  std::uint64_t number() const override { return number_; }
  bool is_local() const override { return near_; }
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
  const bool near_;
  std::vector<Frame> frames_;
  std::unique_ptr<Board> board_;
};

class PipeControl : public testing::Test {
 protected:
  std::unique_ptr<WriterControl> control(const std::string& url) {
    return std::make_unique<WriterControl>("pipe:flow", ArrayType{{4}, "<f8", 8, Order::kC}, "a test", 1,
                                           parse_options(url));
  }
  static void send_frame(WriterControl& writer, const std::shared_ptr<RecordingPeer>& from, Frame kind) {
    AttachRequest request;
    request.program = "a reader";
    const std::string body = kind == Frame::kAttach ? base::encode(request) : "";
    writer.received(from, {static_cast<std::uint32_t>(kind), 0, 0, body.size()}, std::as_bytes(std::span(body)));
  }
  static std::int64_t write(WriterControl& writer) {
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
  const auto writer = control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kWelcome});
  ASSERT_NE(reader->board(), nullptr);
  for (std::int64_t step = reader->board()->first(); step < 100; ++step) {
    EXPECT_EQ(write(*writer), step);
    ASSERT_TRUE(reader->board()->begin(step, message_));
    EXPECT_FALSE(reader->board()->finish(step));
  }
  EXPECT_TRUE(reader->take_frames().empty());
}

TEST_F(PipeControl, AFrameWakesASleepingWriter) {
  const auto writer = control("pipe:flow?queue=1");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  write(*writer);
  std::thread writing([&] { EXPECT_EQ(write(*writer), 1); });
  ASSERT_TRUE(reader->board()->begin(0, message_));
  // Waits until the writer sleeps; then only a frame wakes it.
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  if (reader->board()->finish(0)) send_frame(*writer, reader, Frame::kDone);
  writing.join();
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, ASleepingReaderGetsAFrame) {
  const auto writer = control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  reader->take_frames();
  send_frame(*writer, reader, Frame::kNext);
  EXPECT_TRUE(reader->take_frames().empty());
  write(*writer);
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kStep});
  reader->board()->record_begun(0);
  reader->board()->finish(0);
  write(*writer);
  EXPECT_TRUE(reader->take_frames().empty()) << "the reader has not asked for it";
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, ALateReaderGetsTheQueuedSteps) {
  const auto writer = control("pipe:flow?queue=3&readers=0");
  write(*writer);
  write(*writer);
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  EXPECT_EQ(reader->board()->first(), 0);
  EXPECT_TRUE(reader->board()->begin(0, message_));
  EXPECT_TRUE(reader->board()->begin(1, message_));
}

TEST_F(PipeControl, AnAbortIsReportedBeforeTheQueuedSteps) {
  const auto writer = control("pipe:flow?queue=2");
  const auto reader = std::make_shared<RecordingPeer>(1, true);
  send_frame(*writer, reader, Frame::kAttach);
  write(*writer);
  reader->take_frames();
  writer->abort("no more");
  EXPECT_FALSE(reader->board()->begin(0, message_));
  EXPECT_EQ(reader->take_frames(), std::vector{Frame::kAborted});
}

TEST_F(PipeControl, ReadersWithoutABoardGetFrames) {
  for (const bool drops : {false, true}) {
    const auto writer = control(drops ? "pipe:flow?drop=oldest" : "pipe:flow");
    const auto reader = std::make_shared<RecordingPeer>(1, drops);
    send_frame(*writer, reader, Frame::kAttach);
    EXPECT_EQ(reader->board(), nullptr);
    for (int step = 0; step < 5; ++step) {
      write(*writer);
      reader->take_frames();
      send_frame(*writer, reader, Frame::kNext);
      EXPECT_EQ(reader->take_frames(), std::vector{Frame::kStep});
      send_frame(*writer, reader, Frame::kDone);
    }
  }
}

}  // namespace
}  // namespace plait::pipe
