/* The problems of the table in plain C: what hand-written code takes.
 *
 * An explicit Dormand-Prince pair 5(4) with the step control of Hairer, Norsett and Wanner
 * (mean of the squared errors, as they have it) and, where SUNDIALS is there, CVODE with Adams
 * and BDF. Prints one line per run: problem, size, method, seconds, evaluations, and numbers
 * of the solution.
 *
 *     baseline PROBLEM SIZE METHOD RTOL REPEATS
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef __SSE__
#include <xmmintrin.h>
#endif
#ifdef WITH_CVODE
#include <cvode/cvode.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#if SUNDIALS_VERSION_MAJOR < 7
#define SUN_COMM_NULL NULL
#endif
#endif

typedef void (*slope_t)(double t, const double *y, double *dy);

static int size;
static long evaluations;
static double coulomb = 20.0, breakaway = 25.0;
static double first; /* step of an integration; 0: to be found */
static double bridge; /* voltage of the H-bridge */

/* P2: a block dragged over Simscape's friction; y = velocity, deformation of the spring */
static void stick_slip(double t, const double *y, double *dy) {
    double u = y[0] / 0.01;
    double f = sqrt(2 * exp(1.0)) * (breakaway - coulomb) * exp(-u * u / 2) * u / sqrt(2.0) +
               coulomb * tanh(10 * u) + 10 * y[0];
    dy[0] = 1000 * y[1] - f;
    dy[1] = 0.1 - y[0];
    evaluations++;
}

/* P3: masses joined by springs and dampers; y = velocities, positions */
static void chain(double t, const double *y, double *dy) {
    const double *v = y, *x = y + size;
    double before = 1000 * x[0] + v[0];
    for (int i = 0; i < size - 1; i++) {
        double next = 1000 * (x[i + 1] - x[i]) + (v[i + 1] - v[i]);
        dy[i] = next - before;
        before = next;
    }
    dy[size - 1] = sin(10 * t) - before;
    memcpy(dy + size, v, size * sizeof(double));
    evaluations++;
}

/* The same with velocity and position of a mass beside each other, so that df/dy is a band */
static void banded_chain(double t, const double *y, double *dy) {
    double before = 1000 * y[1] + y[0];
    for (int i = 0; i < 2 * size; i += 2) {
        double next = i < 2 * size - 2 ? 1000 * (y[i + 3] - y[i + 1]) + (y[i + 2] - y[i])
                                       : sin(10 * t);
        dy[i] = next - before;
        dy[i + 1] = y[i];
        before = next;
    }
    evaluations++;
}

/* P4: the same with friction between every mass and the ground */
static void friction_chain(double t, const double *y, double *dy) {
    const double *v = y, *x = y + size;
    double before = 1000 * x[0] + v[0], root = sqrt(exp(1.0));
    for (int i = 0; i < size; i++) {
        double next = i < size - 1 ? 1000 * (x[i + 1] - x[i]) + (v[i + 1] - v[i]) : 5 * sin(10 * t);
        double u = v[i] / 0.01, f = 0.1 * v[i];
        if (u != 0) f += root * 0.005 * exp(-u * u / 2) * u + 0.02 * tanh(10 * u);
        dy[i] = next - before - f;
        before = next;
    }
    memcpy(dy + size, v, size * sizeof(double));
    evaluations++;
}

/* E4: a motor on an H-bridge, a shaft, and a load that sticks and slips */
static void motor(double t, const double *y, double *dy) {
    double s = y[3] / (sqrt(2.0) * 0.1), shaft = 10 * y[2] + 0.002 * (y[1] - y[3]);
    double friction = sqrt(2 * exp(1.0)) * 0.3 * exp(-s * s) * s + 0.7 * tanh(10 * y[3] / 0.1) +
                      0.01 * y[3];
    dy[0] = (bridge - 2 / (1 / 0.01 + 1e-8) * y[0] - y[0] - y[1]) / 1e-3;
    dy[1] = (y[0] - shaft) / 0.01;
    dy[2] = y[1] - y[3];
    dy[3] = (shaft - friction) / 0.01;
    dy[4] = y[3];
    evaluations++;
}

