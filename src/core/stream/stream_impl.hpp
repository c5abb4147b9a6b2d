/// The implementation of a Stream: a class for all modes, and one each for the independent and the collective modes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/comm/worker.hpp"
#include "core/file/file_impl.hpp"
#include "core/stream/shared_position.hpp"
#include "plait/stream.hpp"

namespace plait {

/// threads  As the Stream.
class Stream::Impl {
 public:
  struct Call {
    bool write = false;
    std::byte* data = nullptr;
    std::int64_t elements = 0;
  };

  /// `number` is the number of the stream on its File, the same on every rank.
  Impl(File::Impl& file, StreamMode mode, std::int64_t number);
  virtual ~Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  StreamMode mode() const { return mode_; }
  /// Returns this object.  errors  kArgument: this process is a child of the one that opened the stream.
  Impl& here();
  virtual std::int64_t transfer(const Call& call) = 0;
  virtual StreamRequest start(const Call& call) = 0;
  virtual std::int64_t tell() = 0;
  virtual void seek(std::int64_t element) = 0;
  [[noreturn]] virtual void fail(const std::string& message, int system_code) = 0;
  /// Waits for all started requests.
  virtual void wait_for_requests() = 0;

  void close() {
    closed_ = true;
    release();
  }
  bool is_open() const { return !closed_ && file_ != nullptr && file_->storage().is_open() && owner_.here(); }
  /// Detaches the stream from its File, which is destroyed: no call can reach it any more.
  void detach() {
    file_ = nullptr;
    release();
  }
  /// Releases the store, which no later call may use.  A deleted file would otherwise occupy its space on the disk.
  void release() { store_ = nullptr; }

 protected:
  /// errors  kArgument: the File was destroyed.
  File::Impl& file() const;
  /// errors  kArgument: the stream is closed.
  void check_not_closed() const;
  /// Checks everything about a call that does not depend on the position.  `needs_data`: True if this rank's memory is
  /// used.
  void check(const Call& call, bool needs_data) const;
  void check_position(std::int64_t element) const;
  /// Returns the error of a write that does not fit after a position.
  Error beyond_the_end(const std::string& what, std::int64_t position) const;
  /// Returns the name in errors and comparisons: `stream 2 (mode 3) of field.npy`.
  std::string name() const;
  std::int64_t to_bytes(std::int64_t elements) const { return elements * element_bytes_; }
  /// Returns the bytes of a call, limited to the array, because a call may request any number of elements.
  std::int64_t asked_bytes(const Call& call) const {
    return to_bytes(std::clamp<std::int64_t>(call.elements, 0, end_));
  }
  void read_store(std::int64_t first, std::byte* data, std::int64_t elements);
  void write_store(std::int64_t first, const std::byte* data, std::int64_t elements);
  std::int64_t byte_offset(std::int64_t element) const { return data_offset_ + element * element_bytes_; }

  const std::int64_t number_;
  const std::string path_;
  const Mode file_mode_;
  const std::int64_t element_bytes_;
  const std::int64_t data_offset_;
  const std::int64_t end_;  // elements of the array
  const std::uint32_t recorded_;
  // The stream has its own reference, because the File releases the store when it fails, possibly while a task uses it.
  std::shared_ptr<store::Store> store_;

 private:
  const base::Owner owner_;
  StreamMode mode_;
  File::Impl* file_;
  bool closed_ = false;
};

namespace core {

/// Modes 0 and 1: takes ranges from its own or the shared position, and does not wait for other ranks.
class IndependentStream : public Stream::Impl {
 public:
  IndependentStream(File::Impl& file, StreamMode mode, std::int64_t number, std::unique_ptr<transport::Counter> counter,
                    int ranks);
  std::int64_t transfer(const Call& call) override;
  StreamRequest start(const Call& call) override;
  std::int64_t tell() override;
  void seek(std::int64_t element) override;
  [[noreturn]] void fail(const std::string& message, int system_code) override;
  void wait_for_requests() override;

 private:
  void check_usable() const;
  SharedPosition::Stretch claim(const Call& call);
  void carry_out(const Call& call, const SharedPosition::Stretch& stretch, const base::RecordedCall& program_call,
                 unsigned flags);
  /// Runs the operations after a range was claimed.  If they fail, a new file lacks that part and must not appear.
  template <typename Body>
  void claimed(const Call& call, Body&& body);

  SharedPosition position_;
  Worker worker_;  // declared last, so that it ends before the members that its tasks use
};

/// Modes 2, 3 and 4: all ranks move one position together.
class CollectiveStream : public Stream::Impl {
 public:
  using Impl::Impl;
  std::int64_t transfer(const Call& call) override;
  StreamRequest start(const Call& call) override;
  std::int64_t tell() override;
  void seek(std::int64_t element) override;
  [[noreturn]] void fail(const std::string& message, int system_code) override;
  void wait_for_requests() override;

 private:
  /// Runs the phases of one request, on the thread of the Comm.
  std::int64_t run(const Call& call, const base::RecordedCall& program_call, unsigned flags);
  std::int64_t ordered(transport::Transport& transport, const Call& call, bool& begun);
  std::int64_t equal(transport::Transport& transport, const Call& call, bool& begun);
  std::int64_t same(transport::Transport& transport, const Call& call, bool& begun);
  void store_stretch(const Call& call, std::int64_t first, std::int64_t elements);
  /// Describes the call with all values that must be equal on all ranks.
  std::string describe(const Call& call) const;
  std::int64_t left() const { return end_ - position_; }
  /// Contributes this rank's call, and the error that `check_call` throws, to the first agreement of a request.
  collective::Collective begin(transport::Transport& transport, const Call& call,
                               const std::function<void()>& check_call) const;
  /// Runs `body` with the transport and reports its errors to the File.  `body` sets `begun` after all ranks have
  /// agreed on a write, when the store may have changed.
  void together(const std::function<void(transport::Transport&, bool& begun)>& body);

  std::int64_t position_ = 0;            // the same on every rank; used on the thread of the Comm
  std::int64_t first_ = 0;               // beginning of this rank's part of the last request
  std::shared_ptr<Request::Impl> last_;  // the last started request
};

/// Opens a stream.  Collective over the File's Comm, on its thread.
std::shared_ptr<Stream::Impl> open_stream(File::Impl& file, StreamMode mode);

}  // namespace core
}  // namespace plait
