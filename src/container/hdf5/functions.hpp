/// What Plait calls of HDF5's library, with the prototypes of its reference manual (HDF Group, versions 1.10 to 2.x).
#pragma once

#include <cstddef>
#include <cstdint>

namespace plait::container::hdf5 {

using Id = std::int64_t;             ///< hid_t
using Size = unsigned long long;     ///< hsize_t
using Address = unsigned long long;  ///< haddr_t

inline constexpr Address kNoAddress = ~Address{0};

/// What iterations call: for each link of a group, each attribute, each chunk of a dataset, and each error of the stack.
using LinkVisitor = int(Id, const char*, const void*, void*);
using AttributeVisitor = int(Id, const char*, const void*, void*);
using ChunkVisitor = int(const Size*, unsigned, Address, Size, void*);
using ErrorVisitor = int(unsigned, const void*, void*);
/// Called before an external link is followed; below 0: it is not.
using LinkGuard = int(const char*, const char*, const char*, const char*, unsigned*, Id, void*);

/// The memory of a file image (H5FD_file_image_callbacks_t); the numbers stand for operations of the library.
struct ImageCallbacks {
  void* (*allocate)(std::size_t, int, void*);
  void* (*copy)(void*, const void*, std::size_t, int, void*);
  void* (*reallocate)(void*, std::size_t, int, void*);
  int (*free)(void*, int, void*);
  void* (*copy_data)(void*);
  int (*free_data)(void*);
  void* data;
};

// What versions before the newest do not have is in the second list: null where it is missing.
#define PLAIT_HDF5_FUNCTIONS(ONE)                                                                            \
  ONE(int, H5open, ())                                                                                       \
  ONE(int, H5get_libversion, (unsigned*, unsigned*, unsigned*))                                              \
  ONE(int, H5Eget_auto2, (Id, void**, void**))                                                               \
  ONE(int, H5Eset_auto2, (Id, void*, void*))                                                                 \
  ONE(int, H5Ewalk2, (Id, int, ErrorVisitor*, void*))                                                        \
  ONE(Id, H5Fopen, (const char*, unsigned, Id))                                                              \
  ONE(int, H5Fclose, (Id))                                                                                   \
  ONE(Id, H5Fget_create_plist, (Id))                                                                         \
  ONE(int, H5Fget_intent, (Id, unsigned*))                                                                   \
  ONE(int, H5Fget_vfd_handle, (Id, Id, void**))                                                              \
  ONE(Id, H5Oopen, (Id, const char*, Id))                                                                    \
  ONE(int, H5Oclose, (Id))                                                                                   \
  ONE(int, H5Iget_type, (Id))                                                                                \
  ONE(int, H5Aexists, (Id, const char*))                                                                     \
  ONE(Id, H5Aopen, (Id, const char*, Id))                                                                    \
  ONE(Id, H5Aget_type, (Id))                                                                                 \
  ONE(int, H5Aread, (Id, Id, void*))                                                                         \
  ONE(Id, H5Aget_space, (Id))                                                                                \
  ONE(int, H5Dvlen_reclaim, (Id, Id, Id, void*))                                                             \
  ONE(Id, H5Rdereference2, (Id, Id, int, const void*))                                                       \
  ONE(std::ptrdiff_t, H5Iget_name, (Id, char*, std::size_t))                                                 \
  ONE(long long, H5Sget_simple_extent_npoints, (Id))                                                         \
  ONE(int, H5Aclose, (Id))                                                                                   \
  ONE(Id, H5Dget_space, (Id))                                                                                \
  ONE(Id, H5Dget_type, (Id))                                                                                 \
  ONE(Id, H5Dget_create_plist, (Id))                                                                         \
  ONE(Address, H5Dget_offset, (Id))                                                                          \
  ONE(Size, H5Dget_storage_size, (Id))                                                                       \
  ONE(int, H5Dread, (Id, Id, Id, Id, Id, void*))                                                             \
  ONE(int, H5Sclose, (Id))                                                                                   \
  ONE(int, H5Sget_simple_extent_type, (Id))                                                                  \
  ONE(int, H5Sget_simple_extent_ndims, (Id))                                                                 \
  ONE(int, H5Sget_simple_extent_dims, (Id, Size*, Size*))                                                    \
  ONE(int, H5Tclose, (Id))                                                                                   \
  ONE(int, H5Tget_class, (Id))                                                                               \
  ONE(std::size_t, H5Tget_size, (Id))                                                                        \
  ONE(int, H5Tget_order, (Id))                                                                               \
  ONE(int, H5Tget_sign, (Id))                                                                                \
  ONE(std::size_t, H5Tget_precision, (Id))                                                                   \
  ONE(int, H5Tget_offset, (Id))                                                                              \
  ONE(std::size_t, H5Tget_ebias, (Id))                                                                       \
  ONE(int, H5Tget_norm, (Id))                                                                                \
  ONE(int, H5Tget_fields, (Id, std::size_t*, std::size_t*, std::size_t*, std::size_t*, std::size_t*))        \
  ONE(Id, H5Tget_super, (Id))                                                                                \
  ONE(int, H5Tget_nmembers, (Id))                                                                            \
  ONE(char*, H5Tget_member_name, (Id, unsigned))                                                             \
  ONE(Id, H5Tget_member_type, (Id, unsigned))                                                                \
  ONE(int, H5Tget_member_value, (Id, unsigned, void*))                                                       \
  ONE(std::size_t, H5Tget_member_offset, (Id, unsigned))                                                     \
  ONE(int, H5Tis_variable_str, (Id))                                                                         \
  ONE(Id, H5Pcreate, (Id))                                                                                   \
  ONE(int, H5Pclose, (Id))                                                                                   \
  ONE(int, H5Pset_fapl_core, (Id, std::size_t, bool))                                                        \
  ONE(int, H5Pset_file_image_callbacks, (Id, ImageCallbacks*))                                               \
  ONE(int, H5Pset_file_image, (Id, void*, std::size_t))                                                      \
  ONE(int, H5Pset_elink_cb, (Id, LinkGuard*, void*))                                                         \
  ONE(int, H5Pget_userblock, (Id, Size*))                                                                    \
  ONE(int, H5Pget_istore_k, (Id, unsigned*))                                                                 \
  ONE(int, H5Pget_file_space_strategy, (Id, int*, bool*, Size*))                                             \
  ONE(int, H5Adelete, (Id, const char*))                                                                     \
  ONE(int, H5Arename, (Id, const char*, const char*))                                                        \
  ONE(int, H5Pget_layout, (Id))                                                                              \
  ONE(int, H5Pget_chunk, (Id, int, Size*))                                                                   \
  ONE(int, H5Pget_external_count, (Id))                                                                      \
  ONE(int, H5Pget_nfilters, (Id))                                                                            \
  ONE(Id, H5Pget_filter2, (Id, unsigned, unsigned*, std::size_t*, unsigned*, std::size_t, char*, unsigned*)) \
  ONE(int, H5Pfill_value_defined, (Id, int*))                                                                \
  ONE(int, H5Pget_fill_value, (Id, Id, void*))                                                               \
  ONE(int, H5free_memory, (void*))                                                                           \
  ONE(Id, H5Fcreate, (const char*, unsigned, Id, Id))                                                        \
  ONE(Id, H5Dcreate2, (Id, const char*, Id, Id, Id, Id, Id))                                                 \
  ONE(int, H5Dclose, (Id))                                                                                   \
  ONE(Id, H5Screate, (int))                                                                                  \
  ONE(Id, H5Screate_simple, (int, const Size*, const Size*))                                                 \
  ONE(Id, H5Tcopy, (Id))                                                                                     \
  ONE(Id, H5Tcreate, (int, std::size_t))                                                                     \
  ONE(Id, H5Tenum_create, (Id))                                                                              \
  ONE(int, H5Tenum_insert, (Id, const char*, const void*))                                                   \
  ONE(int, H5Tinsert, (Id, const char*, std::size_t, Id))                                                    \
  ONE(int, H5Tset_size, (Id, std::size_t))                                                                   \
  ONE(int, H5Tset_order, (Id, int))                                                                          \
  ONE(int, H5Tset_sign, (Id, int))                                                                           \
  ONE(int, H5Tset_fields, (Id, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t))             \
  ONE(int, H5Tset_precision, (Id, std::size_t))                                                              \
  ONE(int, H5Tset_ebias, (Id, std::size_t))                                                                  \
  ONE(int, H5Tset_norm, (Id, int))                                                                           \
  ONE(int, H5Tset_strpad, (Id, int))                                                                         \
  ONE(int, H5Pset_libver_bounds, (Id, int, int))                                                             \
  ONE(int, H5Pset_char_encoding, (Id, int))                                                                  \
  ONE(int, H5Aiterate2, (Id, int, int, Size*, AttributeVisitor*, void*))                                     \
  ONE(Id, H5Acreate2, (Id, const char*, Id, Id, Id, Id))                                                     \
  ONE(int, H5Awrite, (Id, Id, const void*))                                                                  \
  ONE(Id, H5Gcreate2, (Id, const char*, Id, Id, Id))                                                         \
  ONE(int, H5Gclose, (Id))                                                                                   \
  ONE(int, H5Tcommit2, (Id, const char*, Id, Id, Id, Id))                                                    \
  ONE(Id, H5Tvlen_create, (Id))                                                                              \
  ONE(int, H5Tset_cset, (Id, int))                                                                           \
  ONE(int, H5Tget_strpad, (Id))                                                                              \
  ONE(int, H5Pset_fill_value, (Id, Id, const void*))                                                         \
  ONE(int, H5Pset_link_creation_order, (Id, unsigned))                                                       \
  ONE(int, H5Pset_chunk, (Id, int, const Size*))                                                             \
  ONE(int, H5Pset_filter, (Id, int, unsigned, std::size_t, const unsigned*))                                 \
  ONE(int, H5Pset_obj_track_times, (Id, bool))

#define PLAIT_HDF5_OPTIONAL_FUNCTIONS(ONE)                                             \
  ONE(int, H5Literate, (Id, int, int, Size*, LinkVisitor*, void*))                     \
  ONE(int, H5Literate2, (Id, int, int, Size*, LinkVisitor*, void*))                    \
  ONE(int, H5Oget_info2, (Id, void*, unsigned))                                        \
  ONE(int, H5Oget_info3, (Id, void*, unsigned))                                        \
  ONE(int, H5Pget_chunk_opts, (Id, unsigned*))                                         \
  ONE(int, H5Dchunk_iter, (Id, Id, ChunkVisitor*, void*))                              \
  ONE(int, H5Dget_num_chunks, (Id, Id, Size*))                                         \
  ONE(int, H5Dget_chunk_index_type, (Id, int*))                                        \
  ONE(int, H5Dget_chunk_storage_size, (Id, const Size*, Size*))                        \
  ONE(int, H5Dread_chunk, (Id, Id, const Size*, std::uint32_t*, void*))                \
  ONE(int, H5Dread_chunk2, (Id, Id, const Size*, std::uint32_t*, void*, std::size_t*)) \
  ONE(int, H5Rget_type, (const void*))                                                 \
  ONE(std::ptrdiff_t, H5Rget_file_name, (const void*, char*, std::size_t))             \
  ONE(Id, H5Ropen_object, (const void*, Id, Id))                                       \
  ONE(std::ptrdiff_t, H5Fget_name, (Id, char*, std::size_t))                           \
  ONE(int, H5Dget_chunk_info, (Id, Id, Size, Size*, unsigned*, Address*, Size*))

/// Identifiers that the library makes when it begins.
#define PLAIT_HDF5_CONSTANTS(ONE)  \
  ONE(H5P_CLS_FILE_ACCESS_ID_g)    \
  ONE(H5P_CLS_DATASET_CREATE_ID_g) \
  ONE(H5P_CLS_LINK_ACCESS_ID_g)    \
  ONE(H5P_CLS_LINK_CREATE_ID_g)    \
  ONE(H5P_CLS_FILE_CREATE_ID_g)    \
  ONE(H5P_CLS_GROUP_CREATE_ID_g)   \
  ONE(H5T_STD_REF_OBJ_g)           \
  ONE(H5T_STD_I64LE_g)             \
  ONE(H5T_IEEE_F64LE_g)            \
  ONE(H5T_C_S1_g)

struct Functions {
#define PLAIT_HDF5_MEMBER(RESULT, NAME, PARAMETERS) RESULT(*NAME) PARAMETERS = nullptr;
  PLAIT_HDF5_FUNCTIONS(PLAIT_HDF5_MEMBER)
  PLAIT_HDF5_OPTIONAL_FUNCTIONS(PLAIT_HDF5_MEMBER)
#undef PLAIT_HDF5_MEMBER
#define PLAIT_HDF5_MEMBER(NAME) Id NAME = -1;
  PLAIT_HDF5_CONSTANTS(PLAIT_HDF5_MEMBER)
#undef PLAIT_HDF5_MEMBER
};

// Values of the library's enumerations.
inline constexpr unsigned kReadOnly = 0;  // H5F_ACC_RDONLY
inline constexpr int kByName = 0;         // H5_INDEX_NAME
inline constexpr int kByCreation = 1;     // H5_INDEX_CRT_ORDER
inline constexpr int kAscending = 0;      // H5_ITER_INC
enum ObjectKind : int { kGroup = 2, kNamedType = 3, kDatasetObject = 5 };
enum LinkKind : int { kHardLink = 0, kSoftLink = 1, kExternalLink = 64 };
inline constexpr Size kUnlimited = ~Size{0};  // H5S_UNLIMITED
enum SpaceKind : int { kScalar = 0, kSimple = 1, kNull = 2 };
enum LayoutKind : int { kCompactLayout = 0, kContiguousLayout = 1, kChunkedLayout = 2, kVirtualLayout = 3 };
enum TypeClass : int {
  kInteger = 0,
  kFloat = 1,
  kTime = 2,
  kString = 3,
  kBitfield = 4,
  kOpaque = 5,
  kCompound = 6,
  kReference = 7,
  kEnum = 8,
  kVariable = 9,
  kArray = 10,
  kComplex = 11
};
enum PaddingKind : int { kNullTerminated = 0, kNullPadded = 1, kSpacePadded = 2 };
enum ByteOrder : int { kLittleEndian = 0, kBigEndian = 1, kNoOrder = 4 };
inline constexpr unsigned kDontFilterPartialChunks = 2;
/// What H5Oget_info fills is smaller than this in all versions; it begins with the number of the file (an unsigned
/// long) and the address of the object in it, 8 bytes, as the token of later versions does.
struct ObjectInfo {
  unsigned long file = 0;
  Address address = 0;
  unsigned char rest[1008] = {};
};

}  // namespace plait::container::hdf5
