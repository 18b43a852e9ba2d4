/* FMI 3.0: included by fmu.c. */
typedef void *Component;
typedef void (*Message)(void *, int, const char *, const char *);
typedef void (*Update)(void *, double, bool, bool, bool, bool, bool *, double *);

static void tell(const Instance *i, int status, const char *category, const char *message) {
    if (i->function) ((Message)i->function)(i->environment, status, category, message);
}

EXPORTED const char *fmi3GetVersion(void) { return "3.0"; }
EXPORTED int fmi3SetDebugLogging(Component c, bool on, size_t n, const char *const names[]) {
    return OK;
}

EXPORTED Component fmi3InstantiateModelExchange(const char *name, const char *token,
    const char *place,
                                                bool visible, bool logging, void *environment,
                                                Message message) {
    return instantiated(name, token, true, environment, (void *)message);
}
EXPORTED Component fmi3InstantiateCoSimulation(
    const char *name, const char *token, const char *place, bool visible, bool logging,
    bool event_mode, bool early_return, const unsigned intermediate[], size_t n, void *environment,
    Message message, void *update) {
    Instance *i = instantiated(name, token, false, environment, (void *)message);
    if (i) {
        i->event_mode = event_mode;
        i->early = early_return;
        i->update = update;
    }
    return i;
}
/* Let others look at the present point within a step; whether they want it to end here. */
static bool asked_to_return(Instance *i, bool ended) {
    bool wanted = false;
    double at = i->program->time;
    ((Update)i->update)(i->environment, at, false, true, ended, i->early, &wanted, &at);
    return wanted && i->early;
}
EXPORTED Component fmi3InstantiateScheduledExecution(
    const char *name, const char *token, const char *place, bool visible, bool logging,
    void *environment, Message message, void *update, void *lock, void *unlock) { return NULL; }
EXPORTED void fmi3FreeInstance(Component c) { released(c); }
EXPORTED int fmi3EnterInitializationMode(Component c, bool given, double tolerance, double start,
                                         bool ends, double end) { return initialised(c, start); }
EXPORTED int fmi3ExitInitializationMode(Component c) {
    int status = set_off(c);
    if (((Instance *)c)->event_mode) ((Instance *)c)->phase = AT_EVENT;
    return status;
}
EXPORTED int fmi3EnterEventMode(Component c) { ((Instance *)c)->phase = AT_EVENT; return OK; }
EXPORTED int fmi3Terminate(Component c) { ((Instance *)c)->phase = TERMINATED; return OK; }
EXPORTED int fmi3Reset(Component c) { return restarted(c); }

EXPORTED int fmi3GetFloat64(Component c, const unsigned vr[], size_t n, double values[], size_t m) {
    EACH(n, got(c, vr[k], &values[k]));
}
EXPORTED int fmi3SetFloat64(Component c, const unsigned vr[], size_t n, const double values[],
    size_t m) {
    EACH(n, put(c, vr[k], values[k]));
}
#define NO_VARIABLES(name, type) \
    EXPORTED int fmi3Get##name(Component c, const unsigned vr[], size_t n, type values[], \
        size_t m) { \
        return n ? error(c, "all variables are of type Float64") : OK; \
    } \
    EXPORTED int fmi3Set##name(Component c, const unsigned vr[], size_t n, const type values[], \
        size_t m) { \
        return n ? error(c, "all variables are of type Float64") : OK; \
    }
NO_VARIABLES(Float32, float)
NO_VARIABLES(Int8, int8_t)
NO_VARIABLES(UInt8, uint8_t)
NO_VARIABLES(Int16, int16_t)
NO_VARIABLES(UInt16, uint16_t)
NO_VARIABLES(Int32, int32_t)
NO_VARIABLES(UInt32, uint32_t)
NO_VARIABLES(Int64, int64_t)
NO_VARIABLES(UInt64, uint64_t)
NO_VARIABLES(Boolean, bool)
typedef const char *String;
NO_VARIABLES(String, String)
EXPORTED int fmi3GetBinary(Component c, const unsigned vr[], size_t n, size_t sizes[],
                           const uint8_t *values[], size_t m) { return n ? ERROR : OK; }
EXPORTED int fmi3SetBinary(Component c, const unsigned vr[], size_t n, const size_t sizes[],
                           const uint8_t *const values[], size_t m) { return n ? ERROR : OK; }
EXPORTED int fmi3GetClock(Component c, const unsigned vr[], size_t n, bool values[]) {
    return n ? ERROR : OK;
}
EXPORTED int fmi3SetClock(Component c, const unsigned vr[], size_t n, const bool values[]) {
    return n ? ERROR : OK;
}

