/// Streams: the file modes 0 to 4 of parallel file systems (Bordawekar 1993, sections 3.2.3 and 3.5).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "plait/file.hpp"

namespace plait {

/// Whose position a stream moves, and who waits for whom.
enum class StreamMode : std::uint8_t {
  kOwn = 0,      ///< each rank has its own position; nobody waits; writes to the same position are not ordered
  kShared = 1,   ///< one position for all; each request gets the next stretch, first come first served; nobody waits
  kOrdered = 2,  ///< collective: the stretches of the ranks follow each other in rank order; lengths may differ
  kEqual = 3,    ///< as kOrdered, and all ranks pass the same length
  kSame = 4      ///< collective: all ranks get the same stretch, which is read from the store once
};

/// A nonblocking access of a Stream.  The memory must stay alive, and untouched, until wait() returns.
class StreamRequest {
 public:
  StreamRequest(Request request, std::shared_ptr<const std::int64_t> elements)
      : request_(std::move(request)), elements_(std::move(elements)) {}
  /// Waits for the access.  Returns the elements read or written.
  /// errors  What the blocking call would throw, each time it is asked.
  std::int64_t wait() {
    request_.wait();
    return *elements_;
  }
  /// Whether wait() would return at once.
  bool test() const { return request_.test(); }

 private:
  Request request_;
  std::shared_ptr<const std::int64_t> elements_;
};

/// The array of an open File as a sequence of elements in the order of the file, with a position counted in elements.
///
/// The array's size is that of the file: nothing is appended.  A File in mode `r` lets its streams read, one in mode
/// `w` lets them write (its file appears when the File is closed), one in mode `r+` both.  Several streams may be open
/// on one File.
///
/// Modes kOwn and kShared are independent: read(), write(), seek(), tell() and close() wait for no other rank and stand
/// in no queue with collective calls, also while other ranks, or another thread of this one, are in a collective of the
/// same Comm.  The position moves when a request is made or started, so that the requests of one rank have their
/// stretches in that order; one that the store then refuses has moved it too.
///
/// In kOrdered, kEqual and kSame read(), write() and seek() are collective over the File's Comm and take their turn
/// among its other collectives.  A request of any rank returns when those of all ranks are complete.  One that fails
/// does so on every rank with the same Error and leaves the position where it was.
///
/// All other calls are local: tell(), close() and the destructor wait for no other rank, but for what this rank has
/// started.
///
/// In all modes what one rank started on one stream is carried out in the order in which it was started, and blocking
/// calls wait behind it.
///
/// threads  One thread at a time for each Stream.  A Stream in kOwn or kShared may be used while other threads use its
///          File and other streams, but not while one opens a stream on that File, or closes, abandons or destroys it.
///          A Stream in the other modes counts as its File.  Between nodes kShared needs MPI_THREAD_MULTIPLE.
class Stream {
 public:
  class Impl;

  /// A stream at element 0.  Collective over the File's Comm, in every mode.
  /// errors  kArgument: the File is closed, the ranks pass different modes; kShared between nodes where MPI was
  ///         initialised for less than MPI_THREAD_MULTIPLE.
  Stream(File& file, StreamMode mode);
  Stream(Stream&&) noexcept;
  Stream& operator=(Stream&&) noexcept;
  /// As close(); errors stay with the File.
  ~Stream();

  StreamMode mode() const;

  /// Reads up to `elements` elements into `data`; returns how many: fewer only at the end of the array, 0 there.
  /// In kOrdered and kEqual each rank learns its own number.
  /// cost    kOwn, kShared, kOrdered, kEqual: one request to the store and no memory of its own.  kShared: one atomic
  ///         addition.  kOrdered: log2(ranks) small messages between nodes.  kSame: rank 0 reads in windows of at most
  ///         1 MiB, two of them within the File's `memory`; on its node the others take the bytes from there, and one
  ///         broadcast for each window carries them to the other nodes.
  /// errors  kArgument: a negative number, no memory for it, a File in mode `w`, a stream or File that is closed;
  ///         kEqual and kSame: unequal numbers.  kSystem: the store failed; `data` is undefined then.
  std::int64_t read(std::byte* data, std::int64_t elements);

  /// Writes all `elements` elements; returns their number.  kSame: those of rank 0 are written, once; the others pass
  /// the same number, and `data` may be nullptr there.
  /// errors  As read(), and kArgument where the array would end before the last element (of all ranks together in
  ///         kOrdered and kEqual): nothing is written and the position stays.  A File in mode `r`.
  ///         After a kSystem error a new file (mode `w`) is not kept: with a collective mode the File is lost at once,
  ///         with an independent one its close() throws the error on every rank.
  std::int64_t write(const std::byte* data, std::int64_t elements);

  /// The same while the program goes on.  kOwn, kShared: by a thread of the stream's own; a mistake in the arguments is
  /// thrown at once.  Otherwise by the thread of the Comm, in the order of its collectives; with MPI that thread calls
  /// it too: initialise it for MPI_THREAD_MULTIPLE.
  StreamRequest start_read(std::byte* data, std::int64_t elements);
  StreamRequest start_write(const std::byte* data, std::int64_t elements);

  /// The position: where the next request begins; at most the number of elements.  kShared: of all ranks, as it is at
  /// this moment.  Collective modes: behind what was started.
  std::int64_t tell() const;

  /// Moves the position to `element`, 0 to the number of elements.  kOwn: of this rank.  kShared: for all, at once;
  /// requests that have their stretch keep it.  Otherwise collective, with equal arguments.
  /// errors  kArgument: outside the array; a stream or File that is closed.
  void seek(std::int64_t element);

  /// Waits for what this rank has started and ends the stream on this rank.  Errors of started writes that nobody has
  /// waited for come from File::close().  Closing twice does nothing.  A collective call on a stream that some rank has
  /// closed fails on all ranks.
  ///
  /// Closing a File ends its streams, after waiting for what was started on them; so does abandoning it.
  void close();
  bool is_open() const;

  /// Refuses a call whose arguments the caller has found wrong, as File::refuse_open.  In collective modes it takes
  /// part in the call that the other ranks make, and all of them throw.
  [[noreturn]] void refuse(const std::string& message, int system_code = 0);

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace plait
