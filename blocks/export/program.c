/* A run of a model, carried by machine code over one piece of memory. The header that is written
 * for a model says where everything stands; all else is the same for all models. With BARE it asks
 * for nothing of the C library but memcpy and memset, and tells what went wrong by a number. */
#include <stdint.h>

#ifdef BARE
#include <stddef.h>
#define memcpy __builtin_memcpy
#define memset __builtin_memset
#define fabs __builtin_fabs
#define INFINITY __builtin_inf()
#define NAN __builtin_nan("")
#else
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#endif

#ifdef _WIN32
/* Linked with Windows' own C library alone, which has no start and no snprintf. */
static int printed(char *text, size_t size, const char *format, ...) {
    va_list given;
    va_start(given, format);
    int length = __stdio_common_vsprintf(2 /* as the standard says */, text, size, format, 0, given);
    va_end(given);
    return length;
}
#define snprintf printed
#undef isfinite
#define isfinite __builtin_isfinite

int DllMainCRTStartup(void *library, unsigned why, void *reserved) { return 1; }
#endif

#include "model.h"

enum { REACHED, FULL, CROSSED, TOO_SMALL, NOT_FINITE, LOCATED, EARLY, UNSURE };
enum { TIME, STEP, LAST_ERROR, LOOKED, NOWHERE, KNOWN };
#define BEHIND 1e-9  /* of a step: where it is looked for events behind which a run stops */
enum { MOST_IN_VAIN = 1000, MOST_EVENTS = 100000, MOST_TEXT = 400 };

/* Why a run does not go on, after "at t = ... s". */
enum { WELL, UNTOLD, UNDECIDED, NO_END_OF_EVENTS, NO_STEP, NO_NUMBER, BEYOND };
static const char *const reasons[] = {
    "",
    KEEPS_PAST ? "what follows from inputs or a known instant cannot be decided by machine code "
                 "alone, or signals that are delayed change more often than there is room for: "
                 "the model has to be simulated where it was made"
               : "what follows from inputs or a known instant cannot be decided by machine code "
                 "alone: the model has to be simulated where it was made",
    "an event cannot be decided by machine code alone: ",
    "events follow each other without end",
    KEEPS_STEP ? "the equations and laws of a step are not solved: a shorter step may be"
               : "the error stays above the tolerance however small the step",
    "the equations are not finite",
    "what follows was not written down when the model was exported: export it with a longer "
    "duration"};

typedef struct {
    unsigned char *memory;
    int status;                /* one of the reasons */
    double time;               /* reached */
    double last, length;       /* end and length of the last step of others that integrate */
    double told[N_TOLD + 1];   /* values of inputs */
    int changed;               /* whether inputs or parameters are new */
    int64_t instant, stretch;  /* the next known instant, and the stretch of pieces of time */
#ifndef BARE
    char text[MOST_TEXT];      /* what went wrong */
#endif
    int pauses, paused;        /* whether a run is to stop behind each event, and has */
    unsigned char *kept;       /* the memory before a call that may have gone too far */
} Program;

static double *numbers(const Program *p, int64_t at) { return (double *)(p->memory + at); }
static int64_t *integers(const Program *p, int64_t at) { return (int64_t *)(p->memory + at); }

/* Whether a relation is one that could not be decided; what was told may concern any of them. */
static int is_open(const Program *p, int64_t r) {
    return p->status == UNTOLD || (p->status == UNDECIDED && (p->memory + WRONG)[r]);
}

/* What stands between a reason and the first relation that it is about. */
static const char *before(int why) { return why == UNTOLD ? "; it may be about " : ""; }

static int failed(Program *p, int why) {
    p->status = why;
#ifndef BARE
    int at = snprintf(p->text, MOST_TEXT, "at t = %.9g s %s", p->time, reasons[why]), first = 1;
    for (int64_t r = 0; r < N_MARGINS; r++)
        if (is_open(p, r) && at + strlen(relations[r]) + 3 < MOST_TEXT) {
            at += snprintf(p->text + at, MOST_TEXT - at, "%s%s", first ? before(why) : ", ",
                           relations[r]);
            first = 0;
        }
    if (why == UNDECIDED && first)
        snprintf(p->text + at, MOST_TEXT - at, "%s", KEEPS_PAST ? "signals that are delayed "
                 "change more often than there is room for" : "its cause has no name");
#endif
    return 0;
}

/* -- memory ------------------------------------------------------------------------------- */

