/// Streams: the file modes 0 to 4 of parallel file systems (Bordawekar 1993, sections 3.2.3 and 3.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "plait/file.hpp"

namespace plait {

/// The position of a stream, and the ranks that share it or wait for each other.
enum class StreamMode : std::uint8_t {
  kOwn = 0,      ///< each rank has its own position; independent; writes to the same position are not ordered
  kShared = 1,   ///< one position for all; each request gets the next range, first come, first served; independent
  kOrdered = 2,  ///< collective: the ranges of the ranks follow each other in rank order; lengths may differ
  kEqual = 3,    ///< as kOrdered, and all ranks pass the same length
  kSame = 4      ///< collective: all ranks get the same range, which is read from the store once
};

/// A nonblocking access of a Stream.  The memory must stay alive, and untouched, until wait() returns.
class StreamRequest {
 public:
  StreamRequest(Request request, std::shared_ptr<const std::int64_t> elements)
      : request_(std::move(request)), elements_(std::move(elements)) {}
  /// Waits for the access.  Returns the number of elements read or written.
  /// errors  The error that the blocking call would throw, in every call.
  std::int64_t wait() {
    request_.wait();
    return *elements_;
  }
  /// True if wait() would return at once.
  bool test() const { return request_.test(); }

 private:
  Request request_;
  std::shared_ptr<const std::int64_t> elements_;
};

/// The array of an open File as a sequence of elements in the order of the file, with a position counted in elements.
///
/// The array's size is that of the file; nothing is appended.  Streams of a File in mode `r` can read, in mode `w` they
/// can write (the file appears when the File is closed), and in mode `r+` they can do both.  Several streams may be
/// open on one File.
///
/// Modes kOwn and kShared are independent: read(), write(), seek(), tell() and close() wait for no other rank and are
/// not ordered with collective calls, even while other ranks, or another thread of this one, are in a collective call
/// of the same Comm.  The position moves when a request is made or started, so that the requests of one rank get their
/// ranges in that order; a request that then fails in the store has moved it as well.
///
/// In kOrdered, kEqual and kSame read(), write() and seek() are collective over the File's Comm and ordered with its
/// other collective calls.  They return when the requests of all ranks are complete.  A request that fails does so on
/// every rank with the same Error and does not move the position.
///
/// All other calls are local: tell(), close() and the destructor do not wait for other ranks, only for requests that
/// this rank has started.
///
/// In all modes the requests of one rank on one stream are carried out in the order in which they were started; a
/// blocking call waits for those started before it.
///
/// threads  One thread at a time for each Stream.  A Stream in kOwn or kShared may be used while other threads use its
///          File and other streams, but not while one opens a stream on that File, or closes, abandons or destroys it.
///          For a Stream in the other modes the rule of its File holds.  Between nodes kShared needs
///          MPI_THREAD_MULTIPLE.
class Stream {
 public:
  class Impl;

  /// Opens a stream at element 0.  Collective over the File's Comm, in every mode.
  /// errors  kArgument: the File is closed, the ranks pass different modes; kShared between nodes, if MPI was
  ///         initialised with a level below MPI_THREAD_MULTIPLE.
  Stream(File& file, StreamMode mode);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  /// Closes the stream as close() does.  Errors are reported by File::close().
  ~Stream();

  StreamMode mode() const;

  /// Reads up to `elements` elements into `data` and returns their number, which is smaller only at the end of the
  /// array, and 0 there.  In kOrdered and kEqual each rank gets its own number.
  /// cost    kOwn, kShared, kOrdered, kEqual: one request to the store, without additional memory.  kShared: one atomic
  ///         addition.  kOrdered: log2(ranks) small messages between nodes.  kSame: rank 0 reads in windows of at most
  ///         1 MiB, two of them within the File's `memory`; the other ranks of its node copy from there, and each
  ///         window is broadcast to the other nodes.
  /// errors  kArgument: a negative number, no memory for it, a File in mode `w`, a stream or File that is closed;
  ///         kEqual and kSame: different numbers.  kSystem: the store failed; the contents of `data` are undefined.
  std::int64_t read(std::byte* data, std::int64_t elements);

  /// Writes all `elements` elements and returns their number. kSame: the elements of rank 0 are written, once; the
  /// other ranks pass the same number, and their `data` may be nullptr.
  /// errors  As read(); kArgument: a File in mode `r`; elements past the end of the array (of all ranks together in
  ///         kOrdered and kEqual), in which case nothing is written and the position does not move.
  ///         After a kSystem error a new file (mode `w`) is discarded: at once in a collective mode; in an independent
  ///         one by File::close(), which throws the error on every rank.
  std::int64_t write(const std::byte* data, std::int64_t elements);

  /// Start an access and return at once. kOwn, kShared: a thread of the stream carries it out; invalid arguments throw
  /// at once.  Other modes: the thread of the Comm carries it out, in the order of its collective calls.  With MPI that
  /// thread calls MPI, so initialise MPI with MPI_THREAD_MULTIPLE.
  StreamRequest start_read(std::byte* data, std::int64_t elements);
  StreamRequest start_write(const std::byte* data, std::int64_t elements);

  /// Returns the position at which the next request begins; at most the number of elements. kShared: the common
  /// position at this moment.  Collective modes: the position after the requests that were started.
  std::int64_t tell() const;

  /// Moves the position to `element`, 0 to the number of elements. kOwn: the position of this rank. kShared: the common
  /// position, at once; requests that were made before already have their range.  Other modes: collective, with equal
  /// arguments.
  /// errors  kArgument: outside the array; a stream or File that is closed.
  void seek(std::int64_t element);

  /// Waits for requests that this rank has started and closes the stream on this rank.  Errors of started writes that
  /// have not been waited for are thrown by File::close().  Closing twice does nothing.  A collective call on a stream
  /// that any rank has closed fails on all ranks.
  ///
  /// File::close() and File::abandon() wait for the requests of the File's streams and close these.
  void close();
  bool is_open() const;

  /// Reports that the arguments of a call are wrong, as File::fail_open.  In collective modes the call that the other
  /// ranks make fails with this error on all of them.
  [[noreturn]] void fail(const std::string& message, int system_code = 0);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace plait
