// Requests of the C interface: the operations that were started and not waited for.

#include "base/errors.hpp"
#include "objects.hpp"

using namespace plait::c;

namespace {

plait_request& to_request(plait_request* request) {
  return dereference(request, "request", "the handle from a function that starts an operation");
}

std::int64_t wait(plait_request& request) {
  request.is_received = true;
  return request.wait();
}

}  // namespace

plait_status plait_request_wait(plait_request* request) {
  return guarded(request, [&] { wait(to_request(request)); });
}

plait_status plait_request_test(plait_request* request, int* done) {
  return guarded(request, [&] { output(done, "done") = to_request(request).test() ? 1 : 0; });
}

plait_status plait_request_elements(plait_request* request, int64_t* elements) {
  return guarded(request, [&] {
    plait_request& request_object = to_request(request);
    output(elements, "elements");
    if (!request_object.counts_elements)
      plait::base::throw_argument_error("the request is not of a stream; only those count elements");
    *elements = wait(request_object);
  });
}

plait_status plait_request_free(plait_request** request) {
  if (request == nullptr || *request == nullptr) return PLAIT_OK;
  plait_status status = PLAIT_OK;
  if (!(*request)->is_received) status = guarded(nullptr, [&] { wait(**request); });
  free_handle(request);
  return status;
}
