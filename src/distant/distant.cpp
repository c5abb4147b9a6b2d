#include "plait/distant.hpp"

#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "collective/collective.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "distant/distant_file_impl.hpp"
#include "distant/service.hpp"
#include "plait/error.hpp"

namespace plait {

namespace {

using base::text;

const char* mode_name(DistantMode mode) {
  return mode == DistantMode::kRead ? "\"r\"" : mode == DistantMode::kWrite ? "\"w\"" : "\"r+\"";
}

}  // namespace

DistantFile::DistantFile(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DistantFile::DistantFile(DistantFile&&) noexcept = default;
DistantFile& DistantFile::operator=(DistantFile&& other) noexcept {
  std::swap(impl_, other.impl_);
  return *this;
}
DistantFile::~DistantFile() {
  if (impl_) base::destroy_or_leak(impl_, impl_->owner());
}

DistantFile DistantFile::open(const DistantOptions& options, const Comm& comm) {
  std::unique_ptr<Impl> impl;
  distant::in_turn(comm, [&] {
    transport::Transport& transport = core::get_transport(comm);
    const std::int64_t number = transport.next_number();  // before anything that may fail on this rank alone
    impl = std::make_unique<Impl>(comm, distant::start_service(transport), options.mode);
    impl->open_together(number, options, text("open distant files in mode ", mode_name(options.mode)));
  });
  impl->make_temporary(options);
  return DistantFile(std::move(impl));
}

void DistantFile::fail_open(const std::string& message, const Comm& comm, int system_code) {
  const Error error = core::call_error(message, system_code);
  distant::in_turn(comm, [&] {
    transport::Transport& transport = core::get_transport(comm);
    distant::start_service(transport);
    transport.next_number();
    collective::Collective::fail(transport, std::make_exception_ptr(error));
  });
  throw error;
}

DistantFile DistantFile::offer(const std::string& name, const DistantOptions& options, const Comm& comm) {
  transport::Transport& transport = core::get_transport(comm);
  auto service = distant::running_service(transport);
  if (options.path.empty()) base::throw_argument_error("\"", name, "\" was offered without a path");
  auto impl = std::make_unique<Impl>(comm, service, options.mode);
  impl->check_free(name);  // before an existing file at that path is truncated
  impl->open_own(options, !DistantFile::Impl::unlinks_at_once(options));
  impl->publish(service->own_number());
  impl->offer_as(name);
  impl->make_temporary(options);
  return DistantFile(std::move(impl));
}

DistantFile DistantFile::find(const std::string& name, const Comm& comm) {
  transport::Transport& transport = core::get_transport(comm);
  auto impl = std::make_unique<Impl>(comm, distant::running_service(transport), DistantMode::kReadWrite);
  impl->find_by_name(name);
  return DistantFile(std::move(impl));
}

int DistantFile::owner() const { return impl_->server(); }
bool DistantFile::is_open() const { return impl_->is_open(); }
bool DistantFile::direct(int rank) const { return impl_->direct(rank) != nullptr; }

void DistantFile::read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank) {
  impl_->here().read(offset, static_cast<std::byte*>(buffer), bytes, rank);
}
void DistantFile::write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank) {
  impl_->here().write(offset, static_cast<const std::byte*>(buffer), bytes, rank);
}
DistantRequest DistantFile::start_read(std::int64_t offset, void* buffer, std::int64_t bytes, int rank) {
  return impl_->here().start_read(offset, static_cast<std::byte*>(buffer), bytes, rank);
}
DistantRequest DistantFile::start_write(std::int64_t offset, const void* buffer, std::int64_t bytes, int rank) {
  return impl_->here().start_write(offset, static_cast<const std::byte*>(buffer), bytes, rank);
}
void DistantFile::sync(int rank) { impl_->here().start_sync(rank).wait(); }
DistantRequest DistantFile::start_sync(int rank) { return impl_->here().start_sync(rank); }
std::int64_t DistantFile::size(int rank) { return impl_->here().size(rank); }
void DistantFile::resize(std::int64_t bytes, int rank) { impl_->here().resize(bytes, rank); }
void DistantFile::close() { impl_->here().close(); }
void DistantFile::abandon() noexcept {
  if (impl_->owner().here()) impl_->abandon();
}

}  // namespace plait