/* E3: a buck converter with a diode; A and b of y' = A y + b, and the voltage at the switch */
typedef struct { double a[4], b[2], per_current, offset; } linear_t;

static linear_t buck(int closed, int conducts) {
    double on = 0.3, leak = 1e-8, forward = 0.6, g = closed ? 100.0 : leak;
    double diode = conducts ? 1 / on : leak, constant = conducts ? -forward * (1 - on * leak) / on : 0;
    linear_t s = {{0}};
    s.per_current = -1 / (g + diode);
    s.offset = (g * 24 + constant) / (g + diode);
    s.a[0] = (s.per_current - 0.05) / 1e-4;
    s.a[1] = -1 / 1e-4;
    s.a[2] = 1 / 1e-4;
    s.a[3] = -1 / (5 * 1e-4);
    s.b[0] = s.offset / 1e-4;
    return s;
}

/* y after h, by the exponential of a matrix of 2 x 2 in closed form */
static void exactly(const linear_t *s, double h, const double *y, double *out) {
    const double *a = s->a;
    double det = a[0] * a[3] - a[1] * a[2], m = (a[0] + a[3]) / 2, q2 = m * m - det, c, d;
    double rest[2] = {(-a[3] * s->b[0] + a[1] * s->b[1]) / det,
                      (a[2] * s->b[0] - a[0] * s->b[1]) / det};
    if (q2 < 0) {
        double q = sqrt(-q2);
        c = exp(m * h) * cos(q * h);
        d = exp(m * h) * sin(q * h) / q;
    } else {
        double q = sqrt(q2), slow = exp(det / (m - q) * h), fast = exp((m - q) * h);
        c = (slow + fast) / 2;
        d = (slow - fast) / (2 * q);
    }
    double u = y[0] - rest[0], v = y[1] - rest[1];
    out[0] = rest[0] + c * u + d * ((a[0] - m) * u + a[1] * v);
    out[1] = rest[1] + c * v + d * (a[2] * u + (a[3] - m) * v);
}

/* Every half period exactly, mode by mode; the diode changes where its voltage passes 0.6 V */
static void buck_exactly(double *y) {
    int conducts = 0;
    for (int edge = 0; edge < 1000; edge++) {
        double left = 1e-5, z[2];
        for (int again = 0; again < 2; again++) { /* the diode changes with the switch */
            linear_t s = buck(edge % 2 == 0, conducts);
            double v = s.per_current * y[0] + s.offset;
            if ((-v > 0.6) != conducts) conducts = !conducts;
        }
        while (left > 0) {
            linear_t s = buck(edge % 2 == 0, conducts);
            exactly(&s, left, y, z);
            if ((-(s.per_current * z[0] + s.offset) > 0.6) != conducts) {
                double low = 0, high = left;
                while (high - low > 1e-19 && low < (low + high) / 2 && (low + high) / 2 < high) {
                    double middle = (low + high) / 2;
                    exactly(&s, middle, y, z);
                    if ((-(s.per_current * z[0] + s.offset) > 0.6) != conducts) high = middle;
                    else low = middle;
                }
                exactly(&s, high, y, z);
                left -= high;
                conducts = !conducts;
            } else left = 0;
            memcpy(y, z, 2 * sizeof(double));
            evaluations++;
        }
    }
}

static double norm(int n, const double *e, const double *y, const double *z, double rtol,
                   double atol) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
        double a = fabs(y[i]), b = fabs(z[i]);
        double r = e[i] / (atol + rtol * (a > b ? a : b));
        sum += r * r;
    }
    return sqrt(sum / n);
}

