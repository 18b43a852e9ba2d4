/* Functions of a page as glibc has them where processors fuse, to the bit but for results below
 * 1e-222: S. Nagy, Optimized routines, 2018. The sources of musl that ziglang brings are the same,
 * and have all but log. */
#include "exp_data.c"
#undef N
#include "pow_data.c"
#undef N
#include "__math_xflow.c"
#include "__math_oflow.c"
#include "__math_uflow.c"
#include "__math_invalid.c"
#include "scalbn.c"
#pragma STDC FP_CONTRACT OFF  /* fma is not to call itself */
#include "fma.c"
#pragma STDC FP_CONTRACT ON
#include "pow.c"

double exp(double x) { return x == x ? exp_inline(x, 0.0, 0) : x; }

static const double logarithms[] = {LOGARITHMS};  /* 1/c and log(c) for 128 pieces */

static double log_near_one(double r) {
    double square = r * r, cube = r * square, wide = r * 0x1p27, high = r + wide - wide;
    double low = r - high, half = high * high * -0.5, sum = r + half;
    double rest = r - sum + half + -0.5 * low * (high + r);
    return cube * (0x1.5555555555577p-2 + r * -0x1.ffffffffffdcbp-3 + square * 0x1.999999995dd0cp-3
                   + cube * (-0x1.55555556745a7p-3 + r * 0x1.24924a344de3p-3
                             + square * -0x1.fffffa4423d65p-4
                             + cube * (0x1.c7184282ad6cap-4 + r * -0x1.999eb43b068ffp-4
                                       + square * 0x1.78182f7afd085p-4
                                       + cube * -0x1.5521375d145cdp-4))) + rest + sum;
}

double log(double x) {
    if (x > 1.0 - 0x1p-4 && x < 1.0 + 0x1.09p-4) return x == 1.0 ? 0.0 : log_near_one(x - 1.0);
    if (!(x > 0.0)) return x == 0.0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    uint64_t bits = asuint64(x < 0x1p-1022 ? x * 0x1p52 : x) - (x < 0x1p-1022 ? 52ULL << 52 : 0);
    uint64_t above = bits - (0x3fe6ULL << 48);
    const double *piece = logarithms + 2 * ((above >> 45) % 128);
    double k = (double)((int64_t)above >> 52), z = asdouble(bits - (above & 0xfffULL << 52));
    double r = fma(z, piece[0], -1.0), square = r * r;
    double whole = k * 0x1.62e42fefa38p-1 + piece[1], sum = whole + r;
    double rest = whole - sum + r + k * 0x1.ef35793c7673p-45;
    return rest + square * -0x1.0000000000001p-1
        + r * square * (0x1.555555551305bp-2 + r * -0x1.fffffffeb459p-3
                        + square * (0x1.999b324f10111p-3 + r * -0x1.55575e506c89fp-3)) + sum;
}
