/* A run for a page: call by call, with points and events of it as rows that a script reads. */
#include "program.c"

#define EXPORTED(name) __attribute__((export_name(#name)))
#define PAGE 65536         /* bytes of memory, of which there are always more */
#define MOST_POINTS 20000  /* about so many ends of steps are read */
enum { DONE, MORE, GAVE_UP };
enum { OF_RELATION, OF_ELEMENT, OF_IMPACT, OF_ASSIGNMENT };

typedef struct {
    double *at;
    int64_t count, room, width;
} Rows;

static double memory[IMAGE_SIZE];
static Program only = {(unsigned char *)memory}, *run = &only;
static double end, spacing;      /* of the run, and of points inside steps */
static int now;                  /* whether what was announced is due */
static int64_t in_vain;
static Rows points = {0, 0, 0, 1 + N_VALUES}, events = {0, 0, 0, 5};
/* Up to where the run has been read: time, values, what is constant there; the next point. */
static double read_t, read_x[N_X + 1], read_q[HELD + 1], kept_q[N_Q + 1];
static int64_t next;

static double *added(Rows *rows) {
    if (rows->count == rows->room) {
        size_t size = 8 * (size_t)rows->width, pages = (2 * rows->room + 1000) * size / PAGE + 1;
        double *more = (double *)(PAGE * __builtin_wasm_memory_grow(0, pages));
        if (rows->count) memcpy(more, rows->at, (size_t)rows->count * size);
        rows->at = more;
        rows->room = (int64_t)(pages * PAGE / size);
    }
    return rows->at + rows->width * rows->count++;
}

/* -- reading ------------------------------------------------------------------------------ */

static void read_point(double t, const double *x) {
    double *row = added(&points);
    memcpy(run->memory + POINT, x, 8 * (size_t)N_X);
    memcpy(run->memory + Q, read_q, 8 * (size_t)HELD);
    numbers(run, AT)[0] = t;
    call(run, LOOK, LOOK_TABLE);
    row[0] = t;
    memcpy(row + 1, run->memory + VALUES, 8 * (size_t)N_VALUES);
}

/* A point, if the last one is some way off; one after a jump in any case, while there are few. */
static void read_seldom(double t, const double *x, int jumps) {
    double last = points.count ? points.at[points.width * (points.count - 1)] : -INFINITY;
    int far = t - last >= (end - T_START) / MOST_POINTS || t >= end;
    if (far || (jumps && points.count < 4 * MOST_POINTS)) read_point(t, x);
}

/* Points of an even grid inside a step, which is taken again. */
static void read_inside(double size, double until) {
    int64_t *counts = integers(run, COUNT_WHICH), done = 0;
    double times[LOOKS], *theta = numbers(run, INSIDE_THETA);
    memcpy(run->memory + Q, read_q, 8 * (size_t)HELD);
    do {
        int64_t n = 0;
        for (; n < LOOKS && T_START + (double)next * spacing < until; next++) {
            times[n] = T_START + (double)next * spacing;
            if (times[n] <= read_t) continue;
            theta[n] = (times[n] - read_t) / size;
            n++;
        }
        if (!(done = n)) return;
        counts[0] = integers(run, COUNT_THETA)[0] = integers(run, COUNT_OUT)[0] = n;
        numbers(run, STEPS_STARTS)[0] = read_t;
        numbers(run, STEPS_SIZES)[0] = size;
        memcpy(run->memory + STEPS_VALUES, read_x, 8 * (size_t)N_X);
        call(run, INSIDE, INSIDE_TABLE);
        for (int64_t k = 0; k < n; k++)
            read_point(times[k], numbers(run, INSIDE_OUT) + k * N_X);
    } while (done == LOOKS);
}

/* Rows of one event have its first one in common. */
static void tell(int64_t first, double t, int64_t what, int64_t who, double after) {
    double *row = added(&events);
    row[0] = t;
    row[1] = (double)what;
    row[2] = (double)who;
    row[3] = after;
    row[4] = (double)first;
}

/* What has been assigned, in the order in which it was. */
static void tell_assigned(int64_t first, int64_t k, double t) {
    const double *rounds = numbers(run, PASSED_CHANGED) + k * ASSIGNMENTS;
    const double *given = numbers(run, PASSED_GIVEN) + k * ASSIGNMENTS;
    double last = 0.0;
    for (int64_t a = 0; a < ASSIGNMENTS; a++)
        if (rounds[a] > last) last = rounds[a];
    for (double round = 1.0; round <= last; round++)
        for (int64_t a = 0; a < ASSIGNMENTS; a++)
            if (rounds[a] == round) tell(first, t, OF_ASSIGNMENT, a, given[a]);
}

/* What an event has changed, and the point from it on. */
static void read_event(int64_t k) {
    const double *q = numbers(run, PASSED_Q) + k * HELD;
    const double *x = numbers(run, PASSED_X) + k * N_X;
    const double *struck = numbers(run, PASSED_STRUCK) + k * MODE_COUNT;
    int64_t first = events.count;
    double t = numbers(run, PASSED_TIMES)[k];
    for (int64_t r = 0; r < RELATION_COUNT; r++)
        if (q[RELATIONS + r] != read_q[RELATIONS + r]) tell(first, t, OF_RELATION, r, q[RELATIONS + r]);
    tell_assigned(first, k, t);
    for (int64_t e = 0; e < MODE_COUNT; e++)
        if (struck[e] > 0.0 && (q[MODES + e] != 0.0 || read_q[MODES + e] != 0.0))
            tell(first, t, OF_IMPACT, e, q[MODES + e]);
        else if (q[MODES + e] != read_q[MODES + e]) tell(first, t, OF_ELEMENT, e, q[MODES + e]);
    read_t = t;
    memcpy(read_x, x, 8 * (size_t)N_X);
    memcpy(read_q, q, 8 * (size_t)HELD);
    read_seldom(t, read_x, 1);
}

