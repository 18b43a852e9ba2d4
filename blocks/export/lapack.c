/* What machine code calls of LAPACK: small systems of linear equations, column by column, by
 * Gaussian elimination with exchange of rows. */
#include <stdint.h>

#define fabs __builtin_fabs

void lapack_dgetrf(const int32_t *rows, const int32_t *columns, double *a, const int32_t *lead,
                   int32_t *pivots, int32_t *failed) {
    int32_t m = *rows, n = *columns, least = m < n ? m : n;
    int64_t l = *lead;
    *failed = 0;
    for (int32_t j = 0; j < least; j++) {
        int32_t p = j;
        for (int32_t i = j + 1; i < m; i++)
            if (fabs(a[i + j * l]) > fabs(a[p + j * l])) p = i;
        pivots[j] = p + 1;
        if (a[p + j * l] == 0.0) {
            if (!*failed) *failed = j + 1;
            continue;
        }
        for (int32_t k = 0; p != j && k < n; k++) {
            double kept = a[j + k * l];
            a[j + k * l] = a[p + k * l];
            a[p + k * l] = kept;
        }
        for (int32_t i = j + 1; i < m; i++) a[i + j * l] /= a[j + j * l];
        for (int32_t k = j + 1; k < n; k++)
            for (int32_t i = j + 1; i < m; i++) a[i + k * l] -= a[i + j * l] * a[j + k * l];
    }
}

/* With factors of a itself: no other way is asked for. */
void lapack_dgetrs(const char *way, const int32_t *size, const int32_t *sides, const double *a,
                   const int32_t *lead, const int32_t *pivots, double *b, const int32_t *lead_b,
                   int32_t *failed) {
    int32_t n = *size;
    int64_t l = *lead;
    *failed = 0;
    for (int32_t s = 0; s < *sides; s++) {
        double *x = b + s * (int64_t)*lead_b;
        for (int32_t j = 0; j < n; j++) {
            double kept = x[j];
            x[j] = x[pivots[j] - 1];
            x[pivots[j] - 1] = kept;
        }
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = j + 1; i < n; i++) x[i] -= a[i + j * l] * x[j];
        for (int32_t j = n - 1; j >= 0; j--) {
            x[j] /= a[j + j * l];
            for (int32_t i = 0; i < j; i++) x[i] -= a[i + j * l] * x[j];
        }
    }
}

void lapack_dgesv(const int32_t *size, const int32_t *sides, double *a, const int32_t *lead,
                  int32_t *pivots, double *b, const int32_t *lead_b, int32_t *failed) {
    lapack_dgetrf(size, size, a, lead, pivots, failed);
    if (!*failed) lapack_dgetrs("N", size, sides, a, lead, pivots, b, lead_b, failed);
}
