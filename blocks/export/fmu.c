/* The functions of FMI 2.0 and 3.0 about a run. */
#include <stdbool.h>

#include "program.c"

#if defined _WIN32
#define EXPORTED __declspec(dllexport)
#else
#define EXPORTED __attribute__((visibility("default")))
#endif

#define ENDLESSLY_FAR 1e100
#define NEAR 6e-6 /* part of a value that differences go to each side: the third root of the grain */
enum { TRIAL_STEPS = 100 };

enum { OK, WARNING, DISCARD, ERROR, FATAL };
enum { INDEPENDENT, INPUT, PARAMETER, OUTPUT, STATE_VARIABLE, SLOPE_VARIABLE, MARGIN };
enum { INSTANTIATED, INITIALISING, STEPPING, AT_EVENT, CONTINUOUS, TERMINATED };

typedef void (*Logger)(void *environment, const char *name, int status, const char *category,
                       const char *message);

typedef struct {
    Program *program;
    bool integrated; /* by others: model exchange */
    int phase;
    bool seen; /* whether variables are those of the present point */
    char *name;
    void *environment;
    void *function; /* that takes messages */
    bool event_mode, early; /* whether others take part in events, and let a step end early */
    void *update; /* that is called within a step */
} Instance;

static void tell(const Instance *i, int status, const char *category, const char *message);

static int error(const Instance *i, const char *message) {
    tell(i, ERROR, "logStatusError", message);
    return ERROR;
}

static int told_error(const Instance *i) { return error(i, i->program->text); }

static Instance *instantiated(const char *name, const char *token, bool integrated,
                              void *environment, void *function) {
    Instance *i = calloc(1, sizeof *i);
    if (!i) return NULL;
    i->environment = environment;
    i->function = function;
    i->integrated = integrated;
    i->name = calloc(strlen(name) + 1, 1);
    if (i->name) strcpy(i->name, name);
    bool refused = integrated && !MAY_BE_INTEGRATED;
    if (!i->name || refused || strcmp(token, TOKEN) || !(i->program = made())) {
        error(i, refused ? "its steps are its own: it is for co-simulation"
                 : strcmp(token, TOKEN) ? "the instantiation token is that of another FMU"
                                      : "there is not enough memory");
        free(i->name);
        free(i);
        return NULL;
    }
    return i;
}

static void released(Instance *i) {
    if (!i) return;
    freed(i->program);
    free(i->name);
    free(i);
}

/* -- variables ---------------------------------------------------------------------------- */

/* Make variables those of the present point. */
static int brought_up_to_date(Instance *i) {
    Program *p = i->program;
    if (i->seen) return OK;
    if (!i->integrated && p->changed && !settle(p)) return told_error(i);
    look(p);
    i->seen = true;
    return OK;
}

/* How far a relation is from crossing, and a trace more: where others find that to be zero, it has
 * crossed, and what has just switched is no zero. One of time alone does so at a known instant. */
static double margin_of(const Program *p, int64_t r) {
    double margin = numbers(p, MARGINS)[r], largest = numbers(p, LARGEST)[r];
    if (!(margin < ENDLESSLY_FAR)) return ENDLESSLY_FAR;
    return margin + 1e-300 + (largest < ENDLESSLY_FAR ? TRACE * largest : 0.0);
}

static int got(Instance *i, unsigned reference, double *value) {
    const Program *p = i->program;
    if (reference >= N_VARIABLES) return error(i, "there is no such value reference");
    int64_t k = variables[reference].place;
    switch (variables[reference].kind) {
    case INDEPENDENT: *value = p->time; return OK;
    case INPUT: *value = p->told[k]; return OK;
    case PARAMETER: *value = numbers(p, PARAMETERS)[k]; return OK;
    }
    if (brought_up_to_date(i) != OK) return ERROR;
    switch (variables[reference].kind) {
    case OUTPUT: *value = numbers(p, VALUES)[k]; return OK;
    case STATE_VARIABLE: *value = numbers(p, X)[k]; return OK;
    case SLOPE_VARIABLE: *value = numbers(p, SLOPE)[k]; return OK;
    default: *value = margin_of(p, k); return OK;
    }
}