static void set_addresses(Program *p) {
    for (int64_t k = 0; k < N_ADDRESSES; k++)
        integers(p, 8 * addresses[k][0])[0] = (int64_t)(intptr_t)(p->memory + addresses[k][1]);
    for (int64_t k = 0; k < N_ADDRESSES_OF_CODE; k++)
        integers(p, 8 * addresses_of_code[k][0])[0] =
            (int64_t)(intptr_t)code[addresses_of_code[k][1]];
}

static void begin(Program *p) {
    memset(p->memory, 0, 8 * (size_t)IMAGE_SIZE);
    const uint64_t *from = image;
    for (int64_t k = 0; k < N_PARTS; from += parts[k++][1])
        memcpy(p->memory + 8 * parts[k][0], from, 8 * (size_t)parts[k][1]);
    set_addresses(p);
    p->time = p->last = T_START;
    p->length = 0.0;
    p->changed = p->status = WELL;
    p->instant = p->stretch = 0;
#ifndef BARE
    p->text[0] = 0;
#endif
    memcpy(p->told, told_at_start, sizeof told_at_start);
}

#ifndef BARE
static Program *made(void) {
    Program *p = calloc(1, sizeof *p);
    if (p && !(p->memory = malloc(8 * (size_t)IMAGE_SIZE))) {
        free(p);
        p = NULL;
    }
    if (p) begin(p);
    return p;
}

static void freed(Program *p) {
    if (p) free(p->memory);
    if (p) free(p->kept);
    free(p);
}
#endif

/* -- what is known beforehand ------------------------------------------------------------- */

static double tiny(double t) { return INSTANTS_APART * fabs(t) + LEAST; }
static double next_instant(const Program *p) {
    return p->instant < N_INSTANTS ? instants[p->instant] : INFINITY;
}
static double next_limit(const Program *p) {
    double end = stretch_ends[p->stretch], instant = next_instant(p);
    return end < instant ? end : instant;
}

static void look_for_pieces(Program *p) {
    int64_t first = stretch_starts[p->stretch], last = stretch_starts[p->stretch + 1];
    integers(p, PIECES)[0] = (int64_t)(intptr_t)(pieces + first);
    integers(p, PIECES)[1] = last - first;
}

/* Tell machine code what is to happen now: what was told, and what a known instant brings. */
static void announce(Program *p, int at_instant) {
    double *rows = numbers(p, NOW_ROWS);
    numbers(p, NOW_TIMES)[0] = p->time;
    if (at_instant) {
        int64_t k = p->instant++;
        for (int64_t j = 0; j < N_HOLDS; j++)
            numbers(p, NOW_HOLDS)[j] = instant_holds[k * N_HOLDS + j];
        for (int64_t j = 0; j < N_TABLES; j++) rows[j] = instant_rows[k * N_TABLES + j];
        numbers(p, NOW_UNTIL)[0] = instant_until[k + 1];
    }
    for (int64_t j = 0; j < N_TOLD; j++) rows[N_TABLES + j] = p->told[j];
    if (!at_instant && !KEEPS_STEP) numbers(p, STATE)[STEP] = 0.0;
    p->changed = 0;
}

/* -- running ------------------------------------------------------------------------------ */

static void call(const Program *p, int which, int64_t table) {
    ((void (*)(void *))code[which])(p->memory + table);
}

/* Take the last call again where it went on after an event: only to right behind that. */
static void turn_back(Program *p, double before) {
    int64_t *results = integers(p, ADVANCE_RESULTS), *begun = integers(p, BEGUN);
    double until = numbers(p, T_STOP)[0], at = numbers(p, PASSED_TIMES)[0];
    double behind = STEPS_ARE_TIED ? at : at + 2 * tiny(at) + BEHIND * (at - before);
    if (behind < until) {
        memcpy(p->memory, p->kept, 8 * (size_t)IMAGE_SIZE);
        numbers(p, T_STOP)[0] = behind;
        begun[0] = begun[1] = 0;
        call(p, ADVANCE, ADVANCE_TABLE);
        numbers(p, T_STOP)[0] = until;
    }
    p->paused = results[2] > 0;
}

