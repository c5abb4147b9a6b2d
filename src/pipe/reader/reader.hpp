/// The reading end of a pipe.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "core/file/channel.hpp"
#include "pipe/meeting_file.hpp"
#include "pipe/options.hpp"
#include "pipe/reader/announcements.hpp"
#include "pipe/reader/delivery.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/error.hpp"
#include "transport/native/link.hpp"

namespace plait::pipe {

/// One process of a reader.  Process 0 gets the announcements of steps; every process fetches its own elements.
class Reader : public core::Channel {
 public:
  /// The array that the caller expects.
  struct ExpectedArray {
    std::string dtype;  ///< empty: any; other elements are converted if casting= allows it
    std::optional<Extents> shape;
  };

  /// Waits for the writer.  Collective.
  /// errors  The same on every rank.  kSystem: ETIMEDOUT if no writer appears in time; it cannot be reached, or
  ///         rejects the reader.  kArgument: it writes an array of another type.
  Reader(collective::Collective& call, const std::string& url, const Options& options, const ExpectedArray& expected);
  ~Reader() override;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const ArrayType& type() const { return type_; }

  std::optional<Step> begin_step(collective::Collective& call, const Attributes& attributes) override;
  void move(collective::Collective& call, const core::Transfer& transfer) override;
  void end_step(collective::Collective& call, bool keep) override;
  std::optional<ArrayType> find(const std::string& variable) const override;
  std::string explain(const core::Transfer& transfer) const override;

  /// Leaves the pipe, and notifies the writer.
  void leave() noexcept;
  /// Leaves the pipe and reports an error to the writer.
  void abort(const std::string& why) noexcept override;

 private:
  static constexpr std::size_t kMaxCached = 8;  // deliveries, the least recently used of which is discarded
  /// Connects to a writer.
  /// errors  kSystem, as Link::connect(); names the writer.
  std::unique_ptr<transport::native::Link> connect_to(const Invitation& writer,
                                                      transport::native::Clock::time_point until) const;
  /// On rank 0: searches for the writer until the deadline, and attaches to it.  processes: number of this program's
  /// processes.
  void attach(transport::native::Clock::time_point until, const ExpectedArray& expected, std::int64_t processes);
  /// On rank 0: waits for the next step.  Returns two numbers, which fit into one broadcast: the number of the step, or
  /// -1 at the end; and 2 * slot, plus 1 if the description differs from that of the last step.
  std::array<std::int64_t, 2> receive_announcement(std::string& message, transport::Transport& transport);
  /// Broadcasts and decodes a description that differs from the last step's.
  void adopt_description(collective::Collective& call, const std::string& message);
  /// Looks for a meeting file whose lock is not visible on this host although its writer is alive, as on file systems
  /// without locks across hosts.  Ignores the file with the key `last_key`, which was examined before; sets `last_key`.
  /// errors  kSystem: there is such a file.
  void check_lock_is_visible(std::int64_t processes, std::string& last_key);
  /// Returns the plan of a read: a cached one, or a new one.
  Delivery& delivery(const Variable& variable, const DeliveryRequest& request);
  /// Runs a phase of a call.  If the writer is lost, the error is the reason that the writer sent before, if any.
  template <typename Body>
  void run_phase(collective::Collective& call, Body&& body);
  /// Returns the conversion of elements to the reader's dtype; nothing if none is necessary or possible.
  std::optional<copy::ElementCast> find_cast(const ArrayType& written) const;
  /// Returns the writer's type with the dtype to which its elements are converted, if they are.
  ArrayType to_expected_type(ArrayType written) const;
  /// On rank 0: waits up to a second for the reason why the writer has aborted, and returns it; empty if none comes.
  std::string receive_abort_reason();
  /// errors  kSystem: this reader has left the pipe.
  void check_joined() const;
  /// Throws the error, and names the lost process if it is the end of a connection.
  [[noreturn]] void rethrow_lost(const Error& error) const;
  /// Sends a last frame, kLeave or kAbort, and closes the connection.
  void send_notice(std::uint32_t kind, const std::string& body) noexcept;

  const std::string url_;
  const Options options_;
  const std::string expected_dtype_;  // see ExpectedArray
  const bool is_first_rank_;
  Invitation invitation_;
  std::unique_ptr<Announcements> control_;  // on rank 0
  std::string writer_;                      // the writer's program, as this_program() describes it
  std::int64_t writer_processes_ = 1;
  ArrayType type_;
  mutable std::optional<Partners> partners_;  // mutable, because explain() may request endpoints
  std::string description_;                   // the encoded description of the last step, without number and slot
  StepDescription decoded_description_;
  std::optional<StepDescription> step_;
  bool is_at_end_ = false;
  DeliveryBuffers buffers_;
  std::list<Delivery> deliveries_;  // the most recently used first
};

}  // namespace plait::pipe
