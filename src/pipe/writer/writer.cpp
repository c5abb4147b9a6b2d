// One process of a writer. Each process stores its local arrays of a step in its StepStore and serves them; process 0
// also registers the name of the pipe and announces the steps to the readers (WriterControl).

#include "pipe/writer/writer.hpp"

#include <array>
#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "collective/broadcast.hpp"
#include "collective/gather.hpp"
#include "pipe/protocol.hpp"
#include "plait/error.hpp"

namespace plait::pipe {

using base::text;
using transport::native::Key;
using transport::native::Server;

Writer::Writer(collective::Collective& call, const std::string& url, const Options& options, const ArrayType& type,
               bool holds_all_ranks)
    : url_(url), options_(options), is_first_rank_(call.transport().rank() == 0) {
  transport::Transport& transport = call.transport();
  std::string secret;
  const std::exception_ptr failure = collective::caught([&] {
    if (is_first_rank_) secret = Key::random().text();
  });
  // Broadcast even after a failure, because the other ranks wait for it; the next phase reports the error.
  secret = collective::broadcast_text(transport, secret);
  const std::string program = this_program();
  call.run_phase([&] {
    if (failure) std::rethrow_exception(failure);
    steps_ = std::make_shared<StepStore>(options.queue, holds_all_ranks ? -1 : transport.rank());
    if (is_first_rank_) control_ = std::make_shared<WriterControl>(url, type, program, transport.size(), options);
    service_ = std::make_shared<WriterService>(steps_, control_);
    Server::Options server_options;
    server_options.network = options.network;
    server_options.max_queued = 2 * kMaxPendingRequests;
    server_options.first_port = static_cast<std::uint16_t>(options.first_port);
    server_options.last_port = static_cast<std::uint16_t>(options.last_port);
    server_ = Server::start(Key::parse(secret), service_, server_options);
  });
  const auto own_endpoints = [this] { return server_->endpoints().text(); };
  std::vector<std::string> group = collective::gather(transport, own_endpoints, {1, kGroupProcesses});
  std::vector<std::string> groups = collective::gather(transport, own_endpoints, {kGroupProcesses});
  // Every process needs its endpoints before the meeting file exists, because a reader may then ask any process.
  call.run_phase([&] { service_->set_directory(std::move(group), std::move(groups)); });
  try {
    call.run_phase([&] {
      if (!is_first_rank_) return;
      meeting_ =
          std::make_unique<MeetingFile>(options.name, Invitation{server_->endpoints(), Key::parse(secret), program});
      control_->wait_for_readers();
    });
  } catch (const Error& error) {
    abort(error.what());  // a constructor that throws has no destructor call, so notify connected readers here
    throw;
  }
}

Writer::~Writer() { abort("it has ended without closing the pipe"); }

std::optional<Step> Writer::begin_step(collective::Collective& call, const Attributes& attributes) {
  std::array<std::int64_t, 2> numbers{};
  const std::exception_ptr failure = collective::caught([&] {
    if (!is_first_rank_) return;
    const Schedule::BegunStep begun = control_->begin();
    numbers = {begun.step, begun.slot};
  });
  collective::broadcast_numbers(call.transport(), failure, numbers);
  step_ = {};
  step_.number = numbers[0];
  step_.slot = static_cast<int>(numbers[1]);
  step_.attributes = attributes;
  return step_.to_step();
}

void Writer::move(collective::Collective& call, const core::Transfer& transfer) {
  call.run_phase([&] {
    if (!transfer.region.empty())
      base::throw_argument_error(url_,
                                 ": a region is written, but steps of a pipe have whole arrays; "
                                 "write the array, and let the reader name the region");
    if (step_.find(transfer.variable) != nullptr)
      base::throw_argument_error(url_, ": the step has an array ", transfer.variable,
                                 " already; begin another step, or give it another name");
    if (!last_layout_ || !last_layout_->first.spelled_like(transfer.layout))
      last_layout_.emplace(transfer.layout, spelling(transfer.layout));
    const collective::Stopwatch copying(transfer.spent.copy);
    if (step_.variables.empty()) steps_->begin(step_.number, step_.slot);
    steps_->add(transfer.layout, transfer.type.element_bytes, transfer.arrays);
    step_.variables.push_back({transfer.variable, transfer.type, last_layout_->second});
  });
}

void Writer::end_step(collective::Collective& /*call*/, bool keep) {
  // All ranks have agreed after their last write, so that the step is complete.
  if (!is_first_rank_) return;
  if (keep) {
    control_->publish(step_, WriterControl::make_frame(step_));
  } else {
    control_->cancel();
  }
}

std::optional<ArrayType> Writer::find(const std::string& variable) const {
  const Variable* found = step_.find(variable);
  return found == nullptr ? std::nullopt : std::optional(found->type);
}

std::string Writer::explain(const core::Transfer& transfer) const {
  std::int64_t bytes = 0;
  for (const std::int64_t rank : transfer.layout.rank_numbers())
    bytes = std::max(bytes, transfer.layout.local_elements(rank) * transfer.type.element_bytes);
  return text("writes   ", to_string(transfer.layout), " to ", url_, "\ncopies   at most ", base::bytes_text(bytes),
              " a rank into the queue, which readers read from\nqueue    ", options_.queue, " steps, at most ",
              base::bytes_text(bytes * options_.queue), " a rank\n");
}

void Writer::finish(collective::Collective& call) {
  call.run_phase([&] {
    if (is_first_rank_) control_->finish();
  });
  is_over_ = true;
  meeting_.reset();  // before the server ends, so that no reader finds a server that has ended
  server_.reset();
}

void Writer::abort(const std::string& why) noexcept {
  if (is_over_) return;
  is_over_ = true;
  meeting_.reset();
  if (control_) control_->abort(why);
  server_.reset();
}

}  // namespace plait::pipe
