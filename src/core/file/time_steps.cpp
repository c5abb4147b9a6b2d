// The steps of a File.
//
// Each access belongs to a step. If the program has called begin_step(), is_inside_ is true and accesses use that step
// until end_step(). Otherwise each access enters and leaves a step of its own (ChannelAccess). If a write fails,
// leave() discards its step on all ranks, so that readers never receive an incomplete step.
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
  bool has_step = false;
  storage_.call_together([&](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "begin_step() of " + context_.name(); },
        [this] {
          if (is_inside_)
            base::throw_argument_error(context_.path(), ": step ", step_.number,
                                       " has not ended; call end_step() before the next one");
        });
    has_step = enter(call, attributes);
  });
  is_inside_ = has_step;
  return has_step;
}

void TimeSteps::end() {
  storage_.call_together([this](transport::Transport& transport) {
    collective::Collective call(
        transport, [this] { return "end_step() of " + context_.name(); },
        [this] {
          if (!is_inside_) base::throw_argument_error(context_.path(), ": no step has begun; call begin_step() first");
        });
    is_inside_ = false;
    leave(call);
  });
}

bool TimeSteps::enter(collective::Collective& call, const Attributes& attributes) {
  Channel* const pipe = storage_.channel();
  if (pipe == nullptr) {
    if (context_.mode() == Mode::kRead && next_number_ > 0) return false;
    step_ = {next_number_++, attributes, {kOneVariable}};
    return true;
  }
  if (has_ended_) return false;
  auto next = pipe->begin_step(call, attributes);
  has_ended_ = !next;
  if (!next) return false;
  step_ = std::move(*next);
  if (context_.mode() == Mode::kRead)
    if (const auto type = pipe->find(selection_.variable())) selection_.update_type(*type);
  return true;
}

void TimeSteps::leave(collective::Collective& call) {
  Channel* const pipe = storage_.channel();
  if (pipe == nullptr) return;
  const bool is_complete = !std::exchange(is_incomplete_, false);
  pipe->end_step(call, is_complete);
  if (!is_complete)
    base::throw_system_error(ECANCELED, context_.path(), ": step ", step_.number,
                             " was discarded, because a write to it has failed");
}

void TimeSteps::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  selection_.select_variable(name, context_.mode() == Mode::kRead ? find_type(name) : define_type(name, type));
}

ArrayType TimeSteps::find_type(const std::string& name) const {
  if (!is_inside_) {
    if (name == kOneVariable) return known_types_.at(name);  // as far as it is known before the next step
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
  const auto known = known_types_.find(name);
  if (!type && known == known_types_.end())
    reject_variable(context_.path(), name, "is new; give its shape and the type of its elements");
  ArrayType defined = type ? *type : known->second;
  defined.order = selection_.array().type.order;  // the order of the file
  return known_types_.insert_or_assign(name, std::move(defined)).first->second;
}

}  // namespace plait::core
