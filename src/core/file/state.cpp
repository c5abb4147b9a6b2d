// A File from its opening to its end.

#include <cerrno>
#include <utility>

#include "base/errors.hpp"
#include "collective/agree.hpp"
#include "core/comm/giving_up.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "core/file/impl.hpp"
#include "transport/thread/team.hpp"

namespace plait {

File::Impl::Impl(const std::string& path, Mode mode, const Comm& comm)
    : comm_(comm),
      path_(path),
      mode_(mode),
      worker_(comm.alone() ? base::make_owned<core::Worker>() : core::worker_of(comm)),
      recorded_(base::recorded_name(path)) {}

void File::Impl::set_array(core::SelectedArray array, const container::Format& format,
                           std::unique_ptr<container::Dataset> dataset) {
  array_ = std::move(array);
  format_ = &format;
  dataset_ = std::move(dataset);
  store_ = dataset_->store();
  attributes_ = dataset_->content().attributes;
  core::conform(array_, *store_);
}

void File::Impl::set_source(std::unique_ptr<core::Source> source) {
  source_ = std::move(source);
  open_ = true;
}

void File::Impl::watch_new() noexcept {
  if (mode_ != Mode::kWrite || comm_.rank() != 0) return;
  unclosed_.begin(path_, [this] {
    if (source_) worker_->run_if_idle([this] { source_->discard(); });
  });
}

bool File::Impl::given_up() const { return comm_.size() > 1 && core::transport_of(comm_).given_up().contains(number_); }

bool File::Impl::is_lost(const Error& error) const { return error.system_code() == EOWNERDEAD || given_up(); }

void File::Impl::check_open() const {
  if (given_up()) base::throw_system_error(ECANCELED, path_, " was abandoned by a rank; open it again");
  check_open_here();
}

void File::Impl::check_open_here() const {
  if (broken_)
    base::throw_argument_error(
        path_, ": an earlier collective call failed, after which the file cannot be used; open it again");
  if (!open_) base::throw_argument_error(path_, " is closed; open it again");
}

void File::Impl::with_transport(const std::function<void(transport::Transport&)>& body) {
  if (comm_.alone()) {
    // That of a channel keeps nothing between two calls but itself.
    if (channel() == nullptr) return body(*transport::thread::make_alone());
    if (!alone_) alone_ = transport::thread::make_alone();
    body(*alone_);
  } else {
    collective::together(core::transport_of(comm_), [&] { body(core::transport_of(comm_)); });
  }
}

void File::Impl::after_failure(const Error& error, bool write) {
  if ((write && mode_ == Mode::kWrite && error.kind() == ErrorKind::kSystem) || is_lost(error)) {
    if (channel() != nullptr) channel()->abort(error.what());
    fail();
  }
}

void File::Impl::fail_call(const std::string& message, int system_code) {
  check_open();
  try {
    core::fail(comm_, message, system_code);
  } catch (const Error& error) {
    after_failure(error, false);
    throw;
  }
}

void File::Impl::fail() noexcept {
  broken_ = true;
  end();
}

void File::Impl::end() noexcept {
  open_ = false;
  unclosed_.end();
  source_ = nullptr;
  dataset_ = nullptr;
  store_ = nullptr;
}

void File::Impl::close() {
  if (!open_) {
    if (const std::exception_ptr untold = writes_.untold_error()) std::rethrow_exception(untold);
    return;
  }
  check_open();
  bool lost = false;  // the file, on all ranks alike
  try {
    with_transport([&](transport::Transport& transport) {
      collective::Collective call(transport, [this] { return "close() of " + name(); }, [] {});
      // Only now is it sure that all ranks hear of a write that failed: an error in another call does not swallow it.
      lost = mode_ == Mode::kWrite;
      call.step_done(writes_.untold_error());
      lost = true;
      // Before anything of it takes effect.
      call.step([&] {
        if (transport.rank() != 0 || mode_ != Mode::kReadWrite || !is_changed()) return;
        source_->check_name();
        change_attributes([](container::AttributeWriter& writer) { writer.prepare(); }, false);
      });
      if (container::DeferredChanges* const deferred = deferred_changes(); deferred != nullptr) {
        // If ranks are on several hosts, the others see what each has written only after a sync.
        call.step([&] {
          if (transport.nodes_apart()) store_->sync();
        });
        call.step([&] {
          if (transport.rank() == 0) deferred->commit();
        });
      }
      if (!changes_.empty())
        call.step([&] {
          if (transport.rank() != 0) return;
          change_attributes([this](container::AttributeWriter& writer) { writer.write(changes_); }, true);
        });
      // What is a view of the source, in files of its own.
      if (store_ && store_ != source_->store())
        call.step([&] {
          if (is_changed() || mode_ == Mode::kWrite) store_->sync();
        });
      source_->finish(call, is_changed() || mode_ == Mode::kWrite);
    });
  } catch (const Error& error) {
    // Ranks that made another call have kept the file open, so this one does as well.
    if (lost) {
      if (channel() != nullptr) channel()->abort(error.what());  // whose destructor could not say why
      fail();
    }
    after_failure(error, false);
    throw;
  }
  end();
}

void File::Impl::change_attributes(const std::function<void(container::AttributeWriter&)>& body, bool committed) const {
  if (changes_.empty()) return;
  try {
    body(*dataset_->attribute_writer());
  } catch (const Error& error) {
    // Where another one has its name, what was written is in the former one.
    if (!dirty_ || error.system_code() == ESTALE) throw;
    base::rethrow(error, error.what(),
                  deferred_changes() != nullptr && !committed ? "; nothing that was written is in the file"
                                                              : "; the elements that were written are in the file");
  }
}

void File::Impl::sync() {
  check_open();
  with_transport([&](transport::Transport& transport) {
    collective::Collective call(transport, [this] { return "sync() of " + name(); }, [] {});
    call.step([&] {
      if (store_) store_->sync();
      if (store_ && source_->store() && store_ != source_->store()) source_->store()->sync();
    });
  });
}

void File::Impl::abandon(const std::string& why) {
  if (!open_) return;
  // Everyone who takes part, here or in another call on this Comm, hears of it as this error.
  const bool nothing = mode_ == Mode::kWrite && channel() == nullptr;
  const Error error(ErrorKind::kSystem,
                    base::text(path_, nothing ? " was abandoned; nothing was written" : " was abandoned",
                               channel() == nullptr || why.empty() ? "" : ": ", channel() == nullptr ? "" : why),
                    ECANCELED);
  collective::caught([&] { core::give_up(comm_, number_, error); });
  if (channel() != nullptr) channel()->abort(why.empty() ? "it has ended without closing the pipe" : why);
  fail();
}

}  // namespace plait
