/// Channels, such as pipes: files without bytes at offsets, whose arrays pass to another program in time steps.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "collective/collective.hpp"
#include "collective/stopwatch.hpp"
#include "copy/local_array.hpp"
#include "plait/file.hpp"
#include "plait/step.hpp"

namespace plait::core {

/// The name of the array that File::open() describes.
inline constexpr const char* kOneVariable = "data";

/// One array of a step, with this process's part of the transfer.
struct Transfer {
  const std::string& variable;
  const ArrayType& type;
  const Layout& layout;
  const Region& region;
  bool fill_halo;
  std::span<const copy::LocalArray> arrays;
  bool alone;  ///< true if this process has the local arrays of all ranks of the layout
  collective::Times& spent;
};

/// One rank's end of a channel.  All functions except explain() are collective, with the same errors on every rank.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins the next step.  A writer waits until the queue has capacity for it, a reader until it has arrived.  Returns
  /// nothing after the last step.  errors  kSystem: the other end has failed or has left.
  virtual std::optional<Step> begin_step(collective::Collective& call, const Attributes& attributes) = 0;
  /// Writes or reads an array of the present step.  errors  kArgument: it does not match the array at the other end.
  virtual void move(collective::Collective& call, const Transfer& transfer) = 0;
  /// Passes the step on to the reader, or releases a step that was read. keep: false for a step that could not be
  /// written completely, which is discarded.
  virtual void end_step(collective::Collective& call, bool keep) = 0;
  /// Returns the type of a variable of the step, or nothing if a reader's step has no variable of that name.
  virtual std::optional<ArrayType> find(const std::string& variable) const = 0;
  /// Notifies the other end that this one has failed, and why.  Not collective; called once, before the channel is
  /// destroyed.
  virtual void abort(const std::string& why) noexcept = 0;
  /// Describes a read or write, in lines for people.
  virtual std::string explain(const Transfer& transfer) const = 0;
};

}  // namespace plait::core
