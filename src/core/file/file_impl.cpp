#include "core/file/file_impl.hpp"

#include <cerrno>
#include <exception>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/agree.hpp"
#include "core/comm/giving_up.hpp"
#include "core/comm/guard.hpp"

namespace plait {

namespace {

/// The phases of close() that a rank needs.  Ranks agree on the smallest number.
constexpr std::int64_t kReports = 0;  // it must report the error of a started write
constexpr std::int64_t kSyncs = 1;    // it must make elements durable
constexpr std::int64_t kNothing = 2;

std::string close_text(const core::FileContext& context) { return "close() of " + context.name(); }

}  // namespace

void File::Impl::set_array(core::SelectedArray array, const container::Format& format,
                           std::unique_ptr<container::Dataset> dataset) {
  attributes_.begin(format, dataset->content().attributes);
  storage_.set_dataset(std::move(dataset));
  selection_.set_array(std::move(array), *storage_.store());
}

void File::Impl::set_members(std::vector<container::Member> members) {
  selection_.set_members(std::move(members));
  if (selection_.has_members())
    attributes_.show(selection_.select_member({}, std::nullopt, *storage_.store()).attributes);
}

void File::Impl::set_type(const ArrayType& type, bool several) {
  selection_.set_type(type, several);
  steps_.set_type(type);
}

void File::Impl::select(const ArrayType& type, std::int64_t offset, std::int64_t memory) {
  storage_.check_open();
  selection_.select(type, offset, memory, storage_.store().get());
}

void File::Impl::select_variable(const std::string& name, const std::optional<ArrayType>& type) {
  storage_.check_open();
  const auto reject = [&](const auto&... problem) {
    base::throw_argument_error(context_.path(), ": the array \"", name, "\" ", problem...);
  };
  if (name.empty()) reject("has an empty name; give one");
  if (selection_.has_members()) {
    attributes_.show(selection_.select_member(name, type, *storage_.store()).attributes);
  } else if (storage_.channel() != nullptr) {
    steps_.select_variable(name, type);
  } else if (name != core::kOneVariable) {
    reject("does not exist: this file has one array, \"", core::kOneVariable,
           "\"; pipes have several, and new files that are opened for several");
  }
}

void File::Impl::fail_call(const std::string& message, int system_code) {
  storage_.check_open();
  try {
    core::fail(context_.comm(), message, system_code);
  } catch (const Error& error) {
    storage_.handle_error(error, /*is_write=*/false);
    throw;
  }
}

void File::Impl::close() {
  if (!storage_.is_open()) {
    if (const std::exception_ptr unreported = writes_.unreported_error()) std::rethrow_exception(unreported);
    return;
  }
  storage_.check_open();
  bool committed = false;
  try {
    context_.with_transport([&](transport::Transport& transport) {
      if (context_.mode() != Mode::kRead) return close_together(transport, committed);
      // Nothing can change, so that one agreement serves for the call and for errors that are not reported yet.
      collective::Collective call(
          transport, [this] { return close_text(context_); },
          [&] {
            if (const std::exception_ptr unreported = writes_.unreported_error()) std::rethrow_exception(unreported);
          });
      committed = true;
      storage_.source()->finish(call, /*syncs=*/false);
    });
  } catch (const Error& error) {
    // If ranks have made different calls, the file stays open on all of them.
    if (committed) storage_.fail(error.what());
    storage_.handle_error(error, /*is_write=*/false);
    throw;
  }
  storage_.end();
}

void File::Impl::close_together(transport::Transport& transport, bool& committed) {
  const bool is_first = transport.rank() == 0;
  const bool is_new = context_.mode() == Mode::kWrite;
  // 1. All ranks make the call, and learn which of the next phases some rank needs.
  // On several nodes elements are synced in any case: other nodes might not see them otherwise.
  const bool must_sync = (is_changed() || is_new) && (context_.is_durable() || transport.nodes_apart());
  std::int64_t needs = writes_.has_error() ? kReports : must_sync ? kSyncs : kNothing;
  collective::Collective call(transport, transport.size() == 1 ? std::string() : close_text(context_), needs);
  // 2. A started write that failed fails the call.  Its error is reported only here, where all ranks receive it.
  committed = is_new;
  if (needs == kReports) call.end_phase(writes_.unreported_error());
  committed = true;
  // 3. Everything that can fail is checked before any change takes effect.
  if (!is_new)
    call.run_phase([&] {
      if (!is_first || !is_changed()) return;
      storage_.source()->check_name();
      attributes_.prepare();
    });
  // 4. Deferred changes of elements take effect. Ranks on other nodes see written elements only after a sync, and a new
  // shape must not be durable before the elements that it shows.
  if (container::DeferredChanges* const deferred = storage_.deferred_changes(); deferred != nullptr) {
    call.run_phase([&] {
      if (transport.nodes_apart() || deferred->follows_elements()) storage_.store()->sync();
    });
    call.run_phase([&] {
      if (is_first) deferred->commit();
    });
  }
  // 5. Changes of attributes are written.
  if (!attributes_.empty())
    call.run_phase([&] {
      if (is_first) attributes_.write();
    });
  // 6. A store that is a view of the source, in files of its own, becomes durable, and then the source.
  const bool syncs = needs != kNothing;
  if (storage_.has_view() && syncs) call.run_phase([&] { storage_.store()->sync(); });
  storage_.source()->finish(call, syncs);
}

void File::Impl::sync() {
  storage_.check_open();
  context_.with_transport([this](transport::Transport& transport) {
    collective::Collective call(transport, [this] { return "sync() of " + context_.name(); }, [] {});
    call.run_phase([this] { storage_.sync(); });
  });
}

void File::Impl::abandon(const std::string& why) {
  if (!storage_.is_open()) return;
  const bool is_pipe = storage_.channel() != nullptr;
  // All ranks get this error, in this or another call on this Comm.
  const bool discards = context_.mode() == Mode::kWrite && !is_pipe;
  const Error error(ErrorKind::kSystem,
                    base::text(context_.path(), discards ? " was abandoned; nothing was written" : " was abandoned",
                               is_pipe && !why.empty() ? ": " : "", is_pipe ? why : ""),
                    ECANCELED);
  collective::caught([&] { core::give_up(context_.comm(), context_.number(), error); });
  storage_.fail(why.empty() ? "it has ended without closing the pipe" : why.c_str());
}

}  // namespace plait
