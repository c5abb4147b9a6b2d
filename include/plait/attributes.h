/**
 * Attributes of arrays in files, in C: part of plait.h, which includes it, and describes errors, handles and collective
 * calls.
 *
 * HDF5, netCDF and Zarr store attributes (docs/formats.md).  They can be read in every mode.  They change in mode "r+"
 * of HDF5, netCDF-4 and Zarr, all together when the file is closed.  To give a new file attributes, write it, close it
 * and open it with "r+".
 */
#ifndef PLAIT_ATTRIBUTES_H
#define PLAIT_ATTRIBUTES_H

#include <stdint.h>

#include "plait/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The number of attributes of the array, and the name of one of them, counted from 0; plait_text_free frees the name.
 */
plait_status plait_file_attributes(const plait_file* file, int* count);
plait_status plait_file_attribute_name(const plait_file* file, int number, char** name);
/** The type of an attribute: `dtype` is the type of its numbers as in plait_open_options ("<f4"), "text", or "json" for
 *  nested values and values of several types; `dimensions` is 0 for a single value; `count` is the number of values.
 *  Outputs may be NULL.
 *  PLAIT_ERROR_ARGUMENT, here and below: no attribute has that name, or its value cannot be read. */
plait_status plait_file_attribute_type(const plait_file* file, const char* name, char** dtype, int* dimensions,
                                       int64_t* count);
/** The numbers of an attribute, the last dimension fastest; `values` has a capacity of `capacity` numbers.
 *  PLAIT_ERROR_ARGUMENT: its values are not of that kind (integers are reals as well), or there are more. */
plait_status plait_file_attribute_integers(const plait_file* file, const char* name, int64_t* values, int64_t capacity);
plait_status plait_file_attribute_reals(const plait_file* file, const char* name, double* values, int64_t capacity);
/** The text of an attribute, the text with this number (from 0) of a list, or the JSON.  plait_text_free frees it. */
plait_status plait_file_attribute_text(const plait_file* file, const char* name, int64_t number, char** text);

/** Adds an attribute to the array or replaces its value: numbers of the type `dtype` and of this shape, the last
 *  dimension fastest; 0 dimensions stand for a single value.  Collective.
 *  PLAIT_ERROR_ARGUMENT: the format cannot store the value; attributes cannot change in this format or mode. */
plait_status plait_file_set_attribute(plait_file* file, const char* name, const char* dtype, int dimensions,
                                      const int64_t* shape, const void* values);
/** Adds or replaces an attribute that is a text in UTF-8. */
plait_status plait_file_set_attribute_text(plait_file* file, const char* name, const char* text);
/** Removes an attribute.  Collective.  PLAIT_ERROR_ARGUMENT: also if no attribute has that name. */
plait_status plait_file_remove_attribute(plait_file* file, const char* name);

#ifdef __cplusplus
}
#endif

#endif
