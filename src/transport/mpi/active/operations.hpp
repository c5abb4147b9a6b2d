/// The operations of MPI that are under way for active messages.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace plait::transport::mpi {

/// How one has ended.
struct Ended {
  bool good = false;  ///< neither cancelled nor failed
  int bytes = 0;      ///< of a receive
};

struct Operation {
  std::function<void(const Ended&)> done;
  int peer = -1;            ///< -1: any
  bool receives = false;    ///< what may be cancelled
  bool on_handler = false;  ///< `done` is to be called on the handler thread
  bool moves = false;       ///< the peer works on it: looking for it soon is worthwhile
  bool large = false;       ///< MPI may move it only while both sides look
};

/// Not locked: the owner does.
class Operations {
 public:
  struct Done {
    Operation operation;
    Ended how;
  };

  /// Makes room for so many more, which then need no memory.
  void make_room(std::size_t more);
  /// Adds one that `post(MPI_Request*)` begins.  Returns false, and adds nothing, where MPI fails.
  /// errors  std::bad_alloc: nothing has begun.
  template <typename Post>
  bool add(Post&& post, Operation operation) {
    make_room(1);
    MPI_Request request = MPI_REQUEST_NULL;
    if (post(&request) != MPI_SUCCESS) return false;
    if (operation.moves) ++moving_;
    if (operation.large) ++large_;
    requests_.push_back(request);
    operations_.push_back(std::move(operation));
    return true;
  }
  /// Takes those out that have ended.  errors  std::bad_alloc: all are still there.
  std::vector<Done> test();
  /// Gives those with a peer up: receives are cancelled, and end by and by; with `all` they end now, as sends always
  /// do.
  std::vector<Done> give_up(int peer, bool all);
  /// Ends everything: MPI forgets what it has not done within a tenth of a second.
  std::vector<Done> finish();
  bool empty() const { return requests_.empty(); }
  /// Whether a peer is at work on some of them.
  bool moving() const { return moving_ > 0; }
  /// Whether some are large.
  bool large() const { return large_ > 0; }

 private:
  Done take(std::size_t index, const Ended& how);
  void remove(std::size_t index);

  std::vector<MPI_Request> requests_;
  std::vector<Operation> operations_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Done> ended_;  // room for what test() gives
  int moving_ = 0;
  int large_ = 0;
};

}  // namespace plait::transport::mpi
