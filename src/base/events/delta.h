/*
 * Encoding of one event as bytes: fields that can be predicted from earlier events are omitted. docs/formats.md
 * describes it.
 *
 * A record consists of a tag of seven bits, the fields that the tag selects, the start and the duration. Whole
 * numbers are written with seven bits a byte, lowest first; signed ones with the sign in bit 0. All arithmetic is
 * modulo 2^64.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include "base/events/events.h"

enum {
  PLAIT_TAG_SHAPE = 0x01,     /* another kind, interface or flags than the event before */
  PLAIT_TAG_FILE = 0x02,      /* another file */
  PLAIT_TAG_OFFSET = 0x04,    /* not where the file's last transfer ended */
  PLAIT_TAG_LENGTH = 0x08,    /* not as long as the file's last transfer */
  PLAIT_TAG_RESULT = 0x10,    /* fewer bytes transferred than requested */
  PLAIT_TAG_OPERATION = 0x20, /* another operation */
  PLAIT_TAG_CPU = 0x40,       /* another CPU time */
  PLAIT_TAG_CONTEXT = 0x80,   /* not an event; up to 0xdf: switch to context tag - 0x80 */
  PLAIT_TAG_CONTEXT_LAST = 0xdf,
  PLAIT_TAG_NEW = 0xe0,       /* a new context: varint process, varint thread */
  PLAIT_TAG_RENEW = 0xe1,     /* a new context that replaces the current one */
  PLAIT_TAG_SWITCH = 0xe2,    /* varint context */
  PLAIT_TAG_EXTENSION = 0xf0, /* and up: varint bytes, the bytes; readers skip them */
  PLAIT_SHAPE_KNOWN = 0x80,   /* in a shape's first byte: interface and flags of the last event of this kind */
  PLAIT_DELTA_KINDS = 64,
  PLAIT_DELTA_FILES = 64
};

/* The values that a file's last transfer predicts. */
struct plait_delta_file {
  uint64_t next;
  uint64_t length;
  uint32_t number;
  uint32_t spare;
};

/* The state of a thread within a chunk, relative to which its next event is written. */
struct plait_delta {
  uint64_t end;
  uint64_t cpu;
  uint64_t operation;
  uint32_t file;
  uint32_t kind;
  uint32_t shapes[PLAIT_DELTA_KINDS]; /* interface, flags << 8, plus 1; 0: none yet */
  struct plait_delta_file files[PLAIT_DELTA_FILES];
};

static inline void plait_delta_begin(struct plait_delta* delta, int64_t base) {
  memset(delta, 0, sizeof *delta);
  delta->end = (uint64_t)base;
  delta->cpu = ~UINT64_C(0);       /* -1, unknown: an event without a CPU time adds no field */
  delta->kind = PLAIT_DELTA_KINDS; /* no kind, so that the first event contains its own */
}

/* Returns the slot for a file's entry. An entry of another file in that slot is discarded. */
static inline struct plait_delta_file* plait_delta_entry(struct plait_delta* delta, uint32_t number) {
  struct plait_delta_file* entry = &delta->files[number % PLAIT_DELTA_FILES];
  if (entry->number != number) {
    entry->next = 0;
    entry->length = 0;
    entry->number = number;
  }
  return entry;
}

/* Updates the predictions after an event. */
static inline void plait_delta_after(struct plait_delta* delta, struct plait_delta_file* entry,
                                     const struct plait_event* event) {
  if (event->kind <= PLAIT_EVENT_WRITE) {
    const uint64_t moved = event->result > 0 ? (uint64_t)event->result : 0;
    /* After a transfer at an unknown offset, -1, the prediction for the next one is unknown as well. */
    entry->next = event->offset == -1 ? ~UINT64_C(0) : (uint64_t)event->offset + moved;
    entry->length = (uint64_t)event->length;
  } else if (event->kind == PLAIT_EVENT_SEEK && event->offset != -1) {
    entry->next = (uint64_t)event->offset;
  }
  delta->end = (uint64_t)event->start + (event->duration > 0 ? (uint64_t)event->duration : 0);
}

static inline unsigned char* plait_put_varint(unsigned char* at, uint64_t value) {
  while (value > 0x7f) {
    *at++ = (unsigned char)(value | 0x80);
    value >>= 7;
  }
  *at++ = (unsigned char)value;
  return at;
}

static inline unsigned char* plait_put_signed(unsigned char* at, uint64_t value) {
  return plait_put_varint(at, (value << 1) ^ (0 - (value >> 63)));
}

/* Writes the event at `at` and returns the end; PLAIT_TRACE_LONGEST bytes must be free. */
static inline unsigned char* plait_delta_put(struct plait_delta* delta, unsigned char* at,
                                             const struct plait_event* event, int64_t cpu) {
  unsigned char* const first = at++;
  unsigned tag = 0;
  const uint32_t kind = event->kind % PLAIT_DELTA_KINDS;
  const uint32_t shape = (event->interface | (uint32_t)event->flags << 8) + 1;
  if (kind != delta->kind || delta->shapes[kind] != shape) {
    tag |= PLAIT_TAG_SHAPE;
    if (delta->shapes[kind] == shape) {
      *at++ = (unsigned char)(kind | PLAIT_SHAPE_KNOWN);
    } else {
      *at++ = (unsigned char)kind;
      *at++ = event->interface;
      *at++ = (unsigned char)event->flags;
      *at++ = (unsigned char)(event->flags >> 8);
      delta->shapes[kind] = shape;
    }
    delta->kind = kind;
  }
  if (event->file != delta->file) {
    tag |= PLAIT_TAG_FILE;
    at = plait_put_signed(at, (uint64_t)event->file - delta->file);
    delta->file = event->file;
  }
  struct plait_delta_file* const entry = plait_delta_entry(delta, event->file);
  const int transfer = kind <= PLAIT_EVENT_WRITE;
  const uint64_t offset = (uint64_t)event->offset;
  const uint64_t length = (uint64_t)event->length;
  if (offset != (transfer ? entry->next : ~UINT64_C(0))) {
    tag |= PLAIT_TAG_OFFSET;
    at = plait_put_signed(at, offset - entry->next);
  }
  if (length != (transfer ? entry->length : 0)) {
    tag |= PLAIT_TAG_LENGTH;
    at = plait_put_signed(at, length - entry->length);
  }
  const uint64_t result = (uint64_t)event->result - (transfer ? length : 0);
  if (result != 0) {
    tag |= PLAIT_TAG_RESULT;
    at = plait_put_signed(at, result);
  }
  if (event->operation != delta->operation) {
    tag |= PLAIT_TAG_OPERATION;
    at = plait_put_signed(at, event->operation - delta->operation);
    delta->operation = event->operation;
  }
  if ((uint64_t)cpu != delta->cpu) {
    tag |= PLAIT_TAG_CPU;
    at = plait_put_signed(at, (uint64_t)cpu - delta->cpu);
    delta->cpu = (uint64_t)cpu;
  }
  at = plait_put_signed(at, (uint64_t)event->start - delta->end);
  at = plait_put_varint(at, (uint64_t)event->duration + 1); /* -1, unknown, takes one byte instead of ten */
  *first = (unsigned char)tag;
  plait_delta_after(delta, entry, event);
  return at;
}
