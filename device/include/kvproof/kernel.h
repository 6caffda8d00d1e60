/* The interface of a kernel under test, version 1. C and C++; this header is all that a plug-in needs.
 *
 * A plug-in is a shared library that exports kvproof_kernels. kvproof calls it once, checks every descriptor it returns, and
 * then calls each descriptor's store function with store calls of its own making. docs/kernel-interface.md explains the
 * fields with examples; examples/plugin is a complete plug-in.
 */
#ifndef KVPROOF_KERNEL_H
#define KVPROOF_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVPROOF_ABI_VERSION 1u

#if defined(_WIN32)
#define KVPROOF_EXPORT __declspec(dllexport)
#else
#define KVPROOF_EXPORT __attribute__((visibility("default")))
#endif

/* Page layouts. */
enum { KVPROOF_LAYOUT_FLASHMLA = 0, KVPROOF_LAYOUT_INDEXER = 1 };

/* Input element types. */
enum { KVPROOF_BF16 = 0, KVPROOF_FP16 = 1, KVPROOF_FP32 = 2 };

/* Index types. */
enum { KVPROOF_INT32 = 0, KVPROOF_INT64 = 1 };

/* FP8 types. */
enum { KVPROOF_E4M3FN = 0, KVPROOF_E4M3FNUZ = 1 };

/* A set of the values above: KVPROOF_SET(KVPROOF_BF16) | KVPROOF_SET(KVPROOF_FP32). */
#define KVPROOF_SET(value) (1u << (value))

/* Where the cache, input and index pointers of a store call point. */
enum {
  KVPROOF_MEMORY_HOST = 0, /* plain host memory; the stream is null */
  KVPROOF_MEMORY_CUDA = 1, /* CUDA device memory; the stream is a cudaStream_t */
  KVPROOF_MEMORY_OWN = 2   /* memory of the plug-in's own functions, kvproof_memory */
};

/* What a kernel promises about an index that several tokens of one call carry. */
enum {
  KVPROOF_DUPLICATES_UNIT = 0,      /* each unit (a tile's codes, its scale, the rope) is that of some contender */
  KVPROOF_DUPLICATES_ROW = 1,       /* the whole row is that of one contender */
  KVPROOF_DUPLICATES_LAST = 2,      /* the last token of the call wins */
  KVPROOF_DUPLICATES_FORBIDDEN = 3, /* the caller passes none */
  KVPROOF_DUPLICATES_BYTE = 4       /* each byte is that of some contender: writers that race may tear a unit */
};

/* What the store function returns. With the last two it says why through `message`. */
enum {
  KVPROOF_STORED = 0,
  KVPROOF_REFUSED = 1, /* the kernel cannot take these arguments, and has written nothing */
  KVPROOF_FAILED = 2   /* something broke */
};

/* One store call: `tokens` rows into a pool of `pages` pages. Strides are in bytes. */
typedef struct kvproof_store_call {
  uint32_t size;            /* sizeof(kvproof_store_call) of the caller */
  uint32_t layout;          /* KVPROOF_LAYOUT_* */
  const void* input;        /* tokens rows of 512 (FlashMLA) or 128 (indexer) elements */
  uint32_t input_type;      /* KVPROOF_BF16, KVPROOF_FP16 or KVPROOF_FP32 */
  uint32_t index_type;      /* KVPROOF_INT32 or KVPROOF_INT64 */
  int64_t tokens;           /* rows, and indices */
  int64_t input_row_stride; /* bytes from one row to the next, at least a row */
  void* cache;              /* the pool: byte 0 of page 0 */
  int64_t pages;            /* pages in the pool */
  int64_t page_stride;      /* bytes from one page to the next */
  int32_t page_size;        /* tokens a page */
  uint32_t fp8_type;        /* KVPROOF_E4M3FN or KVPROOF_E4M3FNUZ */
  const void* index;        /* tokens indices; page = index div page_size, slot = index mod page_size */
  void* stream;             /* work may be queued here; kvproof synchronizes it afterwards */
} kvproof_store_call;

/* Stores the rows of `call`. `*message` is null on entry; a refusal or failure points it at a text that stays valid until
 * the next call. */
typedef int32_t (*kvproof_store_fn)(void* state, const kvproof_store_call* call, const char** message);

