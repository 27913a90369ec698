/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenCL C that kernels and formulas call, as a driver's own header declares them.
 *
 * OWN_FUNCTIONS    the driver has been told to leave its header out, which declares ten thousand
 * and takes several times as long to read as most kernels; this text comes first then */
#ifdef OWN_FUNCTIONS

#define OVERLOADED __attribute__((overloadable))
#define CONSTANT OVERLOADED __attribute__((const))
#define PURE OVERLOADED __attribute__((pure))
#define CONVERGENT OVERLOADED __attribute__((convergent))

#define EACH_VECTOR(declare, name, type) \
  declare(name, type, 4) declare(name, type, 8) declare(name, type, 16)
#define EACH(declare, name, type) declare(name, type, ) EACH_VECTOR(declare, name, type)
#define EACH_INTEGER(declare, name) \
  EACH(declare, name, int)          \
  EACH(declare, name, uint) EACH(declare, name, long) EACH(declare, name, ulong)
#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#define EACH_REAL(declare, name) EACH(declare, name, float) EACH(declare, name, double)
#else
#define EACH_REAL(declare, name) EACH(declare, name, float)
#endif

#define OF_AXIS(name) size_t CONSTANT name(uint);
OF_AXIS(get_global_id)
OF_AXIS(get_global_size)
OF_AXIS(get_group_id)
OF_AXIS(get_local_id)
OF_AXIS(get_local_size)
OF_AXIS(get_num_groups)
void CONVERGENT barrier(cl_mem_fence_flags);
uint OVERLOADED atomic_inc(volatile __local uint*);
uint OVERLOADED atomic_inc(volatile __global uint*);
int OVERLOADED atomic_max(volatile __global int*, int);
uint OVERLOADED atomic_or(volatile __local uint*, uint);
uint OVERLOADED atomic_cmpxchg(volatile __global uint*, uint, uint);
void OVERLOADED mem_fence(cl_mem_fence_flags);
ulong CONSTANT clz(ulong);

#define OF_ONE(name, type, lanes) type##lanes CONSTANT name(type##lanes);
#define OF_TWO(name, type, lanes) type##lanes CONSTANT name(type##lanes, type##lanes);
#define OF_THREE(name, type, lanes) \
  type##lanes CONSTANT name(type##lanes, type##lanes, type##lanes);
EACH_REAL(OF_ONE, acos)
EACH_REAL(OF_ONE, acosh)
EACH_REAL(OF_ONE, asin)
EACH_REAL(OF_ONE, asinh)
EACH_REAL(OF_ONE, atan)
EACH_REAL(OF_ONE, atanh)
EACH_REAL(OF_ONE, cbrt)
EACH_REAL(OF_ONE, ceil)
EACH_REAL(OF_ONE, cos)
EACH_REAL(OF_ONE, cosh)
EACH_REAL(OF_ONE, exp)
EACH_REAL(OF_ONE, exp2)
EACH_REAL(OF_ONE, expm1)
EACH_REAL(OF_ONE, fabs)
EACH_REAL(OF_ONE, floor)
EACH_REAL(OF_ONE, log)
EACH_REAL(OF_ONE, log10)
EACH_REAL(OF_ONE, log1p)
EACH_REAL(OF_ONE, log2)
EACH_REAL(OF_ONE, rint)
EACH_REAL(OF_ONE, sin)
EACH_REAL(OF_ONE, sinh)
EACH_REAL(OF_ONE, sqrt)
EACH_REAL(OF_ONE, tan)
EACH_REAL(OF_ONE, tanh)
EACH_REAL(OF_ONE, trunc)
EACH_REAL(OF_TWO, atan2)
EACH_REAL(OF_TWO, copysign)
EACH_REAL(OF_TWO, fmax)
EACH_REAL(OF_TWO, fmin)
EACH_REAL(OF_TWO, fmod)
EACH_REAL(OF_TWO, hypot)
EACH_REAL(OF_TWO, max)
EACH_REAL(OF_TWO, min)
EACH_REAL(OF_TWO, pow)
EACH_REAL(OF_THREE, clamp)
EACH_REAL(OF_THREE, fma)
EACH_INTEGER(OF_TWO, max)
EACH_INTEGER(OF_TWO, min)
EACH_INTEGER(OF_THREE, clamp)

#define TRUTH(name, type, lanes) int CONSTANT name(type##lanes);
EACH(TRUTH, any, int)
EACH(TRUTH, any, long)

#define CONVERSION(to, from, lanes) to##lanes CONSTANT convert_##to##lanes(from##lanes);
#define CONVERSIONS(from)             \
  EACH_VECTOR(CONVERSION, int, from)  \
  EACH_VECTOR(CONVERSION, long, from) \
  EACH_VECTOR(CONVERSION, float, from)
CONVERSIONS(int)
CONVERSIONS(long)
CONVERSIONS(float)
#ifdef cl_khr_fp64
CONVERSIONS(double)
EACH_VECTOR(CONVERSION, double, int)
EACH_VECTOR(CONVERSION, double, long)
EACH_VECTOR(CONVERSION, double, float)
EACH_VECTOR(CONVERSION, double, double)
#endif

#define LOAD(name, type, lanes) type##lanes PURE vload_half##lanes(size_t, __global const half*);
#define STORE(name, type, lanes) \
  void OVERLOADED vstore_half##lanes##_rte(type##lanes, size_t, __global half*);
EACH(LOAD, half, float)
EACH_REAL(STORE, half)

#ifdef __IMAGE_SUPPORT__
float4 PURE read_imagef(read_only image3d_t, sampler_t, int4);
#endif

#undef OVERLOADED
#undef CONSTANT
#undef PURE
#undef CONVERGENT
#undef EACH_VECTOR
#undef EACH
#undef EACH_INTEGER
#undef EACH_REAL
#undef OF_AXIS
#undef OF_ONE
#undef OF_TWO
#undef OF_THREE
#undef TRUTH
#undef CONVERSION
#undef CONVERSIONS
#undef LOAD
#undef STORE

#endif
