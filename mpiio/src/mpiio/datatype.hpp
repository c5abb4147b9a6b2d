/// Datatypes of MPI that are arrays, or parts of arrays, of elements without holes.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "plait/layout.hpp"

namespace plait::mpiio {

class Contents;

/// Contiguous bytes, whose extent is their number, so that repetitions have no holes.
struct Dense {
  std::int64_t bytes = 0;
};

/// The arguments of MPI_Type_create_darray.
struct Darray {
  int ranks = 0;
  int rank = 0;
  Extents shape;
  std::vector<int> kinds;      ///< MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC or MPI_DISTRIBUTE_NONE
  std::vector<int> arguments;  ///< block sizes, or MPI_DISTRIBUTE_DFLT_DARG
  Extents grid;
  Order order = Order::kC;
  std::int64_t element_bytes = 0;
};

/// The arguments of MPI_Type_create_subarray.
struct Subarray {
  Extents shape;
  Extents sizes;
  Extents starts;
  Order order = Order::kC;
  std::int64_t element_bytes = 0;
};

/// Blocks of bytes at regular distances, such as those of MPI_Type_vector, and such blocks at larger distances.
struct Strided {
  struct Level {
    std::int64_t count = 0;
    std::int64_t stride = 0;  ///< bytes from one block to the next, a multiple of the next level's
  };
  std::int64_t begin = 0;     ///< offset of the first block in bytes
  std::int64_t block = 0;     ///< bytes of each block
  std::vector<Level> levels;  ///< the largest distances first; none for one block with a gap after it
};

/// std::monostate: any other datatype.
using ArrayDatatype = std::variant<std::monostate, Dense, Darray, Subarray, Strided>;

/// Decodes a datatype by the calls that made it.
/// cost  Proportional to the arguments of these calls, such as the offsets of a list; not to the pieces of an array.
ArrayDatatype decode(MPI_Datatype type);
/// contents  of the type
ArrayDatatype decode(MPI_Datatype type, const Contents& contents);

/// Returns the arguments of a subarray or darray, without the bytes of its elements; nothing if they are incomplete.
std::optional<Subarray> read_subarray(const Contents& contents);
std::optional<Darray> read_darray(const Contents& contents);

/// True for a type that the MPI defines, which has no arguments and must not be freed.
bool is_predefined(MPI_Datatype type);

/// Returns the bytes of a datatype's data; -1 if they are unknown.
std::int64_t data_bytes(MPI_Datatype type);

/// The distance from one instance of a datatype to the next.
struct TypeExtent {
  std::int64_t begin = 0;
  std::int64_t bytes = 0;
};
TypeExtent extent(MPI_Datatype type);

}  // namespace plait::mpiio