EXPORTED int fmi3GetNumberOfVariableDependencies(Component c, unsigned vr, size_t *n) {
    return error(c, "dependencies do not change: see the model description");
}
EXPORTED int fmi3GetVariableDependencies(Component c, unsigned vr, size_t at[], unsigned by[],
                                         size_t by_at[], int kinds[], size_t n) {
    return error(c, "dependencies do not change: see the model description");
}
EXPORTED int fmi3GetFMUState(Component c, void **state) { return saved(c, state); }
EXPORTED int fmi3SetFMUState(Component c, void *state) { return brought_back(c, state); }
EXPORTED int fmi3FreeFMUState(Component c, void **state) { return forgotten(state); }
EXPORTED int fmi3SerializedFMUStateSize(Component c, void *state, size_t *size) {
    *size = STATE_SIZE;
    return OK;
}
EXPORTED int fmi3SerializeFMUState(Component c, void *state, uint8_t bytes[], size_t size) {
    return written(state, bytes, size);
}
EXPORTED int fmi3DeserializeFMUState(Component c, const uint8_t bytes[], size_t size,
    void **state) {
    return read_back(c, bytes, size, state);
}
EXPORTED int fmi3GetDirectionalDerivative(Component c, const unsigned of[], size_t n_of,
                                          const unsigned by[], size_t n_by, const double seed[],
                                          size_t n_seed, double out[], size_t n_out) {
    return directional(c, of, n_of, by, n_by, seed, out);
}
EXPORTED int fmi3GetAdjointDerivative(Component c, const unsigned of[], size_t n_of,
                                      const unsigned by[], size_t n_by, const double seed[],
                                      size_t n_seed, double out[], size_t n_out) {
    return error(c, "adjoint derivatives are not provided");
}
EXPORTED int fmi3EnterConfigurationMode(Component c) { return OK; }
EXPORTED int fmi3ExitConfigurationMode(Component c) { return OK; }

#define NO_CLOCK(name, ...) \
    EXPORTED int fmi3##name(Component c, const unsigned vr[], size_t n, __VA_ARGS__) { \
        return error(c, "there are no clocks"); \
    }
NO_CLOCK(GetIntervalDecimal, double intervals[], int qualifiers[])
NO_CLOCK(GetIntervalFraction, uint64_t counters[], uint64_t resolutions[], int qualifiers[])
NO_CLOCK(GetShiftDecimal, double shifts[])
NO_CLOCK(GetShiftFraction, uint64_t counters[], uint64_t resolutions[])
NO_CLOCK(SetIntervalDecimal, const double intervals[])
NO_CLOCK(SetIntervalFraction, const uint64_t counters[], const uint64_t resolutions[])
NO_CLOCK(SetShiftDecimal, const double shifts[])
NO_CLOCK(SetShiftFraction, const uint64_t counters[], const uint64_t resolutions[])
EXPORTED int fmi3ActivateModelPartition(Component c, unsigned vr, double t) {
    return error(c, "there are no clocks");
}
EXPORTED int fmi3EvaluateDiscreteStates(Component c) { return OK; }

/* -- model exchange -- */
EXPORTED int fmi3UpdateDiscreteStates(Component c, bool *needed, bool *terminate, bool *nominals,
                                      bool *moved, bool *defined, double *next) {
    *needed = *terminate = *nominals = false;
    return passed_event(c, moved, defined, next);
}
EXPORTED int fmi3EnterContinuousTimeMode(Component c) {
    ((Instance *)c)->phase = CONTINUOUS;
    return OK;
}
EXPORTED int fmi3CompletedIntegratorStep(Component c, bool keeps, bool *enter, bool *terminate) {
    *enter = *terminate = false;
    return ended_step(c);
}
EXPORTED int fmi3SetTime(Component c, double t) { return at_time(c, t); }
EXPORTED int fmi3SetContinuousStates(Component c, const double x[], size_t n) {
    return put_states(c, x);
}
EXPORTED int fmi3GetContinuousStateDerivatives(Component c, double slopes[], size_t n) {
    return got_of_states(c, SLOPE, slopes);
}
EXPORTED int fmi3GetEventIndicators(Component c, double values[], size_t n) {
    return got_indicators(c, values);
}
EXPORTED int fmi3GetContinuousStates(Component c, double x[], size_t n) {
    return got_of_states(c, X, x);
}
EXPORTED int fmi3GetNominalsOfContinuousStates(Component c, double x[], size_t n) {
    for (size_t k = 0; k < n; k++) x[k] = state_nominals[k];
    return OK;
}
EXPORTED int fmi3GetNumberOfEventIndicators(Component c, size_t *n) { *n = N_MARGINS; return OK; }
EXPORTED int fmi3GetNumberOfContinuousStates(Component c, size_t *n) { *n = N_STATES; return OK; }

/* -- co-simulation -- */
EXPORTED int fmi3EnterStepMode(Component c) { ((Instance *)c)->phase = STEPPING; return OK; }
EXPORTED int fmi3GetOutputDerivatives(Component c, const unsigned vr[], size_t n,
    const int orders[],
                                      double values[], size_t m) {
    return error(c, "derivatives of outputs are not provided");
}
EXPORTED int fmi3DoStep(Component c, double from, double length, bool keeps, bool *event,
                        bool *terminate, bool *early, double *reached) {
    Instance *i = c;
    int status = stepped(i, from, length);
    *reached = i->program->time;
    *terminate = false;
    *event = i->event_mode && i->program->paused;
    *early = from + length - *reached > tiny(*reached);
    return status;
}
