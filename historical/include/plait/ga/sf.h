/**
 * The Shared Files interface of Global Arrays, implemented by plait::SharedFile (plait/shared_file.hpp): temporary
 * files that every process reads and writes at any offset, one-sidedly (Nieplocha, Foster and Dachsel, "Distant I/O"
 * (1998), section 3).  docs/guides/global-arrays.md lists the differences.
 *
 * Programs include it as "sf.h" and are linked with plait::sf.  The processes are those of MPI_COMM_WORLD.
 * Without MPI there is only this process.
 *
 * Sizes and offsets are in bytes: whole numbers from 0 to 2^53.  All functions but SF_Errmsg return 0, or a negative
 * code or 1, whose text SF_Errmsg returns; nothing aborts.  Any number of threads may call them, except for the
 * collective ones.
 */
#ifndef PLAIT_GA_SF_H
#define PLAIT_GA_SF_H

#ifdef __cplusplus
extern "C" {
#endif

typedef double SFsize_t;

/** The maximum length of the text that SF_Errmsg writes, including the 0 at its end. */
#define SF_ERRMSG_SIZE 80

/**
 * Creates a file called `<fname>.<number>`, where the number is that of the handle, from 0 on, in the folder that fname
 * names.  If all processes see that folder as the same one, it is one file there, otherwise each process stores stripes
 * of it.  The file is empty at first and is deleted when the program ends; an existing file of that name is not
 * touched.  Collective, with the same arguments on all processes.
 *
 * size_hard_limit  no byte may be written beyond it; 0, negative, or above 2^63 - 1: no limit
 * size_soft_limit  the expected size: a warning is printed if the disks lack the space; negative: not known
 * req_size         the size of a typical request, from which the stripe size is chosen; negative: not known
 */
int SF_Create(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size, int* handle);
/** Creates a file named `<fname>.<suffix>`. */
int SF_Create_suffix(const char* fname, SFsize_t size_hard_limit, SFsize_t size_soft_limit, SFsize_t req_size,
                     int* handle, int suffix);
/** Waits for this process's requests and deletes the file.  Collective. */
int SF_Destroy(int handle);

/** Ends the access of this process until SF_Open; the file stays.  Not collective. */
int SF_Close(int handle);
/** Allows this process to read and write again. */
int SF_Open(int handle);
/** Allows this process only to read, until SF_Open. */
int SF_Rwtor(int handle);
/** Makes all writes of any process that have been waited for durable. */
int SF_Fsync(int handle);

/**
 * Starts writing or reading at an offset; the buffer must not be touched until SF_Wait.  Bytes that were never written
 * read as zero; reading past the end of the file is an error, which SF_Wait returns.  After an error `req_id` is -1.
 */
int SF_Write(int handle, SFsize_t offset, SFsize_t bytes, const void* buffer, int* req_id);
int SF_Read(int handle, SFsize_t offset, SFsize_t bytes, void* buffer, int* req_id);
/** Waits until the request is complete and sets the id to -1; the id -1 is ignored. */
int SF_Wait(int* req_id);
/** Waits for several requests; returns 1 if one of them failed. */
int SF_Waitall(int* list, int num);

/**
 * Writes at most SF_ERRMSG_SIZE bytes: the beginning of the message of the last call of this thread that returned the
 * code, or the meaning of the code.  plait_message(NULL) of plait.h returns the whole message of the last error.
 */
void SF_Errmsg(int code, char* msg);

#ifdef __cplusplus
}
#endif

#endif
