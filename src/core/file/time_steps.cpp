// The steps of a File.
//
// Each access belongs to a step. If the program has called begin_step(), inside_ is true and accesses use that step
// until end_step(). Otherwise each access enters and leaves a step of its own (ChannelAccess). A write that fails
// spoils its step, and leave() then discards it on all ranks, so that readers never receive an incomplete step.
//
// A file that is not a pipe behaves like a pipe with one step: a reader's second begin_step() returns false, and a
// writer's second step replaces the first one.

#include "core/file/time_steps.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"

namespace plait::core {

namespace {

template <typename... Parts>
[[noreturn]] void reject_variable(const std::string& path, const std::string& name, const Parts&... problem) {
  base::throw_argument_error(path, ": the array \"", name, "\" ", problem...);
}

}  // namespace

bool TimeSteps::begin(const Attributes& attributes) {
  bool more = false;
  storage_.call_together([&](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "begin_step() of " + context_.name(); },
        [this] {
          if (inside_)
            base::throw_argument_error(context_.path(), ": step ", step_.number,
                                       " has not ended; call end_step() before the next one");
        });
    more = enter(call, attributes);
  });
  inside_ = more;
  return more;
}

void TimeSteps::end() {
  storage_.call_together([this](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "end_step() of " + context_.name(); },
        [this] {
          if (!inside_) base::throw_argument_error(context_.path(), ": no step has begun; call begin_step() first");
        });
    inside_ = false;
    leave(call);
  });
}

bool TimeSteps::enter(collective::Collective& call, const Attributes& attributes) {
  Channel* const pipe = storage_.channel();
  if (pipe == nullptr) {
    if (context_.mode() == Mode::kRead && next_ > 0) return false;
    step_ = {next_++, attributes, {kOneVariable}};
    return true;
  }
  if (ended_) return false;
  auto next = pipe->begin_step(call, attributes);
  ended_ = !next;
  if (!next) return false;
  step_ = std::move(*next);
  if (context_.mode() == Mode::kRead)
    if (const auto type = pipe->find(selection_.variable())) selection_.update_type(*type);
  return true;
}

void TimeSteps::leave(collective::Collective& call) {
  Channel* const pipe = storage_.channel();
  if (pipe == nullptr) return;
  const bool complete = !std::exchange(spoiled_, false);
  pipe->end_step(call, complete);
  if (!complete)
    base::throw_system_error(ECANCELED, context_.path(), ": step ", step_.number,
                             " was discarded, because a write to it has failed");
}

void TimeSteps::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  selection_.select_variable(name, context_.mode() == Mode::kRead ? find_type(name) : define_type(name, type));
}

ArrayType TimeSteps::find_type(const std::string& name) const {
  if (!inside_) {
    if (name == kOneVariable) return types_.at(name);  // as far as it is known before the next step
    reject_variable(context_.path(), name, "can be read only within a step; call begin_step() first");
  }
  const auto found = storage_.channel()->find(name);
  if (!found) {
    std::string names;
    for (const std::string& variable : step_.variables) names += (names.empty() ? "" : ", ") + variable;
    reject_variable(context_.path(), name, "is not in step ", step_.number,
                    ", which has: ", names.empty() ? "none" : names);
  }
  return *found;
}

const ArrayType& TimeSteps::define_type(const std::string& name, const std::optional<ArrayType>& type) {
  if (type && type->element_bytes < 1)
    reject_variable(context_.path(), name, "was given elements of ", type->element_bytes, " bytes; give 1 or more");
  const auto known = types_.find(name);
  if (!type && known == types_.end())
    reject_variable(context_.path(), name, "is new; give its shape and the type of its elements");
  ArrayType defined = type ? *type : known->second;
  defined.order = selection_.array().type.order;  // the order of the file
  return types_.insert_or_assign(name, std::move(defined)).first->second;
}

}  // namespace plait::core
