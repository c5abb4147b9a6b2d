#include "transport/mpi/active/operations.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace plait::transport::mpi {

Operations::Done Operations::take(std::size_t index, const Ended& how) {
  if (std::exchange(operations_[index].moves, false)) --moving_;
  if (std::exchange(operations_[index].large, false)) --large_;
  return {std::exchange(operations_[index], {}), how};
}

void Operations::remove(std::size_t index) {
  requests_[index] = requests_.back();
  operations_[index] = std::move(operations_.back());
  requests_.pop_back();
  operations_.pop_back();
}

void Operations::make_room(std::size_t more) {
  const auto grow = [more](auto& list) {
    if (list.capacity() - list.size() < more) list.reserve(2 * list.size() + more);
  };
  grow(requests_);
  grow(operations_);
}

std::vector<Operations::Done> Operations::test() {
  if (requests_.empty()) return {};
  ended_.reserve(requests_.size());
  indices_.resize(requests_.size());
  statuses_.resize(requests_.size());
  int count = 0;
  const int code =
      MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(), statuses_.data());
  if (count == MPI_UNDEFINED || count <= 0) return {};
  std::vector<Done> result = std::exchange(ended_, {});
  for (int i = 0; i < count; ++i) {
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    const auto index = static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]);
    Ended how;
    int cancelled = 0;
    how.good = code == MPI_SUCCESS || (code == MPI_ERR_IN_STATUS && status.MPI_ERROR == MPI_SUCCESS);
    if (how.good && operations_[index].receives) {
      MPI_Test_cancelled(&status, &cancelled);
      how.good = cancelled == 0;
      if (how.good) MPI_Get_count(&status, MPI_BYTE, &how.bytes);
    }
    result.push_back(take(index, how));
  }
  std::sort(indices_.begin(), indices_.begin() + count, std::greater<>());
  for (int i = 0; i < count; ++i) remove(static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)]));
  std::erase_if(result, [](const Done& one) { return !one.operation.done; });  // given up before
  return result;
}

std::vector<Operations::Done> Operations::give_up(int peer, bool all) {
  std::vector<Done> result;
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].peer != peer || !operations_[i].done) continue;
    if (operations_[i].receives) MPI_Cancel(&requests_[i]);
    // What MPI still holds stays in the list, without anybody to tell.
    if (all || !operations_[i].receives) result.push_back(take(i, {}));
  }
  return result;
}

std::vector<Operations::Done> Operations::finish() {
  std::vector<Done> result;
  for (std::size_t i = 0; i < operations_.size(); ++i)
    if (operations_[i].receives) MPI_Cancel(&requests_[i]);
  const auto limit = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
  while (!requests_.empty() && std::chrono::steady_clock::now() < limit) {
    for (Done& one : test()) result.push_back(std::move(one));
    std::this_thread::yield();
  }
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    if (operations_[i].done) result.push_back(take(i, {}));
    MPI_Request_free(&requests_[i]);
  }
  requests_.clear();
  operations_.clear();
  return result;
}

}  // namespace plait::transport::mpi
