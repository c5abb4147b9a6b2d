#include "distant/shared/shared_file_impl.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "base/errors.hpp"
#include "base/text.hpp"
#include "core/comm/giving_up.hpp"
#include "core/comm/guard.hpp"
#include "core/comm/internals.hpp"
#include "distant/stretch.hpp"
#include "plait/error.hpp"

namespace plait {

using base::text;
using distant::shared::Extent;
using distant::shared::Transfer;

namespace {

[[noreturn]] void reject(const std::string& what) { base::throw_argument_error(what); }

}  // namespace

SharedFile::Impl::Impl(const SharedFileOptions& options, const Comm& comm, std::int64_t number)
    : options_(options),
      comm_(comm),
      transport_(&core::get_transport(comm)),
      service_(distant::start_service(*transport_)),
      rank_(transport_->rank()),
      number_(number) {}

SharedFile::Impl::~Impl() {
  outstanding_->wait_for_all();
  discard();
}

int SharedFile::Impl::server(int component) const {
  const int components = parts_.stripes().components();
  if (component < 0 || component >= components)
    reject(text("component ", component, " was named, but the shared file has 0 to ", components - 1));
  return parts_.server(component);
}

void SharedFile::Impl::check_open() const {
  if (!open_) reject(text("the shared file ", options_.path, " has been closed; open it anew"));
}

bool SharedFile::Impl::is_abandoned() const { return transport_->abandoned_numbers().contains(number_); }

void SharedFile::Impl::check_not_abandoned() const {
  if (is_abandoned())
    base::throw_system_error(ECANCELED, "the shared file ", options_.path, " was abandoned by a rank; open it again");
}

void SharedFile::Impl::check_writable(std::int64_t end) const {
  if (options_.mode == SharedFileMode::kRead || read_only_)
    reject(text("the shared file ", options_.path, " is open only to read",
                read_only_ ? " from now on" : "; open it in mode \"r+\" or \"w\""));
  if (options_.limit > 0 && end > options_.limit)
    reject(text("the shared file ", options_.path, " is limited to ", options_.limit, " bytes, but should get ", end,
                "; open it with a larger limit"));
}

std::shared_ptr<Transfer> SharedFile::Impl::transfer(const Extent& extent, bool writes) {
  check_open();
  distant::check_stretch(extent.offset, extent.bytes, writes ? extent.from : extent.into);
  if (writes) check_writable(extent.offset + extent.bytes);
  if (extent.bytes == 0) return nullptr;
  return std::make_shared<Transfer>(parts_, known_end_, options_.path, extent);
}

void SharedFile::Impl::access(const Extent& extent, bool writes) {
  const auto pending = transfer(extent, writes);
  if (!pending) return;
  if (pending->can_run_here()) return pending->run();
  pending->start(outstanding_, service_->active()).wait();
}

DistantRequest SharedFile::Impl::start(const Extent& extent, bool writes) {
  const auto pending = transfer(extent, writes);
  if (!pending || (!writes && pending->read_cached())) return DistantRequest(base::make_owned<DistantRequest::Impl>());
  return pending->start(outstanding_, service_->active());
}

std::int64_t SharedFile::Impl::size() {
  check_open();
  std::int64_t result = 0;
  const auto request = base::make_owned<DistantRequest::Impl>(outstanding_, service_->active());
  request->start(1, 1, 1, [this, &result](std::int64_t, std::int64_t, DistantRequest::Impl::Completion done) {
    distant::shared::query_end(parts_, done.request(),
                               [&result, done](const transport::CallFailure* failure, std::int64_t end) {
                                 result = end;
                                 done(failure);
                               });
  });
  request->wait();
  known_end_.raise(result);
  return result;
}

void SharedFile::Impl::sync() {
  check_open();
  std::vector<DistantRequest> requests;
  if (one_) {
    // One rank of each node syncs, because each host caches its own writes.
    for (const int rank : syncing_ranks_) requests.push_back(parts_.file(0).start_sync(rank));
  } else {
    for (int i = 0; i < parts_.stripes().components(); ++i)
      requests.push_back(parts_.file(i).start_sync(parts_.server(i)));
  }
  wait_all(requests);
}

void SharedFile::Impl::resize(std::int64_t bytes) {
  check_not_abandoned();
  outstanding_->wait_for_all_or_interrupt();
  collective::Collective call(
      *transport_, [&] { return text("resize the shared file ", options_.path, " to ", bytes, " bytes"); },
      [&] {
        check_open();
        if (bytes < 0) reject(text("a shared file cannot have ", bytes, " bytes; pass 0 or more"));
        check_writable(bytes);
      });
  known_end_.set(0);
  call.run_phase([&] {
    if (one_) {
      if (rank_ != 0) return;
      parts_.direct(0)->resize(bytes);
      if (options_.reserve) parts_.direct(0)->reserve(bytes);
      return;
    }
    for (const int component : parts_.components_served_by(rank_)) {
      const std::int64_t length = parts_.stripes().length(component, bytes);
      parts_.direct(component)->resize(length);
      if (options_.reserve) parts_.direct(component)->reserve(length);
    }
  });
  known_end_.raise(bytes);
}

void SharedFile::Impl::fail_call(const std::string& message, int system_code) {
  check_not_abandoned();
  outstanding_->wait_for_all();
  collective::Collective::fail(*transport_, std::make_exception_ptr(core::call_error(message, system_code)));
}

void SharedFile::Impl::close() {
  check_open();
  outstanding_->wait_for_all_or_interrupt();
  const std::exception_ptr error = collective::caught([&] {
    check_not_abandoned();
    // Each rank has waited for its own accesses, so after this agreement no rank accesses the file.
    collective::Collective call(*transport_, [this] { return text("close the shared file ", options_.path); }, [] {});
    if (options_.atomic) commit(call);
  });
  watch_.end();
  discard();
  if (error) std::rethrow_exception(error);
}

void SharedFile::Impl::abandon() noexcept {
  if (!open_) return;
  watch_.end();
  // Cancel accesses to other ranks: this wait cannot be interrupted, and another rank may have stopped.
  collective::caught([this] { outstanding_->cancel_all_and_wait(); });
  outstanding_->wait_for_all();
  const Error error(ErrorKind::kSystem, text("rank ", rank_, " has abandoned the shared file ", options_.path),
                    ECANCELED);
  collective::caught([&] { core::give_up(comm_, number_, error); });
  discard();
}

void SharedFile::Impl::discard() noexcept {
  open_ = false;
  collective::caught([&] { parts_.close(); });
  new_one_.reset();
  if (!new_component_path_.empty()) {
    // Remove the description first, so that it never describes bytes that are gone.
    ::unlink((new_component_path_ + distant::shared::kDescriptionSuffix).c_str());
    ::unlink(new_component_path_.c_str());
  }
  new_component_path_.clear();
}

}  // namespace plait
