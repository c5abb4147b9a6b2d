/**
 * Attributes of arrays in files, in C: part of plait.h, which includes it, and describes errors, handles and collective
 * calls.
 *
 * HDF5, netCDF and Zarr keep them (docs/formats.md).  They are read in every mode; they change in mode "r+" of HDF5,
 * netCDF-4 and Zarr, all together when the file is closed.  A new file gets its attributes so: write it, close it, and
 * open it with "r+".
 */
#ifndef PLAIT_ATTRIBUTES_H
#define PLAIT_ATTRIBUTES_H

#include <stdint.h>

#include "plait/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How many attributes the array has, and the name of one of them, counted from 0; plait_text_free frees the name. */
plait_status plait_file_attributes(const plait_file* file, int* count);
plait_status plait_file_attribute_name(const plait_file* file, int number, char** name);
/** What an attribute is: `dtype` is the type of its numbers as in plait_open_options ("<f4"), "text", or "json" of what
 *  is nested or of several types; `dimensions` is 0 of a single value; `count` is how many values there are.  Outputs
 *  that are NULL are left out.
 *  PLAIT_ERROR_ARGUMENT: there is none of that name, or its value cannot be read; so of the following, too. */
plait_status plait_file_attribute_type(const plait_file* file, const char* name, char** dtype, int* dimensions,
                                       int64_t* count);
/** Its numbers, the last dimension fastest, into room for `room` of them.
 *  PLAIT_ERROR_ARGUMENT: it is no number of that kind (integers are reals as well), or there are more. */
plait_status plait_file_attribute_integers(const plait_file* file, const char* name, int64_t* values, int64_t room);
plait_status plait_file_attribute_reals(const plait_file* file, const char* name, double* values, int64_t room);
/** Its text, of a list of texts that with this number, counted from 0; or the JSON.  plait_text_free frees it. */
plait_status plait_file_attribute_text(const plait_file* file, const char* name, int64_t number, char** text);

/** Gives the array an attribute, or another value to one that it has: numbers of the type `dtype`, as many as `shape`
 *  says with the last dimension fastest; 0 dimensions are a single value.  Collective.
 *  PLAIT_ERROR_ARGUMENT: a value that the format does not keep; a format or a mode in which attributes do not change. */
plait_status plait_file_set_attribute(plait_file* file, const char* name, const char* dtype, int dimensions,
                                      const int64_t* shape, const void* values);
/** The same of a text in UTF-8. */
plait_status plait_file_set_attribute_text(plait_file* file, const char* name, const char* text);
/** Removes an attribute.  Collective.  PLAIT_ERROR_ARGUMENT: also where there is none of that name. */
plait_status plait_file_remove_attribute(plait_file* file, const char* name);

#ifdef __cplusplus
}
#endif

#endif
