// Kernels for test_frontends_hip.py: a kind of thing that HIP programs do each. Device code only, with no header but
// the compiler's builtins, so that a plain clang makes it.

#define DEVICE __attribute__((device))
#define KERNEL(name) extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 256))) void name
#define SHARED __attribute__((shared))
#define CONSTANT __attribute__((constant, device))
#define NOINLINE __attribute__((device, noinline))
#define ITEM __builtin_amdgcn_workitem_id_x()
#define GROUP __builtin_amdgcn_workgroup_id_x()
#define SIZE __builtin_amdgcn_workgroup_size_x()
#define INDEX const int i = GROUP * SIZE + ITEM
#define RELAXED __ATOMIC_RELAXED
#define IN_GROUP __HIP_MEMORY_SCOPE_WORKGROUP
#define ON_DEVICE __HIP_MEMORY_SCOPE_AGENT

typedef unsigned u32;
typedef unsigned long long u64;
typedef long long i64;
typedef _Float16 half2 __attribute__((ext_vector_type(2)));

static DEVICE void sync() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
static DEVICE int lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }
static DEVICE float from_lane(float v, int l) {
  return __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(l << 2, __builtin_bit_cast(int, v)));
}

KERNEL(add)(const float *a, const float *b, float *c, int n) {
  for (int i = GROUP * SIZE + ITEM; i < n; i += __builtin_amdgcn_grid_size_x()) c[i] = a[i] + b[i];
}
KERNEL(block_sum)(const int *a, int *out) {
  SHARED int part[256];
  part[ITEM] = a[GROUP * 256 + ITEM];
  sync();
  for (int k = 128; k > 0; k >>= 1) {
    if (ITEM < k) part[ITEM] += part[ITEM + k];
    sync();
  }
  if (ITEM == 0) out[GROUP] = part[0];
}
KERNEL(wave_max)(const float *a, float *out) {
  INDEX;
  float v = a[i];
  for (int m = 16; m > 0; m >>= 1) v = __builtin_fmaxf(v, from_lane(v, lane() ^ m));
  out[i] = v;
}
KERNEL(row_scan)(const int *a, int *out) {
  INDEX;
  int v = a[i];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x112, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x114, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(0, v, 0x118, 0xf, 0xf, true);
  out[i] = v;
}
KERNEL(swizzled)(const int *a, int *out) {
  INDEX;
  out[i] = __builtin_amdgcn_ds_swizzle(a[i], 0x401f) + 3 * __builtin_amdgcn_ds_swizzle(a[i], 0x801b);
}
KERNEL(voted)(const int *a, u64 *out) {
  INDEX;
  out[i] = __builtin_amdgcn_ballot_w64(a[i] > 0) << (__builtin_amdgcn_wavefrontsize() == 64 ? 0 : 32 * (i / 32 % 2));
}
KERNEL(histogram)(const unsigned char *a, u32 *out, int n) {
  SHARED u32 count[256];
  count[ITEM] = 0;
  sync();
  for (int i = GROUP * SIZE + ITEM; i < n; i += __builtin_amdgcn_grid_size_x())
    __hip_atomic_fetch_add(&count[a[i]], 1u, RELAXED, IN_GROUP);
  sync();
  __hip_atomic_fetch_add(&out[ITEM], count[ITEM], RELAXED, ON_DEVICE);
}
KERNEL(matmul)(const float *a, const float *b, float *c, int n) {
  SHARED float ta[16][17], tb[16][17];
  int x = ITEM & 15, y = ITEM >> 4, row = __builtin_amdgcn_workgroup_id_y() * 16 + y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    ta[y][x] = a[row * n + k + x];
    tb[y][x] = b[(GROUP * 16 + y) * n + k + x];
    sync();
    for (int q = 0; q < 16; q++) sum += ta[y][q] * tb[x][q];
    sync();
  }
  c[row * n + GROUP * 16 + x] = sum;
}
KERNEL(packed)(const half2 *a, const half2 *b, half2 *c) {
  INDEX;
  c[i] = __builtin_elementwise_max(__builtin_elementwise_fma(a[i], b[i], a[i]), b[i]);
}
KERNEL(doubles)(const double *a, const double *b, double *c) {
  INDEX;
  c[i] = a[i] / b[i] + __builtin_sqrt(__builtin_fabs(a[i])) * 0.1;
}
KERNEL(divisions)(const i64 *a, const i64 *b, i64 *c) {
  INDEX;
  c[i] = a[i] / b[i] ^ a[i] % b[i] ^ (i64)((u32)a[i] / (u32)b[i]);
}

