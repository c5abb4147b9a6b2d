// Reads and writes of a File whose arrays go through a channel.
//
// An access belongs to the step that the program has begun, or is a step of its own.  Its order:
//
//   1. Agree    All ranks check their arguments, and compare their calls.
//   2. Enter    An access that is a step of its own enters the next one.
//   3. Move     A reader compares the array in the step with the array that the program expects.  The channel moves it.
//   4. Leave    An access that is a step of its own leaves it, also after an error, so that the next step can begin.
//
// An error of phase 3 is reported rather than one of phase 4.  If a write fails, its step is discarded: the reader
// never gets it.

#include "core/file/channel_access.hpp"

#include <cerrno>
#include <exception>
#include <span>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "core/comm/local_arrays.hpp"
#include "core/redistribution/apart.hpp"

namespace plait::core {

namespace {

Transfer make_transfer(const ArraySelection& selection, const AccessRequest& request,
                       std::span<const copy::LocalArray> arrays, const Comm& comm, collective::Times& times) {
  const bool fills_halo = request.action == Action::kFill;
  return {selection.variable(), selection.array().type,
          request.layout,       request.region,
          fills_halo,           arrays,
          comm.alone(),         times};
}

}  // namespace

AccessTimes ChannelAccess::run() {
  {
    const collective::Stopwatch watch(times_.total);
    context_.with_transport([this](transport::Transport& transport) { run_on(transport); });
  }
  return {times_.io, times_.copy, times_.wait, times_.total};
}

void ChannelAccess::run_on(transport::Transport& transport) {
  // 1. Agree
  collective::Collective call(transport, [this] { return describe(); }, [this] { prepare(); });
  const bool is_own_step = !steps_.is_inside();
  const ArrayType expected = selection_.array().type;
  // 2. Enter
  if (is_own_step && !steps_.enter(call, {}))
    base::throw_system_error(ENODATA, context_.path(), ": no more steps will come; the writer has closed the pipe");
  // 3. Move
  const std::exception_ptr move_error = collective::caught([&] { move(call, expected); });
  if (move_error && request_.writes()) steps_.mark_incomplete();
  // 4. Leave
  const std::exception_ptr leave_error = is_own_step ? collective::caught([&] { steps_.leave(call); }) : nullptr;
  if (move_error) std::rethrow_exception(move_error);
  if (leave_error) std::rethrow_exception(leave_error);
}

std::string ChannelAccess::describe() const {
  const ArrayType& type = selection_.array().type;
  return base::text(request_.describe(base::text(", array \"", selection_.variable(), "\" of elements of ",
                                                 type.element_bytes, " bytes ", type.dtype)),
                    " of ", context_.name());
}

void ChannelAccess::prepare() {
  const ArrayType& type = selection_.array().type;
  const std::string& path = context_.path();
  if (request_.writes()) context_.check_writable();
  if (!request_.writes() && context_.mode() == Mode::kWrite)
    base::throw_argument_error(path, " is open for writing; open it with mode \"r\" to read");
  if (type.element_bytes == 0)
    base::throw_argument_error(path, ": the writer describes its arrays step by step; call begin_step() first");
  if (request_.writes() && request_.layout.shape() != type.shape && request_.region.empty())
    base::throw_argument_error(path, ": the layout ", to_string(request_.layout), " has not the shape of the array, ",
                               shape_to_string(type.shape));
  arrays_ = local_arrays(request_.layout, request_.parts, type.element_bytes, context_.comm());
  if (!request_.writes()) check_filled(request_.layout, arrays_, request_.action == Action::kFill, type.element_bytes);
}

void ChannelAccess::move(collective::Collective& call, const ArrayType& expected) {
  if (!request_.writes()) check_type(expected);
  channel_.move(call, make_transfer(selection_, request_, arrays_, context_.comm(), times_));
}

void ChannelAccess::check_type(const ArrayType& expected) {
  const auto found = channel_.find(selection_.variable());
  if (!found) return;  // the channel throws the error
  const bool has_same_dtype = found->dtype == expected.dtype || found->dtype.empty() || expected.dtype.empty();
  if (found->element_bytes == expected.element_bytes && found->shape == expected.shape && has_same_dtype) return;
  const auto describe_type = [](const ArrayType& type) {
    return base::text(shape_to_string(type.shape), " elements of ", type.element_bytes, " bytes",
                      type.dtype.empty() ? "" : base::text(" (", type.dtype, ')'));
  };
  selection_.update_type(expected);  // so that the next step is compared as well
  base::throw_argument_error(context_.path(), ": the array \"", selection_.variable(), "\" of step ",
                             steps_.current().number, " is ", describe_type(*found), ", but the read expected ",
                             describe_type(expected), "; call begin_step() to learn what each step holds");
}

std::string explain(const Channel& channel, const ArraySelection& selection, const AccessRequest& request,
                    const Comm& comm) {
  std::vector<copy::LocalArray> arrays;
  for (const std::int64_t rank : ranks_held(request.layout, comm)) arrays.push_back({rank, nullptr, {}});
  collective::Times times;
  return channel.explain(make_transfer(selection, request, arrays, comm, times));
}

}  // namespace plait::core
