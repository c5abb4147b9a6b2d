/// Files that are no bytes at offsets: what is written goes step by step to whoever reads.
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

/// The array that File::open() speaks of.
inline constexpr const char* kOneVariable = "data";

/// One array of a step as this process reads or writes it.
struct Transfer {
  const std::string& variable;
  const ArrayType& type;
  const Layout& layout;
  const Region& region;
  bool fill_halo;
  std::span<const copy::LocalArray> arrays;
  bool alone;  ///< this process holds all ranks of the layout
  collective::Times& spent;
};

/// One rank's end.  All functions but explain() are collective, with the same errors on every rank.
class Channel {
 public:
  virtual ~Channel() = default;
  /// Begins the next step: a writer waits until there is room for it, a reader until there is one.  Returns nothing at
  /// the end.  errors  kSystem: the other end has failed, or has gone.
  virtual std::optional<Step> begin_step(collective::Collective& call, const Attributes& attributes) = 0;
  /// Writes or reads an array of the step.  errors  kArgument: it does not fit what the other end has.
  virtual void move(collective::Collective& call, const Transfer& transfer) = 0;
  /// Hands the step over, or gives it back.  keep: false for a step that could not be written whole.
  virtual void end_step(collective::Collective& call, bool keep) = 0;
  /// What a variable of the step is; nothing where a reader's step has none of that name.
  virtual std::optional<ArrayType> find(const std::string& variable) const = 0;
  /// Tells the other end that this one has failed, and why.  Not collective; called once, before it goes.
  virtual void abort(const std::string& why) noexcept = 0;
  /// What reading or writing would do, in lines for people.
  virtual std::string explain(const Transfer& transfer) const = 0;
};

}  // namespace plait::core