CONSTANT float table[8] = {1, 2, 4, 8, .5f, .25f, 3, 7};
CONSTANT const char *words[3] = {"ab", "cde", "f"};
DEVICE int counter = 40;
KERNEL(tables)(const int *a, float *out) {
  INDEX;
  int sum = 0;
  for (const char *p = words[a[i] % 3]; *p; p++) sum = sum * 31 + *p;
  int more;
  switch (a[i]) {
    case 0: more = 17; break;
    case 1: more = 31; break;
    case 2: more = -5; break;
    case 3: more = 7; break;
    case 4: more = 99; break;
    case 5: more = 1001; break;
    default: more = -1;
  }
  __hip_atomic_fetch_add(&counter, 0, RELAXED, ON_DEVICE);
  out[i] = table[a[i] & 7] * sum + more + counter;
}
KERNEL(walks)(const int *a, int *out, int n) {
  INDEX;
  int own[32];
  for (int k = 0; k < 32; k++) own[k] = a[(i + k) % n];
  int p = i & 31;
  for (int k = 0; k < 40; k++) {
    int q = own[p] & 31;
    own[p] += k;
    p = q;
  }
  out[i] = own[p] + own[p * 7 & 31];
}
KERNEL(anywhere)(const int *a, int *out) {
  SHARED int near[64];
  int own[16];
  for (int k = 0; k < 16; k++) own[k] = a[ITEM] + k;
  if (ITEM < 64) near[ITEM] = a[ITEM] * 2;
  sync();
  const int *p = a[ITEM] & 1 ? own : a[ITEM] & 2 ? near : a;
  volatile int skip = 3;
  int sum = 0;
  for (int k = 0; k < 5; k++) sum += p[skip + k];
  out[ITEM] = sum;
}
KERNEL(reversed)(const float *a, float *out) {
  extern SHARED float dynamic[];
  dynamic[ITEM] = a[GROUP * SIZE + ITEM];
  sync();
  out[GROUP * SIZE + ITEM] = dynamic[(int)SIZE - 1 - (int)ITEM];
}
KERNEL(exchanges)(int *out, double *sums, const int *a) {
  INDEX;
  __hip_atomic_fetch_max(&out[0], a[i], RELAXED, ON_DEVICE);
  __hip_atomic_fetch_xor(&out[1], a[i], RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  __hip_atomic_fetch_add(sums, (double)a[i], RELAXED, ON_DEVICE);
  int known = out[2];
  while (!__hip_atomic_compare_exchange_strong(&out[2], &known, known + 2, __ATOMIC_ACQ_REL, RELAXED, ON_DEVICE)) {}
}
KERNEL(places)(int *out) {
  int x = ITEM, y = __builtin_amdgcn_workitem_id_y(), z = __builtin_amdgcn_workitem_id_z();
  out[(z * __builtin_amdgcn_workgroup_size_y() + y) * SIZE + x] = x + 100 * y + 10000 * z;
}

NOINLINE int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
NOINLINE int plus(int x, int y) { return x + y; }
NOINLINE int minus(int x, int y) { return x - y; }
NOINLINE int times(int x, int y) { return x * y; }
typedef int (*binary)(int, int);
CONSTANT const binary operations[3] = {plus, minus, times};
KERNEL(calls)(const int *a, int *out) {
  INDEX;
  out[i] = operations[a[i] % 3](i, a[i]) + fibonacci(a[i] & 7);
}
struct Shape {
  int v;
  DEVICE virtual int area(int x) const { return x + v; }
};
struct Square : Shape {
  int w;
  DEVICE int area(int x) const override { return x * v + w; }
};
KERNEL(virtuals)(const int *a, int *out) {
  INDEX;
  Shape shape;
  Square square;
  shape.v = square.v = a[i];
  square.w = 7;
  const Shape *p = a[i] & 1 ? &square : &shape;
  asm volatile("" : "+v"(p));
  out[i] = p->area(i);
}
struct Many {
  int each[40];
  float last;
};
KERNEL(by_value)(Many many, int *out) {
  INDEX;
  out[i] = many.each[i % 40] + (int)many.last;
}
KERNEL(dynamic_stack)(const int *a, int *out) {
  INDEX;
  int m = (a[i] & 7) + 1, sum = 0, *p = (int *)__builtin_alloca(m * 4);
  for (int k = 0; k < m; k++) p[k] = k * a[i];
  for (int k = m - 1; k >= 0; k--) sum = sum * 3 + p[k];
  out[i] = sum;
}
KERNEL(gives_up)(const int *a, int *out) {
  INDEX;
  if (a[i] == 12345) __builtin_trap();
  __builtin_debugtrap();
  out[i] = a[i] + 1;
}