static int put(Instance *i, unsigned reference, double value) {
    Program *p = i->program;
    if (reference >= N_VARIABLES) return error(i, "there is no such value reference");
    int64_t k = variables[reference].place;
    i->seen = false;
    if (!isfinite(value)) return error(i, "a variable was given a value that is not finite");
    switch (variables[reference].kind) {
    case INPUT:
        if (p->told[k] == value) return OK;
        p->told[k] = value;
        if (i->integrated) numbers(p, DISCRETE)[told_places[k]] = value;
        if (i->phase != CONTINUOUS) p->changed = 1;
        return OK;
    case PARAMETER:
        if (numbers(p, PARAMETERS)[k] == value) return OK;
        numbers(p, PARAMETERS)[k] = value;
        p->changed = 1;
        return OK;
    default: return error(i, "only inputs and tunable parameters can be set");
    }
}

/* Where a variable that others give stands; none for what they do not give. */
static double *place_of(const Program *p, unsigned reference) {
    int64_t k = variables[reference].place;
    switch (variables[reference].kind) {
    case INPUT: return numbers(p, DISCRETE) + told_places[k];
    case PARAMETER: return numbers(p, PARAMETERS) + k;
    case STATE_VARIABLE: return numbers(p, X) + k;
    default: return NULL;
    }
}

static double size_of(const Program *p, unsigned reference, double value) {
    double nominal = 0.0;
    if (variables[reference].kind == STATE_VARIABLE)
        for (int64_t k = 0; k < N_STATES; k++)
            if (state_places[k] == variables[reference].place) nominal = state_nominals[k];
    return fmax(fabs(value), nominal > 0.0 ? nominal : value != 0.0 ? 0.0 : 1.0);
}

/* Derivatives along a direction, with modes as they are, by differences on both sides. */
static int directional(Instance *i, const unsigned of[], size_t n_of, const unsigned by[],
                       size_t n_by, const double seed[], double out[]) {
    Program *p = i->program;
    double longest = 0.0, *before = calloc(n_by + 1, sizeof *before);
    int status = before ? brought_up_to_date(i) : error(i, "there is not enough memory");
    for (size_t k = 0; status == OK && k < n_by; k++) {
        double *place = by[k] < N_VARIABLES ? place_of(p, by[k]) : NULL;
        if (!place) status = error(i, "derivatives are by states, inputs and parameters");
        else longest = fmax(longest, fabs(seed[k]) / size_of(p, by[k], before[k] = *place));
    }
    for (size_t j = 0; j < n_of; j++) out[j] = 0.0;
    for (int side = 1; status == OK && longest > 0.0 && side >= -1; side -= 2) {
        double step = side * NEAR / longest;
        for (size_t k = 0; k < n_by; k++) *place_of(p, by[k]) = before[k] + step * seed[k];
        look(p);
        i->seen = true;
        for (size_t j = 0; status == OK && j < n_of; j++) {
            double value = 0.0;
            status = got(i, of[j], &value);
            out[j] += value / (2.0 * step);
        }
        for (size_t k = 0; k < n_by; k++) *place_of(p, by[k]) = before[k];
    }
    i->seen = false;
    free(before);
    return status;
}

/* -- a run -------------------------------------------------------------------------------- */

static int initialised(Instance *i, double start) {
    if (start != T_START && !ENDLESS)
        return error(i, "starts at the time for which it was exported; see defaultExperiment");
    numbers(i->program, STATE)[TIME] = i->program->time = start;
    i->phase = INITIALISING;
    return OK;
}

static int set_off(Instance *i) {
    Program *p = i->program;
    i->seen = false;
    i->phase = i->integrated ? AT_EVENT : STEPPING;
    if (p->changed && !(i->integrated ? carry_out(p) : settle(p))) return told_error(i);
    return OK;
}

static bool asked_to_return(Instance *i, bool ended);

/* Take a step; where others are to know of events, it may end behind one. */
static int stepped(Instance *i, double from, double length) {
    Program *p = i->program;
    double until = from + length;
    bool may_end = i->early && i->event_mode, ends = false;
    i->seen = false;
    if (fabs(from - p->time) > tiny(from) + 1e-9 * length)
        return error(i, "a step has to begin where the last one ended");
    p->pauses = may_end || i->update;
    if (p->pauses && !p->kept && !(p->kept = malloc(8 * (size_t)IMAGE_SIZE)))
        return error(i, "there is not enough memory");
    do {
        p->paused = 0;
        if (!step_to(p, until)) return told_error(i);
        i->seen = false;
        ends = until - p->time <= tiny(until) || (p->paused && may_end);
        if (i->update) ends |= asked_to_return(i, ends);
    } while (!ends);
    return OK;
}

static int restarted(Instance *i) {
    begin(i->program);
    i->phase = INSTANTIATED;
    i->seen = false;
    return OK;
}

/* -- what others integrate ---------------------------------------------------------------- */

