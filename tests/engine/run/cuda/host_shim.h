// Runs the text of CUDA kernels on the host. Every CUDA thread of a block is a fiber; barriers and shuffles give control
// back to the block's scheduler, which runs warp after warp, in either order.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <ucontext.h>
#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static  // blocks run one after another: one copy is all of them
#define __restrict__ __restrict
using namespace std;

struct uint3 { unsigned x, y, z; };
struct __attribute__((aligned(8))) float2 { float x, y; };
struct __attribute__((aligned(16))) float4 { float x, y, z, w; };
struct __attribute__((aligned(16))) double2 { double x, y; };
struct __attribute__((aligned(16))) longlong2 { long long x, y; };
struct __attribute__((aligned(4))) uchar4 { unsigned char x, y, z, w; };
static uint3 blockIdx, blockDim, gridDim;

// Functions of CUDA that the host lacks: the tests put SciPy's here.
#pragma GCC visibility push(default)
extern "C" {
double (*host_erfcx)(double, int), (*host_erfinv)(double, int), (*host_ndtri)(double, int);
double (*host_i0)(double, int), (*host_i1)(double, int);
}
#pragma GCC visibility pop
static inline double erfcx(double x) { return host_erfcx(x, 0); }
static inline double erfinv(double x) { return host_erfinv(x, 0); }
static inline double normcdfinv(double x) { return host_ndtri(x, 0); }
static inline double cyl_bessel_i0(double x) { return host_i0(x, 0); }
static inline double cyl_bessel_i1(double x) { return host_i1(x, 0); }
static inline float erfcx(float x) { return (float) erfcx((double) x); }
static inline float erfinv(float x) { return (float) erfinv((double) x); }
static inline float normcdfinv(float x) { return (float) normcdfinv((double) x); }
static inline float cyl_bessel_i0(float x) { return (float) cyl_bessel_i0((double) x); }
static inline float cyl_bessel_i1(float x) { return (float) cyl_bessel_i1((double) x); }

namespace host {
enum Stop { RUNNING, BLOCK, WARP, DONE };
struct Fiber { ucontext_t context; char* stack; Stop at; };
static ucontext_t scheduler;
static vector<Fiber> fibers;
static unsigned current, threads;
static void (*body)(void**);
static void** arguments;
static unsigned long long exchange[1024];
static const size_t STACK = 1 << 16;

static void enter() {
  body(arguments);
  fibers[current].at = DONE;
  swapcontext(&fibers[current].context, &scheduler);
}
static void stop(Stop why) {
  fibers[current].at = why;
  swapcontext(&fibers[current].context, &scheduler);
}
static inline uint3 thread() {
  return uint3{current % blockDim.x, current / blockDim.x % blockDim.y, current / (blockDim.x * blockDim.y)};
}
template <class T> static T shuffle(T value, unsigned lane) {
  static_assert(sizeof(T) <= 8, "a register pair");
  unsigned self = current, source = (self & ~31u) + lane;
  memcpy(&exchange[self], &value, sizeof(T));
  stop(WARP);
  T found = value;
  if (lane < 32 && source < threads) memcpy(&found, &exchange[source], sizeof(T));
  stop(WARP);
  return found;
}
static void begin(unsigned t) {
  Fiber& fiber = fibers[t];
  fiber.at = RUNNING;
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack;
  fiber.context.uc_stack.ss_size = STACK;
  fiber.context.uc_link = &scheduler;
  makecontext(&fiber.context, enter, 0);
}
static void resume(unsigned t) {
  current = t;
  fibers[t].at = RUNNING;
  swapcontext(&scheduler, &fibers[t].context);
}
static bool all_at(unsigned from, unsigned to, Stop one, Stop other) {
  for (unsigned t = from; t < to; ++t)
    if (fibers[t].at != one && fibers[t].at != other) return false;
  return true;
}
// Runs a warp until each of its threads stands at a barrier of the block or is done. False: a shuffle that only a part
// of the warp reaches.
static bool run_warp(unsigned from, unsigned to, bool backwards) {
  for (bool first = true;; first = false) {
    for (unsigned i = from; i < to; ++i) {
      unsigned t = backwards ? to - 1 - (i - from) : i;
      if (fibers[t].at == RUNNING || fibers[t].at == WARP) resume(t);
    }
    if (all_at(from, to, BLOCK, DONE)) return true;
    if (!all_at(from, to, WARP, WARP)) return false;
  }
}
// 0: done; 1: a barrier that only a part of the block reaches; 2: a shuffle that only a part of a warp reaches.
static int run_block(bool backwards) {
  for (unsigned t = 0; t < threads; ++t) begin(t);
  for (;;) {
    unsigned warps = (threads + 31) / 32;
    for (unsigned i = 0; i < warps; ++i) {
      unsigned from = 32 * (backwards ? warps - 1 - i : i), to = from + 32 < threads ? from + 32 : threads;
      if (!run_warp(from, to, backwards)) return 2;
    }
    if (all_at(0, threads, DONE, DONE)) return 0;
    if (!all_at(0, threads, BLOCK, BLOCK)) return 1;
    for (Fiber& fiber : fibers) fiber.at = RUNNING;
  }
}
}  // namespace host
#define threadIdx (host::thread())
static inline void __syncthreads() { host::stop(host::BLOCK); }
static inline void __syncwarp(unsigned = 0xffffffffu) { host::stop(host::WARP); }
template <class T> static inline T __shfl_down_sync(unsigned, T value, unsigned delta) {
  unsigned lane = host::current & 31u;
  return host::shuffle(value, lane + delta < 32 ? lane + delta : lane);
}
template <class T> static inline T __shfl_xor_sync(unsigned, T value, unsigned mask) {
  return host::shuffle(value, (host::current & 31u) ^ mask);
}
template <class T> static inline T __shfl_sync(unsigned, T value, unsigned lane) { return host::shuffle(value, lane & 31u); }

static int host_launch(void (*body)(void**), void** arguments, const unsigned* grid, const unsigned* block, int fibers,
                       int backwards) {
  gridDim = uint3{grid[0], grid[1], grid[2]};
  blockDim = uint3{block[0], block[1], block[2]};
  host::body = body;
  host::arguments = arguments;
  host::threads = block[0] * block[1] * block[2];
  int fault = 0;
  if (fibers) {
    host::fibers.resize(host::threads);
    for (auto& fiber : host::fibers) fiber.stack = (char*) malloc(host::STACK);
  }
  unsigned long long blocks = (unsigned long long) grid[0] * grid[1] * grid[2];
  for (unsigned long long i = 0; i < blocks && !fault; ++i) {
    unsigned long long b = backwards ? blocks - 1 - i : i;
    blockIdx = uint3{(unsigned) (b % grid[0]), (unsigned) (b / grid[0] % grid[1]), (unsigned) (b / grid[0] / grid[1])};
    if (fibers)
      fault = host::run_block(backwards);
    else
      for (host::current = 0; host::current < host::threads; ++host::current) body(arguments);
  }
  for (auto& fiber : host::fibers) free(fiber.stack);
  host::fibers.clear();
  return fault;
}
