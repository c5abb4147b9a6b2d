/// The header of the HDF5 library, and the functions that only some releases since 1.10.5 have.
///
/// Problem: Plait is compiled with the header of one release and loads the library of another. Example: Debian 12 has
/// the header of 1.10.8, which does not declare H5Literate2(), and h5py brings the library of 2.0, which has no
/// H5Literate(). This file therefore declares the prototypes itself. For each function that the header does declare, a
/// static_assert compares the two prototypes.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <type_traits>

#if !H5_VERSION_GE(1, 10, 5)
#error "the header of HDF5 is older than 1.10.5; install a later one (Debian: libhdf5-dev)"
#endif
#ifdef H5_NO_DEPRECATED_SYMBOLS
#error "the header of HDF5 lacks deprecated functions; install one that has them (Debian: libhdf5-dev)"
#endif

// Later headers define these names as macros for the newest version of the function.
#undef H5Literate
#undef H5Dread_chunk

namespace plait::container::hdf5 {

#if H5_VERSION_GE(1, 12, 0)
using LinkInfo = H5L_info1_t;
using ObjectInfo = H5O_info1_t;
#else
using LinkInfo = H5L_info_t;
using ObjectInfo = H5O_info_t;
#endif
/// The beginning of H5L_info2_t (1.12).
struct LinkInfo2 {
  H5L_type_t type;
};
/// A copy of H5O_info2_t (1.12).
struct ObjectInfo2 {
  unsigned long file;
  std::uint8_t token[16];  ///< the token begins with the address
  H5O_type_t type;
  unsigned references;
  std::time_t accessed, modified, changed, born;
  hsize_t attributes;
};
/// A copy of H5R_ref_t (1.12).
struct ObjectReference {
  alignas(std::int64_t) std::uint8_t bytes[64];
};
inline constexpr int kObjectReference2 = 2;  ///< H5R_OBJECT2 (1.12)
inline constexpr int kComplexClass = 11;     ///< H5T_COMPLEX (2.0)

template <typename Info>
using IterateLinks = herr_t(hid_t, H5_index_t, H5_iter_order_t, hsize_t*,
                            herr_t (*)(hid_t, const char*, const Info*, void*), void*);
template <typename Info>
using GetObjectInfo = herr_t(hid_t, Info*, unsigned);
using IterateChunks = herr_t(hid_t, hid_t, int (*)(const hsize_t*, unsigned, haddr_t, hsize_t, void*), void*);
using ReadChunk = herr_t(hid_t, hid_t, const hsize_t*, std::uint32_t*, void*);
using ReadChunk2 = herr_t(hid_t, hid_t, const hsize_t*, std::uint32_t*, void*, std::size_t*);
template <typename Reference>
using GetReferenceType = H5R_type_t(const Reference*);
template <typename Reference>
using GetReferenceFile = ssize_t(const Reference*, char*, std::size_t);
/// The argument is an H5FD_class_t, whose layout depends on the version.
using RegisterDriver = hid_t(const void*);
template <typename Reference>
using OpenReference = hid_t(Reference*, hid_t, hid_t);

/// Each pointer is null if the library has no such function.
struct VersionedFunctions {
  IterateLinks<LinkInfo>* H5Literate = nullptr;                   // until 1.10
  IterateLinks<LinkInfo2>* H5Literate2 = nullptr;                 // since 1.12.0
  GetObjectInfo<ObjectInfo>* H5Oget_info2 = nullptr;              // since 1.10.3, deprecated in 1.12.0
  GetObjectInfo<ObjectInfo2>* H5Oget_info3 = nullptr;             // since 1.12.0
  IterateChunks* H5Dchunk_iter = nullptr;                         // since 1.10.10, 1.12.3 and 1.14.0
  ReadChunk* H5Dread_chunk = nullptr;                             // until 1.14
  ReadChunk2* H5Dread_chunk2 = nullptr;                           // since 2.0.0
  GetReferenceType<ObjectReference>* H5Rget_type = nullptr;       // since 1.12.0
  GetReferenceFile<ObjectReference>* H5Rget_file_name = nullptr;  // since 1.12.0
  OpenReference<ObjectReference>* H5Ropen_object = nullptr;       // since 1.12.0
  RegisterDriver* H5FDregister = nullptr;                         // declared by another header since 1.14
};
/// Expands ONE(name) for each of these functions.
#define PLAIT_HDF5_VERSIONED_FUNCTIONS(ONE) \
  ONE(H5Literate)                           \
  ONE(H5Literate2)                          \
  ONE(H5Oget_info2)                         \
  ONE(H5Oget_info3)                         \
  ONE(H5Dchunk_iter)                        \
  ONE(H5Dread_chunk)                        \
  ONE(H5Dread_chunk2)                       \
  ONE(H5Rget_type)                          \
  ONE(H5Rget_file_name)                     \
  ONE(H5Ropen_object)                       \
  ONE(H5FDregister)

static_assert(std::is_same_v<decltype(::H5Oget_info2), GetObjectInfo<ObjectInfo>>);
#if H5_VERSION_GE(1, 12, 0)
static_assert(std::is_same_v<decltype(::H5Literate1), IterateLinks<H5L_info1_t>>);
static_assert(std::is_same_v<decltype(::H5Literate2), IterateLinks<H5L_info2_t>>);
static_assert(std::is_same_v<decltype(::H5Oget_info3), GetObjectInfo<H5O_info2_t>>);
static_assert(std::is_same_v<decltype(::H5Rget_type), GetReferenceType<H5R_ref_t>>);
static_assert(std::is_same_v<decltype(::H5Rget_file_name), GetReferenceFile<H5R_ref_t>>);
static_assert(std::is_same_v<decltype(::H5Ropen_object), OpenReference<H5R_ref_t>>);
static_assert(offsetof(H5L_info2_t, type) == offsetof(LinkInfo2, type));
static_assert(offsetof(H5O_info2_t, token) == offsetof(ObjectInfo2, token));
static_assert(sizeof(H5O_info2_t) == sizeof(ObjectInfo2) && alignof(H5O_info2_t) == alignof(ObjectInfo2));
static_assert(sizeof(H5R_ref_t) == sizeof(ObjectReference) && alignof(H5R_ref_t) == alignof(ObjectReference));
static_assert(kObjectReference2 == H5R_OBJECT2);
#else
static_assert(std::is_same_v<decltype(::H5Literate), IterateLinks<H5L_info_t>>);
#endif
#if H5_VERSION_GE(1, 14, 0) || (H5_VERSION_GE(1, 12, 3) && !H5_VERSION_GE(1, 13, 0)) || \
    (H5_VERSION_GE(1, 10, 10) && !H5_VERSION_GE(1, 11, 0))
static_assert(std::is_same_v<decltype(::H5Dchunk_iter), IterateChunks>);
#endif
#if H5_VERSION_GE(2, 0, 0)
static_assert(std::is_same_v<decltype(::H5Dread_chunk1), ReadChunk>);
static_assert(std::is_same_v<decltype(::H5Dread_chunk2), ReadChunk2>);
static_assert(kComplexClass == H5T_COMPLEX);
#else
static_assert(std::is_same_v<decltype(::H5Dread_chunk), ReadChunk>);
#endif

}  // namespace plait::container::hdf5