static int dopri(slope_t f, int n, double *y, double t, double end, double rtol, double atol) {
    double *k[7], *w = malloc(3 * n * sizeof(double)), *z = w + n, *e = w + 2 * n;
    for (int j = 0; j < 7; j++) k[j] = malloc(n * sizeof(double));
    f(t, y, k[0]);
    double d0 = norm(n, y, y, y, rtol, atol), d1 = norm(n, k[0], y, y, rtol, atol);
    double h = d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, old = 1e-4;
    for (int i = 0; i < n; i++) w[i] = y[i] + h * k[0][i];
    f(t + h, w, k[1]);
    for (int i = 0; i < n; i++) e[i] = k[1][i] - k[0][i];
    double d2 = norm(n, e, y, y, rtol, atol) / h, most = d1 > d2 ? d1 : d2;
    double other = most <= 1e-15 ? fmax(1e-6, h * 1e-3) : pow(0.01 / most, 0.2);
    h = first > 0 ? first : fmin(100 * h, other);
    int rejected = 0, steps = 0;
    while (t < end) {
        int last = t + 1.001 * h >= end;
        if (last) h = end - t;
        const double *a = k[0], *b = k[1], *c = k[2], *d = k[3], *g = k[4], *l = k[5];
        for (int i = 0; i < n; i++) w[i] = y[i] + h * (0.2 * a[i]);
        f(t + 0.2 * h, w, k[1]);
        for (int i = 0; i < n; i++) w[i] = y[i] + h * (3.0 / 40 * a[i] + 9.0 / 40 * b[i]);
        f(t + 0.3 * h, w, k[2]);
        for (int i = 0; i < n; i++)
            w[i] = y[i] + h * (44.0 / 45 * a[i] - 56.0 / 15 * b[i] + 32.0 / 9 * c[i]);
        f(t + 0.8 * h, w, k[3]);
        for (int i = 0; i < n; i++)
            w[i] = y[i] + h * (19372.0 / 6561 * a[i] - 25360.0 / 2187 * b[i] +
                               64448.0 / 6561 * c[i] - 212.0 / 729 * d[i]);
        f(t + 8.0 / 9 * h, w, k[4]);
        for (int i = 0; i < n; i++)
            w[i] = y[i] + h * (9017.0 / 3168 * a[i] - 355.0 / 33 * b[i] + 46732.0 / 5247 * c[i] +
                               49.0 / 176 * d[i] - 5103.0 / 18656 * g[i]);
        f(t + h, w, k[5]);
        for (int i = 0; i < n; i++)
            z[i] = y[i] + h * (35.0 / 384 * a[i] + 500.0 / 1113 * c[i] + 125.0 / 192 * d[i] -
                               2187.0 / 6784 * g[i] + 11.0 / 84 * l[i]);
        f(t + h, z, k[6]);
        for (int i = 0; i < n; i++)
            e[i] = h * (71.0 / 57600 * a[i] - 71.0 / 16695 * c[i] + 71.0 / 1920 * d[i] -
                        17253.0 / 339200 * g[i] + 22.0 / 525 * l[i] - 1.0 / 40 * k[6][i]);
        double error = norm(n, e, y, z, rtol, atol);
        if (error > 1) {
            h /= fmin(5.0, pow(error, 0.2) / 0.9);
            rejected = 1;
            continue;
        }
        double factor = pow(error, 0.17) / pow(old, 0.04) / 0.9;
        double next = h / fmax(0.1, fmin(5.0, factor));
        if (rejected) next = fmin(next, h);
        old = fmax(error, 1e-4);
        rejected = 0;
        t = last ? end : t + h;
        double *swap = k[0];
        k[0] = k[6];
        k[6] = swap;
        memcpy(y, z, n * sizeof(double));
        h = next;
        steps++;
    }
    for (int j = 0; j < 7; j++) free(k[j]);
    free(w);
    return steps;
}

/* Edge by edge, each interval begun with one step */
static void driven(double *y, double rtol, double atol) {
    first = 1.1e-4; /* longer than any interval: one step each */
    for (int k = 0; k < 5000; k++)
        for (int low = 0; low < 2; low++) {
            bridge = (low ? -24.0 : 24.0) * (1 / 0.01 - 1e-8) / (1 / 0.01 + 1e-8);
            double from = (k + (low ? 0.525 : 0)) * 2e-4, to = (k + (low ? 1 : 0.525)) * 2e-4;
            dopri(motor, 5, y, from, to, rtol, atol);
        }
    first = 0;
}

