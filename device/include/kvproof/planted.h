/* The catalogue of planted defects, which the plug-in of wrong kernels exports beside its kernels. C and C++. */
#ifndef KVPROOF_PLANTED_H
#define KVPROOF_PLANTED_H

#include "kvproof/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  KVPROOF_DEFECT_ARITHMETIC = 0,
  KVPROOF_DEFECT_ADDRESS = 1,
  KVPROOF_DEFECT_RACE = 2,
  KVPROOF_DEFECT_BATCH = 3,
  KVPROOF_DEFECT_DRIFT = 4
};

typedef struct kvproof_planted_defect {
  uint32_t size;        /* sizeof(kvproof_planted_defect) */
  uint32_t kind;        /* KVPROOF_DEFECT_* */
  const char* name;     /* of its kernels */
  const char* defect;   /* one sentence */
  const char* reenacts; /* the class of public defects, or empty */
  const char* seen_by;  /* the property that alone can see it, or empty */
  uint32_t machines;    /* set of KVPROOF_MEMORY_* */
  uint32_t by_chance;   /* set of KVPROOF_MEMORY_* where it depends on which thread comes first what a run shows of it */
} kvproof_planted_defect;

/* Kernels of the plug-in that are none of these are right, and must not be accused. */
KVPROOF_EXPORT const kvproof_planted_defect* kvproof_planted_defects(size_t* count);

#ifdef __cplusplus
}
#endif

#endif /* KVPROOF_PLANTED_H */
