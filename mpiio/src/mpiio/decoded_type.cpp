// Stores decoded datatypes as attributes.
//
// Problem: a program sets the same views and uses the same memory types again and again. Decoding a type takes several
// calls of the MPI, and a list of 100,000 blocks takes milliseconds.
//
// Idea: MPI lets a library attach an attribute to a datatype, and calls back when the program frees the type. Handles
// alone would not do, as MPIs use the handles of freed types again. Attaching an attribute takes longer than decoding a
// small type, and many programs make a type for one access, so a type gets one when its handle is seen again.
//
// Example: the third MPI_File_set_view with the type of a column takes one MPI_Type_get_attr instead of eight calls.

#include "mpiio/decoded_type.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

namespace plait::mpiio {

namespace {

using Stored = std::shared_ptr<DecodedType>;

/// Remembers handles of datatypes, but forgets one when it adds another with the same index.
class HandleTable {
 public:
  bool has(MPI_Datatype type) const { return entry(type).load(std::memory_order_acquire) == to_number(type); }
  /// Returns true if it was there.
  bool add(MPI_Datatype type) {
    const std::uintptr_t number = to_number(type);
    return entry(type).exchange(number, std::memory_order_acq_rel) == number;
  }
  void remove(MPI_Datatype type) {
    std::uintptr_t number = to_number(type);
    entry(type).compare_exchange_strong(number, 0);
  }

 private:
  static std::uintptr_t to_number(MPI_Datatype type) {
    std::uintptr_t number = 0;
    std::memcpy(&number, &type, sizeof type);
    return number;
  }
  std::atomic<std::uintptr_t>& entry(MPI_Datatype type) const {
    const std::uintptr_t number = to_number(type);
    // Handles are small numbers, or pointers whose lowest bits are 0.
    return entries_[(number ^ number >> 4 ^ number >> 10) % entries_.size()];
  }

  mutable std::array<std::atomic<std::uintptr_t>, 64> entries_{};
};

/// Types with an attribute. Others are tested before the MPI is asked for it, since it calls the handler of
/// MPI_COMM_WORLD for an invalid handle.
HandleTable stored_types;
/// Types that were decoded lately. The handle may be that of a type that was freed since.
HandleTable recent_types;

int delete_stored(MPI_Datatype type, int, void* value, void*) {
  stored_types.remove(type);
  delete static_cast<Stored*>(value);
  return MPI_SUCCESS;
}

/// Returns the key of the attribute; MPI_KEYVAL_INVALID if the MPI has none left.
int attribute_key() {
  static const int key = [] {
    int made = MPI_KEYVAL_INVALID;
    const int code = PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_stored, &made, nullptr);
    return code == MPI_SUCCESS ? made : MPI_KEYVAL_INVALID;
  }();
  return key;
}

Stored* find_stored(MPI_Datatype type) {
  void* value = nullptr;
  int is_found = 0;
  const bool is_read = PMPI_Type_get_attr(type, attribute_key(), static_cast<void*>(&value), &is_found) == MPI_SUCCESS;
  return is_read && is_found != 0 ? static_cast<Stored*>(value) : nullptr;
}

/// Attaches a decoded type to its datatype, unless another thread has done so.
void store(MPI_Datatype type, const Stored& decoded) {
  static std::mutex storing;
  const std::scoped_lock lock(storing);
  if (find_stored(type) == nullptr) {
    auto* const value = new Stored(decoded);  // of the attribute, which delete_stored() frees
    if (PMPI_Type_set_attr(type, attribute_key(), value) != MPI_SUCCESS) {
      delete value;
      return;
    }
  }
  stored_types.add(type);
}

/// True if the MPI communicates with this type. Packing no element tests that.
bool is_valid(MPI_Datatype type, MPI_Comm comm) {
  std::byte memory{};
  int position = 0;
  return PMPI_Pack(&memory, 0, type, &memory, 1, &position, comm) == MPI_SUCCESS;
}

}  // namespace

DecodedType::DecodedType(MPI_Datatype type)
    : array_(decode(type)), bytes_(data_bytes(type)), extent_bytes_(extent(type).bytes) {}

Runs DecodedType::runs(MPI_Datatype type) {
  const std::scoped_lock lock(decoding_);
  if (!has_runs_) runs_ = decode_runs(type);
  has_runs_ = true;
  return runs_;
}

std::shared_ptr<DecodedType> find_decoded(MPI_Datatype type, MPI_Comm comm) {
  if (type == MPI_DATATYPE_NULL) return nullptr;
  if (stored_types.has(type))
    if (const Stored* stored = find_stored(type)) return *stored;
  if (!is_valid(type, comm)) return nullptr;
  auto decoded = std::make_shared<DecodedType>(type);
  if (attribute_key() != MPI_KEYVAL_INVALID && recent_types.add(type)) store(type, decoded);
  return decoded;
}

}  // namespace plait::mpiio