#ifdef WITH_CVODE
static slope_t present;

static int callback(sunrealtype t, N_Vector y, N_Vector dy, void *data) {
    present(t, N_VGetArrayPointer(y), N_VGetArrayPointer(dy));
    return 0;
}

static int cvode(slope_t f, int n, double *y, double end, double rtol, double atol, int adams) {
    SUNContext context;
    SUNContext_Create(SUN_COMM_NULL, &context);
    N_Vector v = N_VMake_Serial(n, y, context);
    void *memory = CVodeCreate(adams ? CV_ADAMS : CV_BDF, context);
    SUNMatrix matrix = NULL;
    SUNLinearSolver linear = NULL;
    SUNNonlinearSolver fixed = NULL;
    present = f;
    CVodeInit(memory, callback, 0.0, v);
    CVodeSStolerances(memory, rtol, atol);
    CVodeSetMaxNumSteps(memory, -1);
    if (adams) {
        fixed = SUNNonlinSol_FixedPoint(v, 0, context);
        CVodeSetNonlinearSolver(memory, fixed);
    } else {
        int band = f == banded_chain;
        matrix = band ? SUNBandMatrix(n, 3, 2, context) : SUNDenseMatrix(n, n, context);
        linear = band ? SUNLinSol_Band(v, matrix, context) : SUNLinSol_Dense(v, matrix, context);
        CVodeSetLinearSolver(memory, linear, matrix);
    }
    double t;
    CVodeSetStopTime(memory, end);
    int flag = CVode(memory, end, v, &t, CV_NORMAL);
    CVodeFree(&memory);
    if (fixed) SUNNonlinSolFree(fixed);
    if (linear) SUNLinSolFree(linear);
    if (matrix) SUNMatDestroy(matrix);
    N_VDestroy(v);
    SUNContext_Free(&context);
    return flag;
}
#endif

int main(int count, char **words) {
    if (count < 6) return 2;
    const char *problem = words[1], *method = words[3];
    double rtol = atof(words[4]), best = 1e300, atol = rtol / 100;
    int repeats = atoi(words[5]);
    size = atoi(words[2]);
#ifdef __SSE__
    _mm_setcsr(_mm_getcsr() | 0x8040); /* numbers below 1e-308 count as zero */
#endif
    int sweep = !strcmp(problem, "sweep"), small = sweep || !strcmp(problem, "stick_slip");
    slope_t f = small ? stick_slip : !strcmp(problem, "chain") ? chain : friction_chain;
    int switched = !strcmp(problem, "buck"), edges = !strcmp(problem, "motor");
    int banded = f == chain && !strcmp(method, "bdf");
    if (banded) f = banded_chain;
    int n = small || switched ? 2 : edges ? 5 : 2 * size;
    double end = small ? 4.0 : 2.0, *y = malloc(n * sizeof(double));
    for (int k = 0; k < repeats; k++) {
        struct timespec a, b;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        evaluations = 0;
        for (int run = 0; run < (sweep ? size : 1); run++) {
            if (sweep) {
                coulomb = 15 + 9.0 * run / (size - 1);
                breakaway = coulomb + 5;
            }
            memset(y, 0, n * sizeof(double));
            if (switched) buck_exactly(y);
            else if (edges) driven(y, rtol, atol);
            else if (!strcmp(method, "dopri5")) dopri(f, n, y, 0, end, rtol, atol);
#ifdef WITH_CVODE
            else if (cvode(f, n, y, end, rtol, atol, !strcmp(method, "adams")) < 0) return 4;
#else
            else return 3;
#endif
        }
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        double seconds = (b.tv_sec - a.tv_sec) + 1e-9 * (b.tv_nsec - a.tv_nsec);
        if (seconds < best) best = seconds;
    }
    printf("%.9g %ld", best, evaluations);
    for (int i = 0; i < n; i++)
        printf(" %.17g", y[!banded ? i : i < size ? 2 * i : 2 * (i - size) + 1]);
    printf("\n");
    return 0;
}