/* Go on to a time, at first through an event that was announced. */
static int go_on(Program *p, double until, int now) {
    int64_t in_vain = 0, passed = 0;
    look_for_pieces(p);
    numbers(p, T_STOP)[0] = until;
    for (;;) {
        double before = p->time;
        int64_t *results = integers(p, ADVANCE_RESULTS), *begun = integers(p, BEGUN);
        begun[0] = begun[1] = 0;
        integers(p, INSTANT_COUNT)[0] = now;
        if (p->pauses) memcpy(p->kept, p->memory, 8 * (size_t)IMAGE_SIZE);
        call(p, ADVANCE, ADVANCE_TABLE);
        if (p->pauses && !now && integers(p, ADVANCE_RESULTS)[2] > 0) turn_back(p, before);
        p->time = numbers(p, STATE)[TIME];
        if (now && results[2] == 0) return failed(p, UNTOLD);
        now = 0;
        passed += results[2];
        if (passed > MOST_EVENTS) return failed(p, NO_END_OF_EVENTS);
        if (p->paused && results[0] <= FULL) return 1;
        switch (results[0]) {
        case REACHED:
            if (p->time + tiny(until) >= until) return 1;
            return failed(p, UNDECIDED);  /* what is delayed jumps or bends here */
        case FULL:
            in_vain = p->time > before ? 0 : in_vain + 1;
            if (IS_BOUNDED || in_vain > MOST_IN_VAIN) return failed(p, NO_END_OF_EVENTS);
            break;
        case TOO_SMALL: return failed(p, NO_STEP);
        case NOT_FINITE: return failed(p, NO_NUMBER);
        default: return failed(p, UNDECIDED);
        }
    }
}

/* Carry out what was told. */
static int settle(Program *p) {
    if (!p->changed) return 1;
    announce(p, 0);
    return go_on(p, p->time, 1);
}

static int ends_later(Program *p, double until) {
    if (ENDLESS || until <= T_END + tiny(T_END)) return 1;
    return failed(p, BEYOND);
}

/* Go on to a time, and past what is known to happen there. */
static int step_to(Program *p, double until) {
    double limit;
    if (!ends_later(p, until)) return 0;
    while (until > p->time && (limit = next_limit(p)) - tiny(until) <= until) {
        int at_instant = limit == next_instant(p);
        if (!settle(p) || !go_on(p, limit, 0)) return 0;
        if (p->paused) return 1;
        if (at_instant) {
            announce(p, 1);
            if (!go_on(p, p->time, 1)) return 0;
            if (p->pauses) return p->paused = 1;
        } else {
            p->stretch++;
            numbers(p, STATE)[KNOWN] = 0.0; /* slopes begin anew, as in a run that is not exported */
        }
    }
    if (!settle(p)) return 0;
    return until - p->time <= tiny(until) || go_on(p, until, 0);  /* the same instant, or farther */
}

/* Slopes, margins and variables at the present point. */
static void look(Program *p) {
    memcpy(p->memory + POINT, p->memory + X, 8 * (size_t)N_X);
    numbers(p, AT)[0] = p->time;
    call(p, LOOK, LOOK_TABLE);
}

#ifdef EVENT
/* -- where others integrate --------------------------------------------------------------- */

/* Remember how large margins have been since the last event: beside that others are rounding. */
static void notice_margins(Program *p) {
    double *margins = numbers(p, MARGINS), *largest = numbers(p, LARGEST);
    for (int64_t r = 0; r < N_MARGINS; r++)
        if (margins[r] > largest[r]) largest[r] = margins[r];
}

/* What is solved for at the end of a step stands for the next one. */
static void end_step(Program *p) {
    double *margins = numbers(p, MARGINS), *slack = numbers(p, SLACK);
    look(p);
    memcpy(p->memory + X, p->memory + POINT, 8 * (size_t)N_X);
    notice_margins(p);
    if (p->time > p->last) p->length = p->time - p->last;
    p->last = p->time;
    for (int64_t r = 0; r < N_MARGINS; r++)
        if (slack[r] > 0.0 && margins[r] > FAR * slack[r]) slack[r] = 0.0;
}

/* Carry an event out: relations and modes that have crossed, inputs, a known instant. */
static int carry_out(Program *p) {
    int any = 0, at_instant = next_instant(p) <= p->time + tiny(p->time);
    int64_t *result = integers(p, EVENT_RESULTS);
    double *state = numbers(p, STATE);
    state[TIME] = p->time;
    end_step(p);
    for (int64_t r = 0; r < N_MARGINS; r++) {
        (p->memory + WRONG)[r] = numbers(p, MARGINS)[r] < 0.0;
        any |= (p->memory + WRONG)[r];
    }
    if (!any && !at_instant && !p->changed) return 1;
    int told = at_instant || p->changed;
    do { /* inputs of masters jump between events, too: then what has crossed tells nothing */
        if (told) announce(p, at_instant);
        integers(p, EVENT_INSTANT)[0] = told ? 0 : -1;
        state[STEP] = p->length;  /* a small part of it tells where relations are going */
        call(p, EVENT, EVENT_TABLE);
    } while (!result[0] && N_TOLD && !told++);
    return result[0] ? 1 : failed(p, UNDECIDED);
}
#else
static void notice_margins(Program *p) {}
static void end_step(Program *p) {}
static int carry_out(Program *p) { return settle(p); }
#endif
