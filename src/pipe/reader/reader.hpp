/// The reading end of a pipe.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>

#include "core/file/channel.hpp"
#include "pipe/meeting.hpp"
#include "pipe/options.hpp"
#include "pipe/reader/announcements.hpp"
#include "pipe/reader/delivery.hpp"
#include "pipe/reader/partners.hpp"
#include "plait/error.hpp"
#include "transport/native/link.hpp"

namespace plait::pipe {

/// One process of it.  That of rank 0 tells the writer what is wanted; each takes its own elements from where they are.
class Reader : public core::Channel {
 public:
  /// What the caller says that the pipe carries.
  struct Expected {
    std::string dtype;  ///< empty: anything; what is written becomes such elements, as casting= allows
    std::optional<Extents> shape;
  };

  /// Waits for the writer.  Collective.
  /// errors  The same on every rank.  kSystem: ETIMEDOUT where there is no writer in time; it cannot be reached, or
  ///         refuses.  kArgument: it writes something else than is expected.
  Reader(collective::Collective& call, const std::string& shown, const Options& options, const Expected& expected);
  ~Reader() override;
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  const ArrayType& type() const { return type_; }

  std::optional<Step> begin_step(collective::Collective& call, const Attributes& attributes) override;
  void move(collective::Collective& call, const core::Transfer& transfer) override;
  void end_step(collective::Collective& call, bool keep) override;
  std::optional<ArrayType> find(const std::string& variable) const override;
  std::string explain(const core::Transfer& transfer) const override;

  /// Tells the writer that this reader goes.
  void leave() noexcept;
  /// The same, with an error.
  void abort(const std::string& why) noexcept override;

 private:
  static constexpr std::size_t kKept = 8;
  /// errors  kSystem, as Link::connect(); names the writer.
  std::unique_ptr<transport::native::Link> call_on(const Invitation& writer,
                                                   transport::native::Clock::time_point until) const;
  void attach(transport::native::Clock::time_point until, const Expected& expected, std::int64_t processes);
  /// Of rank 0: waits for the next step.  Its number, -1 for the end; twice its slot, plus 1 where its words are new.
  std::array<std::int64_t, 2> hear(std::string& words, transport::Transport& transport);
  /// Takes the words of a step that are not those of the last one.
  void learn(collective::Collective& call, const std::string& words);
  /// Looks at what seems to be a writer's leftover, but for the one of the key `known`, which becomes this one's.
  /// errors  kSystem: a writer lives whose lock cannot be seen here.
  void check_lock_is_seen(std::int64_t processes, std::string& known);
  Delivery& delivery(const Variable& variable, const DeliveryRequest& request);
  /// A step of a call, whose error where the writer is lost is what that has said last.
  template <typename Body>
  void step_of(collective::Collective& call, Body&& body);
  /// How elements of the array that the reader's dtype is of become such ones; nothing where they are.
  std::optional<copy::ElementCast> cast_of(const ArrayType& written) const;
  ArrayType as_stated(ArrayType written) const;
  /// Of rank 0: why the writer has given up, where it has said so; waits a moment for that.
  std::string last_words();
  /// errors  kSystem: it has left the pipe.
  void check_joined() const;
  /// Throws it, saying who is lost where it is a connection that has ended.
  [[noreturn]] void rethrow_lost(const Error& error) const;
  void tell(std::uint32_t kind, const std::string& body) noexcept;

  const std::string shown_;
  const Options options_;
  const std::string stated_;  // the dtype
  const bool first_;
  Invitation invitation_;
  std::unique_ptr<Announcements> control_;  // of rank 0
  std::string writer_;
  std::int64_t writer_processes_ = 1;
  ArrayType type_;
  mutable std::optional<Partners> partners_;  // explain() may have to ask where some are
  std::string words_;                         // of the last step, behind its number and slot, and what they say
  StepDescription known_;
  std::optional<StepDescription> step_;
  bool at_end_ = false;
  DeliveryBuffers buffers_;
  std::list<Delivery> deliveries_;  // the last used first
};

}  // namespace plait::pipe
