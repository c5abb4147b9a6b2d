// Steps of a File, and accesses where its arrays go through a channel.

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "collective/agree.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/file/impl.hpp"
#include "core/redistribution/apart.hpp"

namespace plait {

using core::AccessRequest;
using core::Action;

void File::Impl::set_type(const ArrayType& type, bool several) {
  array_.type = steps_.types[kOneVariable] = type;
  array_.several = several;
}

bool File::Impl::take_step(collective::Collective& call, const Attributes& attributes) {
  if (channel() == nullptr) {
    // One step, which is read once and written as often as the program likes.
    if (mode_ == Mode::kRead && steps_.next > 0) return false;
    steps_.step = {steps_.next++, attributes, {kOneVariable}};
    return true;
  }
  if (steps_.ended) return false;
  auto next = channel()->begin_step(call, attributes);
  steps_.ended = !next;
  if (!next) return false;
  steps_.step = std::move(*next);
  if (mode_ == Mode::kRead)
    if (const auto type = channel()->find(steps_.variable)) array_.type = *type;
  return true;
}

void File::Impl::give_step(collective::Collective& call) {
  if (channel() == nullptr) return;
  const bool keep = !std::exchange(steps_.spoiled, false);
  channel()->end_step(call, keep);
  if (!keep)
    base::throw_system_error(ECANCELED, path_, ": step ", steps_.step.number,
                             " was discarded, because a write to it has failed");
}

void File::Impl::step_together(const std::function<void(transport::Transport&)>& body) {
  check_open();
  try {
    with_transport(body);
  } catch (const Error& error) {
    after_failure(error, false);
    throw;
  }
}

bool File::Impl::begin_step(const Attributes& attributes) {
  bool more = false;
  step_together([&](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "begin_step() of " + name(); },
        [this] {
          if (steps_.inside)
            base::throw_argument_error(path_, ": step ", steps_.step.number,
                                       " has not ended; call end_step() before the next one");
        });
    more = take_step(call, attributes);
  });
  steps_.inside = more;
  return more;
}

void File::Impl::end_step() {
  step_together([&](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "end_step() of " + name(); },
        [this] {
          if (!steps_.inside) base::throw_argument_error(path_, ": no step has begun; call begin_step() first");
        });
    steps_.inside = false;
    give_step(call);
  });
}

void File::Impl::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  check_open();
  const auto fail = [&](const auto&... why) {
    base::throw_argument_error(path_, ": the array \"", name, "\" ", why...);
  };
  if (name.empty()) fail("has an empty name; give one");
  if (!members_.empty()) return select_member(name, type);
  if (channel() == nullptr) {
    if (name != kOneVariable)
      fail("does not exist: this file has one array, \"", kOneVariable,
           "\"; pipes have several, and new files that are opened for several");
    return;
  }
  if (mode_ == Mode::kRead && !steps_.inside && name == kOneVariable) {
    array_.type = steps_.types.at(name);  // as far as is known before the next step
  } else if (mode_ == Mode::kRead) {
    if (!steps_.inside) fail("can be read only within a step; call begin_step() first");
    const auto found = channel()->find(name);
    if (!found) {
      std::string all;
      for (const std::string& one : steps_.step.variables) all += (all.empty() ? "" : ", ") + one;
      fail("is not in step ", steps_.step.number, ", which has: ", all.empty() ? "none" : all);
    }
    array_.type = *found;
  } else {
    if (type && type->element_bytes < 1) fail("was given elements of ", type->element_bytes, " bytes; give 1 or more");
    const auto known = steps_.types.find(name);
    if (!type && known == steps_.types.end()) fail("is new; give its shape and the type of its elements");
    const Order order = array_.type.order;  // of the file
    array_.type = type ? *type : known->second;
    array_.type.order = order;
    steps_.types.insert_or_assign(name, array_.type);
  }
  steps_.variable = name;
}

void File::Impl::check_same(const ArrayType& expected) {
  const auto found = channel()->find(steps_.variable);
  if (!found) return;  // which the channel refuses
  const bool same = found->element_bytes == expected.element_bytes && found->shape == expected.shape &&
                    (found->dtype == expected.dtype || found->dtype.empty() || expected.dtype.empty());
  if (same) return;
  const auto words = [](const ArrayType& type) {
    return base::text(shape_to_string(type.shape), " elements of ", type.element_bytes, " bytes",
                      type.dtype.empty() ? "" : base::text(" (", type.dtype, ')'));
  };
  const std::string text =
      base::text(path_, ": the array \"", steps_.variable, "\" of step ", steps_.step.number, " is ", words(*found),
                 ", but the read expected ", words(expected), "; call begin_step() to learn what each step holds");
  array_.type = expected;  // so that the next step is compared as well
  base::throw_argument_error(text);
}

core::Transfer File::Impl::transfer_of(const AccessRequest& request, std::span<const copy::LocalArray> arrays,
                                       collective::Times& spent) const {
  return {steps_.variable, array_.type,   request.layout, request.region, request.action == Action::kFill,
          arrays,          comm_.alone(), spent};
}

void File::Impl::transfer(const AccessRequest& request) {
  collective::Times spent;
  const auto moved = [&](transport::Transport& transport) {
    std::vector<copy::LocalArray> arrays;
    collective::Collective call(
        transport, [&] { return call_text(request); },
        [&] {
          check_mode(request.writes());
          if (!request.writes() && mode_ == Mode::kWrite)
            base::throw_argument_error(path_, " is open for writing; open it with mode \"r\" to read");
          if (array_.type.element_bytes == 0)
            base::throw_argument_error(path_,
                                       ": the writer describes its arrays step by step; call begin_step() first");
          if (request.writes() && request.layout.shape() != array_.type.shape && request.region.empty())
            base::throw_argument_error(path_, ": the layout ", to_string(request.layout),
                                       " has not the shape of the array, ", shape_to_string(array_.type.shape));
          arrays = core::local_arrays(request.layout, request.parts, array_.type.element_bytes, comm_);
          if (!request.writes())
            core::check_filled(request.layout, arrays, request.action == Action::kFill, array_.type.element_bytes);
        });
    const bool whole = !steps_.inside;
    const ArrayType expected = array_.type;
    if (whole && !take_step(call, {}))
      base::throw_system_error(ENODATA, path_, ": no more steps will come; the writer has closed the pipe");
    const std::exception_ptr failed = collective::caught([&] {
      if (!request.writes()) check_same(expected);
      channel()->move(call, transfer_of(request, arrays, spent));
    });
    steps_.spoiled = request.writes() && (failed || steps_.spoiled);
    if (whole) {
      const std::exception_ptr given = collective::caught([&] { give_step(call); });
      if (!failed && given) std::rethrow_exception(given);
    }
    if (failed) std::rethrow_exception(failed);
  };
  {
    const collective::Stopwatch watch(spent.total);
    with_transport(moved);
  }
  times_ = {spent.io, spent.copy, spent.wait, spent.total};
}

}  // namespace plait
