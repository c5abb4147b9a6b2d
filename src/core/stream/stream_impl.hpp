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

/// A position in the array of a File, from which requests read or write the next elements.
/// threads  As the Stream.
class Stream::Impl {
 public:
  /// A request: the next `elements` elements, at `data` in memory.
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
  /// Carries out a request. Returns the number of elements read or written.
  virtual std::int64_t transfer(const Call& call) = 0;
  virtual StreamRequest start(const Call& call) = 0;
  virtual std::int64_t tell() = 0;
  virtual void seek(std::int64_t element) = 0;
  [[noreturn]] virtual void fail(const std::string& message, int system_code) = 0;
  /// Waits for all started requests.
  virtual void wait_for_requests() = 0;

  void close() {
    is_closed_ = true;
    release();
  }
  bool is_open() const { return !is_closed_ && file_ != nullptr && file_->storage().is_open() && owner_.here(); }
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
  /// Checks everything about a call that does not depend on the position.  needs_data: true if the call uses this
  /// rank's memory.
  void check(const Call& call, bool needs_data) const;
  void check_position(std::int64_t element) const;
  /// Returns the error of a write of `what` (a number of elements) that does not fit after a position.
  Error make_end_error(const std::string& what, std::int64_t position) const;
  /// Returns the name in errors and comparisons: `stream 2 (mode 3) of field.npy`.
  std::string name() const;
  std::int64_t to_bytes(std::int64_t elements) const { return elements * element_bytes_; }
  /// Returns the bytes of a call, limited to the array, because a call may request any number of elements.
  std::int64_t requested_bytes(const Call& call) const {
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
  const std::uint32_t trace_number_;
  // The stream has its own reference, because the File releases the store when it fails, possibly while a task uses it.
  std::shared_ptr<store::Store> store_;

 private:
  const base::Owner owner_;
  StreamMode mode_;
  File::Impl* file_;
  bool is_closed_ = false;
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
  /// errors  kArgument: the stream or its File is closed.
  void check_usable() const;
  /// Takes the range of a request from the position.
  SharedPosition::Range claim(const Call& call);
  /// Reads or writes a range, and records the event of the program's call.
  void carry_out(const Call& call, const SharedPosition::Range& range, const base::RecordedCall& program_call,
                 unsigned flags);
  /// Runs `body`, which claims a range or transfers it.  If it fails, a new file lacks that range and must not appear.
  template <typename Body>
  void run_claimed(const Call& call, Body&& body);

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
  /// Carry out a request in modes 2, 3 and 4. Return the number of this rank's elements.
  std::int64_t run_ordered(transport::Transport& transport, const Call& call, bool& has_begun);
  std::int64_t run_equal(transport::Transport& transport, const Call& call, bool& has_begun);
  std::int64_t run_same(transport::Transport& transport, const Call& call, bool& has_begun);
  /// Reads or writes this rank's part of a request.
  void transfer_part(const Call& call, std::int64_t first, std::int64_t elements);
  /// Describes the call with all values that must be equal on all ranks.
  std::string describe(const Call& call) const;
  std::int64_t remaining() const { return end_ - position_; }
  /// Begins a request: all ranks compare their calls and the errors that `check_call` throws.
  collective::Collective begin_request(transport::Transport& transport, const Call& call,
                                       const std::function<void()>& check_call) const;
  /// Runs `body` with the transport and passes its errors to the File.  `body` sets `has_begun` after all ranks have
  /// agreed on a write, when the store may have changed.
  void call_together(const std::function<void(transport::Transport&, bool& has_begun)>& body);

  std::int64_t position_ = 0;                    // the same on every rank; used on the thread of the Comm
  std::int64_t first_ = 0;                       // beginning of this rank's part of the last request
  std::shared_ptr<Request::Impl> last_request_;  // the last started request
};

/// Opens a stream.  Collective over the File's Comm, on its thread.
std::shared_ptr<Stream::Impl> open_stream(File::Impl& file, StreamMode mode);

}  // namespace core
}  // namespace plait
