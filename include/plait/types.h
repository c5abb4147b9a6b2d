/**
 * Types and constants of the whole C interface: part of plait.h, which describes it.
 */
#ifndef PLAIT_TYPES_H
#define PLAIT_TYPES_H

typedef int plait_status;
enum {
  PLAIT_OK = 0,
  PLAIT_ERROR_ARGUMENT = 1, /**< the arguments of the call are wrong */
  PLAIT_ERROR_SYSTEM = 2,   /**< a file, a disk, the network or another process failed; see plait_system_code */
  PLAIT_ERROR_MEMORY = 3    /**< out of memory */
};
/** The largest number of dimensions of an array. */
enum { PLAIT_MAX_DIMENSIONS = 32 };
/** The size of a local array in bytes is unknown, so that it is not checked. */
enum { PLAIT_UNKNOWN = -1 };

typedef struct plait_comm plait_comm;
typedef struct plait_layout plait_layout;
typedef struct plait_conversion plait_conversion;
typedef struct plait_file plait_file;
typedef struct plait_stream plait_stream;
typedef struct plait_request plait_request;
typedef struct plait_redistribution plait_redistribution;
typedef struct plait_shared plait_shared;
typedef struct plait_dio plait_dio;

#endif
