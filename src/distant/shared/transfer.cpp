// Reads and writes of a shared file, as accesses to its components.
//
// Problem: a component ends at its last written byte, so in a file with holes it may be shorter than its share of the
// file. A read must return zeros for holes, but must fail after the end of the file. Asking all components
// for their lengths before each read would be slow.
//
// Idea: each rank records a lower bound of the end (`known_end_`). A read up to that bound needs no test. For a read
// beyond it, only the batch with the last byte is "demanding": it must find all its bytes, which proves that the file
// extends that far. Only if it fails are all components asked for their lengths.
//
// Example: unit = 4, three components, and a file of which only the bytes 0 to 3 and 20 to 21 were written. The
// components have the lengths 4, 0 and 6, and the file ends at 22. A read of the bytes 0 to 21 demands byte 21, which
// is at position 5 of component 2: it is there, and all missing bytes are zeros. A read of the bytes 0 to 15 demands
// byte 15, at position 7 of component 0: it is missing. The lengths then give the end 22, so that the read is within
// the file and byte 15 is zero.

#include "distant/shared/transfer.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "base/text.hpp"
#include "base/wait/retry_allocation.hpp"
#include "collective/agree.hpp"
#include "distant/server.hpp"
#include "plait/error.hpp"

namespace plait::distant::shared {

namespace {

/// Maximum number of accesses of a request under way: enough for several disks and the network to work at once.
constexpr int kAhead = 16;
/// Maximum bytes of a direct access, which needs no buffer.
constexpr std::int64_t kMaxDirect = std::int64_t{1} << 20;

std::span<std::byte> make_span(std::byte* data, std::int64_t bytes) { return {data, static_cast<std::size_t>(bytes)}; }
std::span<const std::byte> make_span(const std::byte* data, std::int64_t bytes) {
  return {data, static_cast<std::size_t>(bytes)};
}

}  // namespace

Transfer::Transfer(const Parts& parts, KnownEnd& known, const std::string& path, const Extent& extent)
    : parts_(parts),
      known_end_(known),
      path_(path),
      extent_(extent),
      end_(extent.offset + extent.bytes),
      batches_(parts.stripes().batches(extent.offset, extent.bytes, parts.all_direct() ? kMaxDirect : kPieceBytes)),
      demanding_batch_(batches_.size()),
      unfinished_batches_(batches_.size()) {
  // Find the demanding batch of a read beyond the known end: the one with the last byte of the read.
  if (extent_.into == nullptr || end_ <= known_end_.get()) return;
  const StripeMap& stripes = parts_.stripes();
  const int component = stripes.component_at(end_ - 1);
  const std::int64_t position = stripes.position_at(end_ - 1);
  demanding_batch_ = static_cast<std::size_t>(
      std::ranges::find_if(batches_,
                           [&](const Batch& batch) {
                             return batch.component == component && batch.position + batch.bytes - 1 == position;
                           }) -
      batches_.begin());
}

bool Transfer::can_run_here() const {
  return extent_.bytes <= kMaxDirect && parts_.all_direct() && demanding_batch_ == batches_.size();
}

void Transfer::access(const LocalFile& file, const Batch& batch, bool demanding) const {
  parts_.stripes().each_part(batch, extent_.offset, [&](std::int64_t position, std::int64_t at, std::int64_t bytes) {
    if (extent_.from != nullptr) {
      file.write(position, make_span(extent_.from + at, bytes));
    } else if (demanding) {
      file.read(position, make_span(extent_.into + at, bytes));
    } else {
      file.read_part(position, make_span(extent_.into + at, bytes));
    }
  });
}

void Transfer::run() {
  for (const Batch& batch : batches_) {
    try {
      access(*parts_.direct(batch.component), batch, false);
    } catch (const Error& error) {
      with_offset(batch, {error.kind(), error.system_code(), error.what()}).raise();
    }
  }
  known_end_.raise(end_);
}

bool Transfer::read_cached() {
  if (!can_run_here()) return false;
  bool all = true;
  for (const Batch& batch : batches_) {
    const auto file = parts_.direct(batch.component);
    parts_.stripes().each_part(batch, extent_.offset, [&](std::int64_t position, std::int64_t at, std::int64_t bytes) {
      all = all && file->read_cached(position, make_span(extent_.into + at, bytes));
    });
    if (!all) return false;
  }
  return true;
}

DistantRequest Transfer::start(std::shared_ptr<OutstandingRequests> outstanding,
                               const std::shared_ptr<transport::ActiveMessages>& active) {
  const auto self = shared_from_this();
  std::weak_ptr<transport::ActiveMessages> polled;
  if (!parts_.all_direct()) polled = active;
  auto request = base::make_owned<DistantRequest::Impl>(std::move(outstanding), polled);
  request->start(
      static_cast<std::int64_t>(batches_.size()), 1, kAhead,
      [self](std::int64_t at, std::int64_t, Completion done) {
        const auto index = static_cast<std::size_t>(at);
        self->begin(index, index == self->demanding_batch_,
                    done.with([self, index, done](const transport::CallFailure* failure) {
                      self->on_batch_ended(index, failure, done);
                    }));
      },
      [self](std::int64_t at) { return self->batch_offset(self->batches_[static_cast<std::size_t>(at)]); });
  return DistantRequest(std::move(request));
}

void Transfer::begin(std::size_t index, bool demanding, Completion done) {
  const Batch& batch = batches_[index];
  if (auto file = parts_.direct(batch.component)) {
    const auto self = shared_from_this();
    return parts_.file(batch.component)
        .begin_here([self, file = std::move(file), &batch, demanding] { self->access(*file, batch, demanding); },
                    std::move(done));
  }
  begin_call(batch, demanding, std::move(done));
}

/// Sends an access in one message. If it consists of several stripes, they are gathered in, or scattered from, a
/// buffer.
void Transfer::begin_call(const Batch& batch, bool demanding, Completion done) {
  const StripeMap& stripes = parts_.stripes();
  const bool reads = extent_.into != nullptr;
  const Head head{reads ? (demanding ? RequestKind::kRead : RequestKind::kReadPart) : RequestKind::kWrite, 0,
                  batch.position, batch.bytes};
  const auto call = [&](std::span<std::byte> output, std::span<const std::byte> payload, Completion then) {
    parts_.file(batch.component).begin_call(head, parts_.server(batch.component), output, payload, std::move(then));
  };
  if (stripes.contiguous_bytes(batch.position) >= batch.bytes) {
    const std::int64_t at = batch_offset(batch) - extent_.offset;
    if (reads) return call(make_span(extent_.into + at, batch.bytes), {}, std::move(done));
    return call({}, make_span(extent_.from + at, batch.bytes), std::move(done));
  }
  const std::shared_ptr<std::byte[]> buffer(new std::byte[static_cast<std::size_t>(batch.bytes)]);
  if (!reads) {
    stripes.each_part(batch, extent_.offset, [&](std::int64_t position, std::int64_t at, std::int64_t bytes) {
      std::memcpy(&buffer[position - batch.position], extent_.from + at, static_cast<std::size_t>(bytes));
    });
    return call({}, make_span(std::as_const(buffer).get(), batch.bytes),
                done.with([buffer, done](const transport::CallFailure* failure) { done(failure); }));
  }
  call(make_span(buffer.get(), batch.bytes), {},
       done.with([self = shared_from_this(), &batch, buffer, done](const transport::CallFailure* failure) {
         if (failure == nullptr)
           self->parts_.stripes().each_part(batch, self->extent_.offset,
                                            [&](std::int64_t position, std::int64_t at, std::int64_t bytes) {
                                              std::memcpy(self->extent_.into + at, &buffer[position - batch.position],
                                                          static_cast<std::size_t>(bytes));
                                            });
         done(failure);
       }));
}

void Transfer::on_batch_ended(std::size_t index, const transport::CallFailure* failure, const Completion& done) {
  if (failure == nullptr) {
    finish_batch();
    return done(nullptr);
  }
  if (index == demanding_batch_ && failure->code == ENODATA) return ask_whether_zero(index, done);
  fail_batch(index, *failure, done);
}

void Transfer::fail_batch(std::size_t index, const transport::CallFailure& failure, const Completion& done) const {
  const transport::CallFailure all = with_offset(batches_[index], failure);
  done(&all);
}

void Transfer::finish_batch() {
  if (unfinished_batches_.fetch_sub(1) == 1) known_end_.raise(end_);
}

/// Asks for the end of the file: the component of the last byte is too short, but another one may end after that byte.
void Transfer::ask_whether_zero(std::size_t index, const Completion& done) {
  base::retry_allocation("ask where a shared file ends", [&] {
    query_end(parts_, done.request(),
              [self = shared_from_this(), index, done](const transport::CallFailure* failure, std::int64_t end) {
                failure != nullptr ? self->fail_batch(index, *failure, done) : self->read_zeros(index, end, done);
              });
  });
}

/// Reads the batch again with zeros after the end of its component, if the file, which ends at `end`, is long enough.
void Transfer::read_zeros(std::size_t index, std::int64_t end, const Completion& done) {
  known_end_.raise(end);
  if (end < end_) {
    const transport::CallFailure past = make_past_end_failure(end);
    return done(&past);
  }
  const std::exception_ptr error = collective::caught([&] {
    begin(index, false, done.with([self = shared_from_this(), index, done](const transport::CallFailure* failure) {
      if (failure != nullptr) return self->fail_batch(index, *failure, done);
      self->finish_batch();
      done(nullptr);
    }));
  });
  if (error) fail_batch(index, to_call_failure(error), done);
}

transport::CallFailure Transfer::make_past_end_failure(std::int64_t end) const {
  return base::retry_allocation("say where a shared file ends", [&] {
    return transport::CallFailure{
        ErrorKind::kSystem, ENODATA,
        base::text("cannot read ", extent_.bytes, " bytes at offset ", extent_.offset, " of the shared file ", path_,
                   ": it ends at ", end, "; read within it, or write there first")};
  });
}

transport::CallFailure Transfer::with_offset(const Batch& batch, const transport::CallFailure& failure) const {
  return base::retry_allocation("say why an access failed", [&] {
    return transport::CallFailure{
        failure.kind, failure.code,
        base::text(failure.text, " (offset ", batch_offset(batch), " of the shared file ", path_, ")")};
  });
}

}  // namespace plait::distant::shared