static int at_time(Instance *i, double t) {
    i->program->time = t;
    numbers(i->program, STATE)[TIME] = t;
    i->seen = false;
    return OK;
}

static int put_states(Instance *i, const double *x) {
    for (int64_t k = 0; k < N_STATES; k++) numbers(i->program, X)[state_places[k]] = x[k];
    i->seen = false;
    return OK;
}

static int got_of_states(Instance *i, int64_t from, double *x) {
    if (brought_up_to_date(i) != OK) return ERROR;
    for (int64_t k = 0; k < N_STATES; k++) x[k] = numbers(i->program, from)[state_places[k]];
    return OK;
}

static int got_indicators(Instance *i, double *values) {
    if (brought_up_to_date(i) != OK) return ERROR;
    notice_margins(i->program);
    for (int64_t r = 0; r < N_MARGINS; r++) values[r] = margin_of(i->program, r);
    return OK;
}

static int ended_step(Instance *i) {
    if (N_MARGINS || N_X) end_step(i->program);
    return OK;
}

static int passed_event(Instance *i, bool *moved, bool *defined, double *next) {
    Program *p = i->program;
    double before[N_STATES + 1];
    for (int64_t k = 0; k < N_STATES; k++) before[k] = numbers(p, X)[state_places[k]];
    if (!ends_later(p, p->time) || !(i->integrated ? carry_out(p) : settle(p)))
        return told_error(i);
    i->seen = *moved = false;
    for (int64_t k = 0; k < N_STATES; k++) *moved |= before[k] != numbers(p, X)[state_places[k]];
    *next = next_instant(p);
    if (!ENDLESS && !isfinite(*next)) *next = T_END + 4 * tiny(T_END); /* where it stops */
    *defined = isfinite(*next);
    return OK;
}

/* -- a trial ------------------------------------------------------------------------------- */

/* No function of FMI: whether a run with inputs as they start gets to a time; else why not. */
EXPORTED int tried(double until, char *text, size_t size) {
    Program *p = made();
    int done = p != NULL;
    for (int k = 1; done && k <= TRIAL_STEPS; k++)
        done = step_to(p, T_START + (until - T_START) * k / TRIAL_STEPS);
    if (p) snprintf(text, size, "%s", p->text);
    freed(p);
    return done;
}

/* -- saved states ------------------------------------------------------------------------- */

#define STATE_SIZE (sizeof(Program) + sizeof(int) + 8 * (size_t)IMAGE_SIZE)

static int saved(const Instance *i, void **state) {
    unsigned char *kept = *state ? *state : malloc(STATE_SIZE);
    if (!kept) return error(i, "there is not enough memory");
    memcpy(kept, i->program, sizeof(Program));
    memcpy(kept + sizeof(Program), &i->phase, sizeof(int));
    memcpy(kept + sizeof(Program) + sizeof(int), i->program->memory, 8 * (size_t)IMAGE_SIZE);
    *state = kept;
    return OK;
}

static int brought_back(Instance *i, const void *state) {
    const unsigned char *kept = state;
    unsigned char *memory = i->program->memory, *own = i->program->kept;
    if (!kept) return error(i, "there is no saved state");
    memcpy(i->program, kept, sizeof(Program));
    i->program->memory = memory;
    i->program->kept = own;
    memcpy(&i->phase, kept + sizeof(Program), sizeof(int));
    memcpy(memory, kept + sizeof(Program) + sizeof(int), 8 * (size_t)IMAGE_SIZE);
    set_addresses(i->program);
    i->seen = false;
    return OK;
}

static int forgotten(void **state) {
    if (state) {
        free(*state);
        *state = NULL;
    }
    return OK;
}

static int written(const void *state, unsigned char *bytes, size_t size) {
    if (!state || size < (size_t)STATE_SIZE) return ERROR;
    memcpy(bytes, state, STATE_SIZE);
    return OK;
}

static int read_back(const Instance *i, const unsigned char *bytes, size_t size, void **state) {
    if (size != (size_t)STATE_SIZE) return error(i, "is no saved state of this FMU");
    unsigned char *kept = *state ? *state : malloc(STATE_SIZE);
    if (!kept) return error(i, "there is not enough memory");
    memcpy(kept, bytes, STATE_SIZE);
    *state = kept;
    return OK;
}

#define EACH(n, done) \
    for (size_t k = 0; k < (n); k++) \
        if ((done) != OK) return ERROR; \
    return OK

#if FMI_VERSION == 3
#include "fmi3.c"
#else
static bool asked_to_return(Instance *i, bool ended) { return ended; }
#include "fmi2.c"
#endif
