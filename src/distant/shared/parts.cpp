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

std::vector<int> Parts::components_at(int rank) const {
  std::vector<int> result;
  for (std::size_t i = 0; i < servers_.size(); ++i)
    if (servers_[i] == rank) result.push_back(static_cast<int>(i));
  return result;
}

void Parts::opened() {
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
  std::size_t left = 0;
  std::optional<transport::CallFailure> failure;
  EndCallback done;
};

}  // namespace

void ask_end(const Parts& parts, const void* request, EndCallback done) {
  const auto question = std::make_shared<EndQuery>();
  const int components = parts.stripes().components();
  question->lengths.resize(static_cast<std::size_t>(components));
  question->left = question->lengths.size();
  question->done = std::move(done);
  const auto answered = [question, stripes = parts.stripes()](const transport::CallFailure* failure) {
    {
      const std::scoped_lock lock(question->mutex);
      if (failure != nullptr && !question->failure)
        base::retry_allocation("keep why the end of a file is unknown", [&] { question->failure = *failure; });
      if (--question->left > 0) return;
    }
    if (question->failure) return question->done(&*question->failure, 0);
    std::int64_t end = 0;
    for (int i = 0; i < stripes.components(); ++i)
      end = std::max(end, stripes.end(i, question->lengths[static_cast<std::size_t>(i)]));
    question->done(nullptr, end);
  };
  for (int i = 0; i < components; ++i) {
    std::int64_t& length = question->lengths[static_cast<std::size_t>(i)];
    const auto file = parts.direct(i);
    const std::exception_ptr error = collective::caught([&] {
      if (file) {
        length = file->size();
      } else {
        parts.file(i).begin_call({RequestKind::kSize, 0, 0, sizeof length}, parts.server(i),
                                 std::as_writable_bytes(std::span(&length, 1)), {}, {request, answered});
      }
    });
    if (error) {  // the failure of this component alone; others may have been asked already
      const transport::CallFailure failure = to_call_failure(error);
      answered(&failure);
    } else if (file) {
      answered(nullptr);
    }
  }
}

}  // namespace plait::distant::shared