/* The steps and events of a call, of which so many stood in the record before. */
static void read_call(int64_t step, int64_t event) {
    const int64_t *results = integers(run, ADVANCE_RESULTS);
    memcpy(kept_q, run->memory + Q, 8 * (size_t)N_Q);
    for (;; step++) {
        while (event < results[2] && integers(run, PASSED_MARKS)[event] <= step)
            read_event(event++);
        if (step >= results[1]) break;
        double until = numbers(run, RECORD_ENDS)[step];
        const double *x = numbers(run, RECORD_ROWS) + step * N_X;
        read_inside(numbers(run, RECORD_SIZES)[step], until);
        read_seldom(until, x, 0);
        read_t = until;
        memcpy(read_x, x, 8 * (size_t)N_X);
    }
    memcpy(run->memory + Q, kept_q, 8 * (size_t)N_Q);
}

static void read_start(void) {
    read_t = T_START;
    memcpy(read_x, run->memory + X, 8 * (size_t)N_X);
    memcpy(read_q, run->memory + Q, 8 * (size_t)HELD);
    memcpy(kept_q, run->memory + Q, 8 * (size_t)N_Q);
    read_point(read_t, read_x);
    memcpy(run->memory + Q, kept_q, 8 * (size_t)N_Q);
}

enum { STOPPED, ARRIVED, UNDERWAY };

/* Go on to a time by one call, at first through an event that was announced. What has been taken
 * and passed before stands in the record. */
static int go_once(Program *p, double until, int now) {
    int64_t *results = integers(p, ADVANCE_RESULTS), before = integers(p, BEGUN)[1];
    look_for_pieces(p);
    numbers(p, T_STOP)[0] = until;
    integers(p, INSTANT_COUNT)[0] = now;
    call(p, ADVANCE, ADVANCE_TABLE);
    p->time = numbers(p, STATE)[TIME];
    if (now && results[2] == before) return failed(p, UNTOLD);
    switch (results[0]) {
    case REACHED: return p->time + tiny(until) < until ? failed(p, UNDECIDED) : ARRIVED;
    case FULL: return UNDERWAY;
    case TOO_SMALL: return failed(p, NO_STEP);
    case NOT_FINITE: return failed(p, NO_NUMBER);
    default: return failed(p, UNDECIDED);
    }
}

/* -- what the script calls ---------------------------------------------------------------- */

/* Be at the start; parameters are written into memory then. */
EXPORTED(restart) void *restart(void) {
    begin(run);
    points.count = events.count = next = in_vain = 0;
    return run->memory;
}

/* Be ready to go to a time; what follows from other parameters is decided first. */
EXPORTED(set_off) void set_off(double until, double apart, int changed) {
    end = until;
    spacing = apart;
    now = changed;
    integers(run, BEGUN)[0] = integers(run, BEGUN)[1] = 0;
    if (changed) announce(run, 0);
    else read_start();
}

/* Go on by one call of machine code. */
EXPORTED(go) int go(void) {
    int64_t *begun = integers(run, BEGUN), *results = integers(run, ADVANCE_RESULTS);
    double limit = next_limit(run), before = run->time;
    int at_limit = limit - tiny(end) <= end, was_now = now;
    int status = go_once(run, now ? run->time : at_limit ? limit : end, now);
    if (status == STOPPED) return GAVE_UP;
    if (points.count) read_call(begun[0], begun[1]);
    else read_start();
    now = 0;
    begun[0] = results[1];
    begun[1] = results[2];
    in_vain = run->time > before ? 0 : in_vain + 1;
    if (in_vain > MOST_IN_VAIN) {
        failed(run, NO_END_OF_EVENTS);
        return GAVE_UP;
    }
    if (status == UNDERWAY || results[1] == STEPS_KEPT || results[2] == EVENTS_KEPT)
        begun[0] = begun[1] = 0;
    if (status == UNDERWAY || was_now) return run->time >= end && !at_limit ? DONE : MORE;
    if (!at_limit) return DONE;
    if (limit == next_instant(run)) {
        announce(run, 1);
        if (RESTARTS && !KEEPS_STEP) numbers(run, STATE)[STEP] = 0.0;
        now = 1;
    } else {
        run->stretch++;
        begun[0] = begun[1] = 0;
    }
    return MORE;
}

EXPORTED(point_rows) double *point_rows(void) { return points.at; }
EXPORTED(point_count) int point_count(void) { return (int)points.count; }
EXPORTED(event_rows) double *event_rows(void) { return events.at; }
EXPORTED(event_count) int event_count(void) { return (int)events.count; }
EXPORTED(reached) double reached(void) { return run->time; }
EXPORTED(reason) const char *reason(void) { return reasons[run->status]; }
EXPORTED(before_names) const char *before_names(void) { return before(run->status); }
/* Who cannot be decided on: the name of a relation, if it is one of those. */
EXPORTED(culprit) const char *culprit(int r) {
    return is_open(run, r) ? relations[r] : "";
}
EXPORTED(relation_count) int relation_count(void) { return N_MARGINS; }

/* -- what machine code calls -------------------------------------------------------------- */

/* NaN is not taken. */
double fmin(double a, double b) { return a < b || b != b ? a : b; }
double fmax(double a, double b) { return a > b || b != b ? a : b; }
