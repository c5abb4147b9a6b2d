#include "distant/shared/parts.hpp"

#include <exception>
#include <mutex>
#include <optional>
#include <span>

#include "base/wait/retry_allocation.hpp"
#include "collective/agree.hpp"
#include "distant/server.hpp"

namespace plait::distant::shared {

Parts::Parts(const StripeMap& stripes, std::vector<int> servers) : stripes_(stripes), servers_(std::move(servers)) {
  std::vector<std::size_t> load(static_cast<std::size_t>(std::ranges::max(servers_)) + 1, 0);
  for (const int server : servers_) rounds_of_.push_back(load[static_cast<std::size_t>(server)]++);
  rounds_ = static_cast<int>(std::ranges::max(load));
}

std::vector<int> Parts::components_served_by(int rank) const {
  std::vector<int> result;
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (servers_[i] == rank) result.push_back(static_cast<int>(i));
  return result;
}

void Parts::finish_opening() {
  all_direct_ = true;
  for (int i = 0; i < stripes_.components(); ++i) all_direct_ = all_direct_ && direct(i) != nullptr;
}

void Parts::close() {
  for (const auto& round : open_) round->withdraw();
  open_.clear();
}

namespace {

struct EndQuery {
  std::mutex mutex;
  std::vector<std::int64_t> lengths;
  std::size_t unanswered = 0;
  std::optional<transport::CallFailure> failure;
  EndCallback done;
};

}  // namespace

void query_end(const Parts& parts, const void* request, EndCallback done) {
  const auto query = std::make_shared<EndQuery>();
  const int components = parts.stripes().components();
  query->lengths.resize(static_cast<std::size_t>(components));
  query->unanswered = query->lengths.size();
  query->done = std::move(done);
  const auto on_length = [query, stripes = parts.stripes()](const transport::CallFailure* failure) {
    {
      const std::scoped_lock lock(query->mutex);
      if (failure != nullptr && !query->failure)
        base::retry_allocation("record why the end of a file is unknown", [&] { query->failure = *failure; });
      if (--query->unanswered > 0) return;
    }
    if (query->failure) return query->done(&*query->failure, 0);
    std::int64_t end = 0;
    for (int i = 0; i < stripes.components(); ++i)
      end = std::max(end, stripes.end(i, query->lengths[static_cast<std::size_t>(i)]));
    query->done(nullptr, end);
  };
  for (int i = 0; i < components; ++i) {
    std::int64_t& length = query->lengths[static_cast<std::size_t>(i)];
    const auto file = parts.direct(i);
    const std::exception_ptr error = collective::caught([&] {
      if (file) {
        length = file->size();
      } else {
        parts.file(i).begin_call({RequestKind::kSize, 0, 0, sizeof length}, parts.server(i),
                                 std::as_writable_bytes(std::span(&length, 1)), {}, {request, on_length});
      }
    });
    if (error) {  // only this request failed; those to other components may already be under way
      const transport::CallFailure failure = to_call_failure(error);
      on_length(&failure);
    } else if (file) {
      on_length(nullptr);
    }
  }
}

}  // namespace plait::distant::shared