/* Functions of a device that kvproof does not know. Each returns 0, or non-zero when it failed. */
typedef struct kvproof_memory {
  uint32_t size;                                                                    /* sizeof(kvproof_memory) */
  void* state;                                                                      /* handed to each function */
  int32_t (*allocate)(void* state, uint64_t bytes, void** pointer);                 /* aligned to at least 256 bytes */
  int32_t (*release)(void* state, void* pointer);                                   /* what allocate returned */
  int32_t (*copy_in)(void* state, void* device, const void* host, uint64_t bytes);  /* host to device */
  int32_t (*copy_out)(void* state, void* host, const void* device, uint64_t bytes); /* device to host */
  int32_t (*synchronize)(void* state);                                              /* waits for all queued work */
} kvproof_memory;

/* A dialect field by field, for a kernel that speaks none of the named ones. The values are those of docs/dialects.md, in
 * the order given there. */
typedef struct kvproof_dialect {
  uint32_t size;           /* sizeof(kvproof_dialect) */
  uint32_t floor;          /* 0 none, 1 on amax, 2 on the ratio */
  uint32_t floor_bits;     /* the floor as binary32 bits */
  uint32_t ratio;          /* 0 fl(a / M), 1 fl(a * fl(1 / M)) */
  uint32_t scale;          /* 0 UE8M0 byte, 1 fp32, 2 fp32 rounded up to a power of two */
  uint32_t quantise;       /* 0 x * 2^-e, 1 fl(x * fl(1 / s)), 2 fl(x / s), 3 fl(x * fl(M / a)) */
  uint32_t fnuz_limit;     /* M for e4m3fnuz: 240 or 224 */
  uint32_t pad;            /* 0 kept, 1 written 0 */
  uint32_t invalid_index;  /* 0 precondition, 1 unguarded, 2 == -1, 3 < 0, 4 <= 0, 5 outside the pool, 6 trap */
  uint32_t division;       /* 0 floor, 1 truncate */
  uint32_t index_width;    /* 0 64 bits, 1 int32, 2 uint32 */
  uint32_t offset_width;   /* 0 64 bits, 1 int32, 2 uint32 */
  uint32_t nan_code;       /* 0 unstated, 1 the NaN code, 2 +M, 3 -M, 4 scrubbed to 0 */
  uint32_t infinity;       /* 0 unstated, 1 as the largest bf16, 2 inverse -inf, 3 inverse 0 and byte 126 */
  uint32_t reciprocal_ulp; /* declared error of fl(1 / s) in ulp; 0 is correctly rounded */
} kvproof_dialect;

/* One kernel in one dialect. A kernel that speaks several dialects, or lives in several memories, has a descriptor each, all
 * of the same name. */
typedef struct kvproof_kernel {
  uint32_t size;                 /* sizeof(kvproof_kernel) */
  uint32_t layouts;              /* set of KVPROOF_LAYOUT_* */
  const char* name;              /* letters, digits, '-', '_' and '.' */
  const char* dialect;           /* a name from docs/dialects.md, or null when `fields` says it */
  const kvproof_dialect* fields; /* null when `dialect` names one; for one layout only */
  uint32_t input_types;          /* set of KVPROOF_BF16, KVPROOF_FP16, KVPROOF_FP32 */
  uint32_t index_types;          /* set of KVPROOF_INT32, KVPROOF_INT64 */
  uint32_t fp8_types;            /* set of KVPROOF_E4M3FN, KVPROOF_E4M3FNUZ */
  uint32_t duplicates;           /* KVPROOF_DUPLICATES_* */
  const int32_t* page_sizes;     /* the page sizes it takes; null with a count of 0: any */
  uint64_t page_size_count;
  uint32_t memory;                  /* KVPROOF_MEMORY_* */
  uint32_t reserved;                /* 0 */
  const kvproof_memory* own_memory; /* with KVPROOF_MEMORY_OWN, else null */
  kvproof_store_fn store;
  void* state; /* handed to store */
} kvproof_kernel;

/* What a plug-in exports. `abi_version` is the caller's KVPROOF_ABI_VERSION; a plug-in that does not speak it returns null.
 * `*count` receives the number of descriptors; the array stays valid until the library is closed. */
typedef const kvproof_kernel* (*kvproof_kernels_fn)(uint32_t abi_version, size_t* count);

KVPROOF_EXPORT const kvproof_kernel* kvproof_kernels(uint32_t abi_version, size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* KVPROOF_KERNEL_H */
