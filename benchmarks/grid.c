/* E8: IDA of SUNDIALS with KLU on the grid of resistors, capacitors and exponential diodes.

   cc -O3 -march=native grid.c -lsundials_ida -lsundials_nvecserial -lsundials_sunmatrixsparse
      -lsundials_sunlinsolklu -lm;   grid grid N RTOL REPEATS
   prints seconds, steps and the voltages that are compared. Newton's matrix is written by hand. */
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

#define G 0.01
#define C 1e-9
#define DIODES 50
static int n, side, diode[DIODES], *is_diode;
static sunindextype *start, *row;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

static int degree(int k) {
  int i = k / side, j = k % side;
  return (i > 0) + (i + 1 < side) + 1 + (j + 1 < side); /* to the left stands a node or a feed */
}

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector out, void *data) {
  const double *v = N_VGetArrayPointer(y), *d = N_VGetArrayPointer(yp);
  double *r = N_VGetArrayPointer(out), source = 5 * sin(2 * M_PI * 1000 * t);
  (void)data;
  for (int i = 0, k = 0; i < side; i++)
    for (int j = 0; j < side; j++, k++) {
      double sum = (j ? v[k - 1] : source) - v[k];
      if (j + 1 < side) sum += v[k + 1] - v[k];
      if (i) sum += v[k - side] - v[k];
      if (i + 1 < side) sum += v[k + side] - v[k];
      r[k] = G * sum - ((i + j) % 2 == 0 ? C * d[k] : 0);
    }
  for (int k = 0; k < DIODES; k++) r[diode[k]] -= 1e-12 * expm1(v[diode[k]] / 0.025);
  return 0;
}

static int matrix(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix a,
                  void *data, N_Vector t1, N_Vector t2, N_Vector t3) {
  const double *v = N_VGetArrayPointer(y);
  double *entry = SUNSparseMatrix_Data(a);
  (void)t, (void)yp, (void)r, (void)data, (void)t1, (void)t2, (void)t3;
  memcpy(SUNSparseMatrix_IndexPointers(a), start, (n + 1) * sizeof *start);
  memcpy(SUNSparseMatrix_IndexValues(a), row, start[n] * sizeof *row);
  for (int k = 0; k < n; k++)
    for (sunindextype e = start[k]; e < start[k + 1]; e++)
      entry[e] = row[e] != k ? G
        : -G * degree(k) - ((k / side + k % side) % 2 == 0 ? C * cj : 0)
          - (is_diode[k] ? 4e-11 * exp(v[k] / 0.025) : 0);
  return 0;
}

static void pattern(void) {
  int entries = 0, i = 0;
  start = malloc((n + 1) * sizeof *start), row = malloc(5 * n * sizeof *row);
  is_diode = calloc(n, sizeof *is_diode);
  for (int k = 0; k < n; k++) {
    start[k] = entries;
    if (k >= side) row[entries++] = k - side;
    if (k % side) row[entries++] = k - 1;
    row[entries++] = k;
    if ((k + 1) % side) row[entries++] = k + 1;
    if (k + side < n) row[entries++] = k + side;
  }
  start[n] = entries;
  for (int d = 0; d < DIODES; d++) {
    do i = (i + 1999) % n;
    while ((i / side + i % side) % 2 == 0 || is_diode[i]);
    is_diode[diode[d] = i] = 1;
  }
}

int main(int count, char **word) {
  double best = 1e300, rtol, *v;
  long steps = 0;
  N_Vector y = NULL;
  SUNContext context;
  if (count < 5) return 1;
  side = atoi(word[2]), n = side * side, rtol = atof(word[3]);
  pattern();
  SUNContext_Create(NULL, &context);
  for (int repeat = 0; repeat < atoi(word[4]); repeat++) {
    double began = seconds(), t = 0;
    N_Vector id = N_VNew_Serial(n, context), yp = N_VNew_Serial(n, context);
    y = N_VNew_Serial(n, context), v = N_VGetArrayPointer(y);
    N_VConst(0, y), N_VConst(0, yp);
    for (int k = 0; k < n; k++) N_VGetArrayPointer(id)[k] = (k / side + k % side) % 2 == 0;
    void *ida = IDACreate(context);
    SUNMatrix a = SUNSparseMatrix(n, n, start[n], CSC_MAT, context);
    SUNLinearSolver solver = SUNLinSol_KLU(y, a, context);
    SUNLinSol_KLUSetOrdering(solver, 0); /* AMD */
    IDAInit(ida, residual, 0, y, yp);
    IDASStolerances(ida, rtol, 0.01 * rtol * 5);
    IDASetLinearSolver(ida, solver, a), IDASetJacFn(ida, matrix), IDASetId(ida, id);
    IDASetMaxNumSteps(ida, 1000000), IDASetStopTime(ida, 2e-3);
    if (IDASolve(ida, 2e-3, &t, y, yp, IDA_NORMAL) < 0) return 1;
    IDAGetNumSteps(ida, &steps);
    if (seconds() - began < best) best = seconds() - began;
    IDAFree(&ida), SUNLinSolFree(solver), SUNMatDestroy(a);
  }
  v = N_VGetArrayPointer(y);
  printf("%.9g %ld %.12g %.12g %.12g %.12g\n", best, steps, v[99], v[4999], v[5050], v[9999]);
  return 0;
}
