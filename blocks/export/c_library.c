/* A model as a library in C: the functions that its header declares, about a run that stands with
 * all of its memory in the caller's struct. The program tells how these are named. */
#ifdef TRIAL
#include <stdio.h>
#endif

#include "program.c"

enum { OK, MANY_EVENTS, SHORTER_STEP, NOT_A_NUMBER, HALTED, NOT_KNOWN, BAD_VALUE };
static const unsigned char statuses[] = {OK, HALTED, HALTED, MANY_EVENTS, SHORTER_STEP,
                                         NOT_A_NUMBER, NOT_KNOWN};

typedef char fits[sizeof(Program) <= sizeof(((MODEL *)0)->run) ? 1 : -1];

/* The run of a model: of a copy, too, in whose memory addresses are set anew. */
static Program *run_of(MODEL *model) {
    Program *p = (Program *)model->run;
    if (p->memory != (unsigned char *)model->memory) {
        p->memory = (unsigned char *)model->memory;
        set_addresses(p);
    }
    return p;
}

static void show(MODEL *model, Program *p) {
    look(p);
    model->time = p->time;
    for (int64_t k = 0; k < N_OUTPUTS; k++) OUTPUTS_OF(model)[k] = numbers(p, VALUES)[k];
}

void NAMED(reset)(MODEL *model) {
    Program *p = (Program *)model->run;
    p->memory = (unsigned char *)model->memory;
    begin(p);
    for (int64_t k = 0; k < N_TOLD; k++) INPUTS_OF(model)[k] = p->told[k];
    for (int64_t k = 0; k < N_PARAMETERS; k++)
        PARAMETERS_OF(model)[k] = numbers(p, PARAMETERS)[parameter_places[k]];
    show(model, p);
}

/* Take a value over; whether it is a number. */
static int take(Program *p, double *into, double value) {
    if (!(fabs(value) < INFINITY)) return 0;
    p->changed |= *into != value;
    *into = value;
    return 1;
}

int NAMED(step)(MODEL *model, double h) {
    Program *p = run_of(model);
    int numbers_all = h > 0.0 && h < INFINITY;
    if (p->status == UNTOLD || p->status == UNDECIDED) return HALTED;
    for (int64_t k = 0; k < N_TOLD; k++) numbers_all &= take(p, &p->told[k], INPUTS_OF(model)[k]);
    for (int64_t k = 0; k < N_PARAMETERS; k++)
        numbers_all &= take(p, &numbers(p, PARAMETERS)[parameter_places[k]],
                            PARAMETERS_OF(model)[k]);
    if (!numbers_all) return BAD_VALUE;
    p->status = WELL;
    numbers(p, STATE)[STEP] = h;
    step_to(p, p->time + h);
    show(model, p);
    return statuses[p->status];
}

const char *NAMED(where)(MODEL *model) {
    Program *p = run_of(model);
    for (int64_t r = 0; r < N_MARGINS; r++)
        if (is_open(p, r)) return relations[r];
    return "";
}

#ifdef TRIAL
/* Whether a run with inputs as they start gets to a time, or as far as it is tried; else why not. */
__attribute__((visibility("default"))) int tried(double until, char *text, size_t size) {
    static MODEL model;
    int status = OK;
    NAMED(reset)(&model);
    for (int64_t k = 0; k < TRIED && model.time < until && status <= MANY_EVENTS; k++)
        status = NAMED(step)(&model, MODEL_STEP);
    if (status <= MANY_EVENTS || status == NOT_KNOWN) return 1;
    const char *name = NAMED(where)(&model);
    status = run_of(&model)->status;
    snprintf(text, size, "at t = %.9g s %s%s%s", model.time, reasons[status],
             *name ? before(status) : "", name);
    return 0;
}
#endif
