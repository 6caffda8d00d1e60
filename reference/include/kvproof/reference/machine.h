// The one place that knows which compiler reads these headers.
#pragma once

#if defined(__CUDACC__)
#define KVPROOF_HD __host__ __device__
#else
#define KVPROOF_HD
#endif
