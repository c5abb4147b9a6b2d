/// The functions of the HDF5 library that Plait calls, with the prototypes of its header.
#pragma once

#include "container/hdf5/versioned_functions.hpp"

namespace plait::container::hdf5 {

/// Functions that all releases since 1.10.5 have.
#define PLAIT_HDF5_FUNCTIONS(ONE)       \
  ONE(H5open)                           \
  ONE(H5get_libversion)                 \
  ONE(H5Eget_auto2)                     \
  ONE(H5Eset_auto2)                     \
  ONE(H5Ewalk2)                         \
  ONE(H5Fopen)                          \
  ONE(H5Fclose)                         \
  ONE(H5Fget_create_plist)              \
  ONE(H5Fget_intent)                    \
  ONE(H5Fget_vfd_handle)                \
  ONE(H5Oopen)                          \
  ONE(H5Oclose)                         \
  ONE(H5Ocopy)                          \
  ONE(H5Pset_copy_object)               \
  ONE(H5Pset_create_intermediate_group) \
  ONE(H5Iget_type)                      \
  ONE(H5Aexists)                        \
  ONE(H5Aopen)                          \
  ONE(H5Aget_type)                      \
  ONE(H5Aread)                          \
  ONE(H5Aget_space)                     \
  ONE(H5Dvlen_reclaim)                  \
  ONE(H5Rdereference2)                  \
  ONE(H5Rcreate)                        \
  ONE(H5Rget_region)                    \
  ONE(H5Iget_name)                      \
  ONE(H5Sget_simple_extent_npoints)     \
  ONE(H5Aclose)                         \
  ONE(H5Dget_space)                     \
  ONE(H5Dget_type)                      \
  ONE(H5Dget_create_plist)              \
  ONE(H5Dget_offset)                    \
  ONE(H5Dget_storage_size)              \
  ONE(H5Dread)                          \
  ONE(H5Dwrite)                         \
  ONE(H5Sclose)                         \
  ONE(H5Sget_simple_extent_type)        \
  ONE(H5Sget_simple_extent_ndims)       \
  ONE(H5Sget_simple_extent_dims)        \
  ONE(H5Tclose)                         \
  ONE(H5Tget_class)                     \
  ONE(H5Tdetect_class)                  \
  ONE(H5Tget_size)                      \
  ONE(H5Tget_order)                     \
  ONE(H5Tget_sign)                      \
  ONE(H5Tget_precision)                 \
  ONE(H5Tget_offset)                    \
  ONE(H5Tget_ebias)                     \
  ONE(H5Tget_norm)                      \
  ONE(H5Tget_fields)                    \
  ONE(H5Tget_super)                     \
  ONE(H5Tget_nmembers)                  \
  ONE(H5Tget_member_name)               \
  ONE(H5Tget_member_type)               \
  ONE(H5Tget_member_value)              \
  ONE(H5Tget_member_offset)             \
  ONE(H5Tis_variable_str)               \
  ONE(H5Tget_array_ndims)               \
  ONE(H5Tget_array_dims2)               \
  ONE(H5Tget_tag)                       \
  ONE(H5Pcreate)                        \
  ONE(H5Pclose)                         \
  ONE(H5Pset_fapl_core)                 \
  ONE(H5Pset_file_image_callbacks)      \
  ONE(H5Pset_file_image)                \
  ONE(H5Pset_elink_cb)                  \
  ONE(H5Pget_userblock)                 \
  ONE(H5Pget_sizes)                     \
  ONE(H5Pget_istore_k)                  \
  ONE(H5Pget_file_space_strategy)       \
  ONE(H5Adelete)                        \
  ONE(H5Arename)                        \
  ONE(H5Pget_layout)                    \
  ONE(H5Pget_chunk)                     \
  ONE(H5Pget_external_count)            \
  ONE(H5Pget_nfilters)                  \
  ONE(H5Pget_filter2)                   \
  ONE(H5Pfill_value_defined)            \
  ONE(H5Pget_fill_value)                \
  ONE(H5free_memory)                    \
  ONE(H5Fcreate)                        \
  ONE(H5Dcreate2)                       \
  ONE(H5Dclose)                         \
  ONE(H5Screate)                        \
  ONE(H5Screate_simple)                 \
  ONE(H5Tcopy)                          \
  ONE(H5Tcreate)                        \
  ONE(H5Tenum_create)                   \
  ONE(H5Tenum_insert)                   \
  ONE(H5Tinsert)                        \
  ONE(H5Tarray_create2)                 \
  ONE(H5Tset_tag)                       \
  ONE(H5Tset_size)                      \
  ONE(H5Tset_order)                     \
  ONE(H5Tset_sign)                      \
  ONE(H5Tset_fields)                    \
  ONE(H5Tset_precision)                 \
  ONE(H5Tset_ebias)                     \
  ONE(H5Tset_norm)                      \
  ONE(H5Tset_strpad)                    \
  ONE(H5Pset_libver_bounds)             \
  ONE(H5Pset_char_encoding)             \
  ONE(H5Aiterate2)                      \
  ONE(H5Acreate2)                       \
  ONE(H5Awrite)                         \
  ONE(H5Gcreate2)                       \
  ONE(H5Gclose)                         \
  ONE(H5Tcommit2)                       \
  ONE(H5Tvlen_create)                   \
  ONE(H5Tset_cset)                      \
  ONE(H5Tget_strpad)                    \
  ONE(H5Pset_fill_value)                \
  ONE(H5Pset_fill_time)                 \
  ONE(H5Pset_alloc_time)                \
  ONE(H5Pset_link_creation_order)       \
  ONE(H5Pset_chunk)                     \
  ONE(H5Pset_filter)                    \
  ONE(H5Pset_obj_track_times)           \
  ONE(H5Pget_chunk_opts)                \
  ONE(H5Dget_num_chunks)                \
  ONE(H5Dget_chunk_index_type)          \
  ONE(H5Dget_chunk_storage_size)        \
  ONE(H5Fget_name)                      \
  ONE(H5Dget_chunk_info)                \
  ONE(H5Dset_extent)                    \
  ONE(H5Dwrite_chunk)                   \
  ONE(H5Pset_driver)                    \
  ONE(H5Dopen2)                         \
  ONE(H5Iget_file_id)                   \
  ONE(H5PLappend)                       \
  ONE(H5Pget_external)                  \
  ONE(H5Pget_virtual_count)             \
  ONE(H5Pget_virtual_dsetname)          \
  ONE(H5Pget_virtual_filename)          \
  ONE(H5Pset_chunk_cache)               \
  ONE(H5Pset_efile_prefix)              \
  ONE(H5Sselect_hyperslab)              \
  ONE(H5Zfilter_avail)

/// Identifiers that the library creates when it is initialized.
#define PLAIT_HDF5_CONSTANTS(ONE)  \
  ONE(H5P_CLS_FILE_ACCESS_ID_g)    \
  ONE(H5P_CLS_DATASET_CREATE_ID_g) \
  ONE(H5P_CLS_DATASET_ACCESS_ID_g) \
  ONE(H5P_CLS_LINK_ACCESS_ID_g)    \
  ONE(H5P_CLS_LINK_CREATE_ID_g)    \
  ONE(H5P_CLS_FILE_CREATE_ID_g)    \
  ONE(H5P_CLS_GROUP_CREATE_ID_g)   \
  ONE(H5P_CLS_OBJECT_COPY_ID_g)    \
  ONE(H5T_STD_REF_OBJ_g)           \
  ONE(H5T_STD_I64LE_g)             \
  ONE(H5T_IEEE_F64LE_g)            \
  ONE(H5T_C_S1_g)

/// Pointers to the functions of the loaded library, under their own names.
struct Functions : VersionedFunctions {
#define PLAIT_HDF5_MEMBER(NAME) decltype(&::NAME) NAME = nullptr;
  PLAIT_HDF5_FUNCTIONS(PLAIT_HDF5_MEMBER)
#undef PLAIT_HDF5_MEMBER
#define PLAIT_HDF5_MEMBER(NAME) decltype(::NAME) NAME = -1;
  PLAIT_HDF5_CONSTANTS(PLAIT_HDF5_MEMBER)
#undef PLAIT_HDF5_MEMBER
};

// The macros H5F_ACC_RDONLY, H5F_ACC_RDWR and H5F_ACC_TRUNC call H5open(), which is not linked.
inline constexpr unsigned kReadOnly = 0;
inline constexpr unsigned kReadWrite = 1;
inline constexpr unsigned kTruncate = 2;

}  // namespace plait::container::hdf5
