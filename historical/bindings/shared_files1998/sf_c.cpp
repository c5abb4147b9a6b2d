// Shared Files for C.

#include <plait/ga/sf.h>

#include "calls.hpp"
#include "requests.hpp"

namespace ga = plait::ga;

namespace {

int create(const ga::CreateArguments& arguments, int* handle) {
  int new_handle = 0;
  // A missing pointer must not make the other ranks wait: they get the error as well.
  const int code = ga::create_file(handle == nullptr ? ga::CreateArguments{} : arguments, new_handle);
  if (handle == nullptr) return code;
  if (code == 0) *handle = new_handle;
  return code;
}

}  // namespace

extern "C" {

int SF_Create(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size, int* handle) {
  return create({fname, size_hard_limit, size_soft_limit, req_size, std::nullopt}, handle);
}

int SF_Create_suffix(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size,
                     int* handle, int suffix) {
  return create({fname, size_hard_limit, size_soft_limit, req_size, suffix}, handle);
}

int SF_Destroy(int handle) { return ga::destroy_file(handle); }
int SF_Close(int handle) { return ga::close_file(handle); }
int SF_Open(int handle) { return ga::open_file(handle); }
int SF_Rwtor(int handle) { return ga::make_read_only(handle); }
int SF_Fsync(int handle) { return ga::sync_file(handle); }

int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, const void* buffer, int* req_id) {
  if (req_id == nullptr) return ga::reject_argument("req_id is NULL; pass the address of a variable for the request");
  return ga::start_write(handle, offset, bytes, buffer, *req_id);
}

int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, void* buffer, int* req_id) {
  if (req_id == nullptr) return ga::reject_argument("req_id is NULL; pass the address of a variable for the request");
  return ga::start_read(handle, offset, bytes, buffer, *req_id);
}

int SF_Wait(int* req_id) {
  if (req_id == nullptr) return ga::reject_argument("req_id is NULL; pass the address of a request");
  const int id = *req_id;
  *req_id = ga::kNoId;
  return ga::wait(id);
}

int SF_Waitall(int* list, int num) { return ga::wait_all(list, num); }

void SF_Errmsg(int code, char* msg) {
  if (msg != nullptr) msg[ga::put_text(code, msg, SF_ERRMSG_SIZE - 1)] = '\0';
}

}  // extern "C"
