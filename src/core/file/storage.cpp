// The state of an open File.
//
// open() sets is_open_. A normal end and a failure both call end(), which releases the store. A failure also sets
// has_failed_ and notifies the other end of a pipe. Later calls are rejected by check_open(): first if a rank has
// abandoned the file, which needs the transport, then if it has failed, then if it is closed. Not every error is a
// failure: after an error of arguments all ranks can continue, so handle_error() only ends the file if a rank was lost,
// the file was abandoned, or a new array lacks elements.

#include "core/file/storage.hpp"

#include <cerrno>
#include <utility>

#include "base/errors.hpp"

namespace plait::core {

void FileStorage::open(std::unique_ptr<Source> source) {
  source_ = std::move(source);
  if (channel() != nullptr) context_.keep_transport();
  is_open_ = true;
}

void FileStorage::set_dataset(std::unique_ptr<container::Dataset> dataset) {
  dataset_ = std::move(dataset);
  store_ = dataset_->store();
}

void FileStorage::watch_new() noexcept {
  if (context_.mode() != Mode::kWrite || context_.comm().rank() != 0) return;
  watch_.begin(context_.path(), [this] {
    if (source_) context_.worker().run_if_idle([this] { source_->discard(); });
  });
}

void FileStorage::check_open() const {
  if (context_.is_abandoned())
    base::throw_system_error(ECANCELED, context_.path(), " was abandoned by a rank; open it again");
  check_open_here();
}

void FileStorage::check_open_here() const {
  if (has_failed_)
    base::throw_argument_error(
        context_.path(), ": an earlier collective call failed, after which the file cannot be used; open it again");
  if (!is_open_) base::throw_argument_error(context_.path(), " is closed; open it again");
}

void FileStorage::call_together(base::FunctionRef<void(transport::Transport&)> body) {
  check_open();
  try {
    context_.with_transport(body);
  } catch (const Error& error) {
    handle_error(error, /*is_write=*/false);
    throw;
  }
}

void FileStorage::handle_error(const Error& error, bool is_write) {
  const bool is_new_array = context_.mode() == Mode::kWrite || is_added_;
  const bool lacks_elements = is_write && is_new_array && error.kind() == ErrorKind::kSystem;
  if (lacks_elements || error.system_code() == EOWNERDEAD || context_.is_abandoned()) fail(error.what());
}

void FileStorage::fail(const char* why) {
  if (Channel* const pipe = channel(); pipe != nullptr) pipe->abort(why);
  has_failed_ = true;
  end();
}

void FileStorage::end() noexcept {
  is_open_ = false;
  watch_.end();
  source_ = nullptr;
  dataset_ = nullptr;
  store_ = nullptr;
}

void FileStorage::resize(collective::Collective& call, std::int64_t bytes) {
  source_->resize(call, bytes);
  store_ = source_->store();
  dataset_ = std::make_unique<container::Dataset>(dataset_->content(), store_);
}

void FileStorage::sync() const {
  if (!store_) return;
  store_->sync();
  if (source_->store() && has_view()) source_->store()->sync();
}

}  // namespace plait::core
