/* FMI 2.0: included by fmu.c. */
typedef void *Component;
typedef struct {
    void (*logger)(void *, const char *, int, const char *, const char *, ...);
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*step_finished)(void *, int);
    void *environment;
} Callbacks;
typedef struct {
    int new_discrete_states_needed, terminate, nominals_changed, values_changed, next_defined;
    double next;
} EventInfo;

static void tell(const Instance *i, int status, const char *category, const char *message) {
    const Callbacks *c = i->function;
    if (c && c->logger) c->logger(i->environment, i->name, status, category, "%s", message);
}

EXPORTED const char *fmi2GetTypesPlatform(void) { return "default"; }
EXPORTED const char *fmi2GetVersion(void) { return "2.0"; }
EXPORTED int fmi2SetDebugLogging(Component c, int on, size_t n, const char *const names[]) {
    return OK;
}

EXPORTED Component fmi2Instantiate(const char *name, int kind, const char *token, const char *place,
                                   const Callbacks *callbacks, int visible, int logging) {
    return instantiated(name, token, kind == 0, callbacks ? callbacks->environment : NULL,
                        (void *)callbacks);
}
EXPORTED void fmi2FreeInstance(Component c) { released(c); }
EXPORTED int fmi2SetupExperiment(Component c, int given, double tolerance, double start, int ends,
                                 double end) { return initialised(c, start); }
EXPORTED int fmi2EnterInitializationMode(Component c) { return OK; }
EXPORTED int fmi2ExitInitializationMode(Component c) { return set_off(c); }
EXPORTED int fmi2Terminate(Component c) { ((Instance *)c)->phase = TERMINATED; return OK; }
EXPORTED int fmi2Reset(Component c) { return restarted(c); }

EXPORTED int fmi2GetReal(Component c, const unsigned vr[], size_t n, double values[]) {
    EACH(n, got(c, vr[k], &values[k]));
}
EXPORTED int fmi2SetReal(Component c, const unsigned vr[], size_t n, const double values[]) {
    EACH(n, put(c, vr[k], values[k]));
}
#define NO_VARIABLES(name, type) \
    EXPORTED int fmi2Get##name(Component c, const unsigned vr[], size_t n, type values[]) { \
        return n ? error(c, "all variables are of type Real") : OK; \
    } \
    EXPORTED int fmi2Set##name(Component c, const unsigned vr[], size_t n, const type values[]) { \
        return n ? error(c, "all variables are of type Real") : OK; \
    }
NO_VARIABLES(Integer, int)
NO_VARIABLES(Boolean, int)
typedef const char *String;
NO_VARIABLES(String, String)

EXPORTED int fmi2GetFMUstate(Component c, void **state) { return saved(c, state); }
EXPORTED int fmi2SetFMUstate(Component c, void *state) { return brought_back(c, state); }
EXPORTED int fmi2FreeFMUstate(Component c, void **state) { return forgotten(state); }
EXPORTED int fmi2SerializedFMUstateSize(Component c, void *state, size_t *size) {
    *size = STATE_SIZE;
    return OK;
}
EXPORTED int fmi2SerializeFMUstate(Component c, void *state, char bytes[], size_t size) {
    return written(state, (unsigned char *)bytes, size);
}
EXPORTED int fmi2DeSerializeFMUstate(Component c, const char bytes[], size_t size, void **state) {
    return read_back(c, (const unsigned char *)bytes, size, state);
}
EXPORTED int fmi2GetDirectionalDerivative(Component c, const unsigned of[], size_t n_of,
                                          const unsigned by[], size_t n_by, const double dv[],
                                          double out[]) {
    return directional(c, of, n_of, by, n_by, dv, out);
}

/* -- model exchange -- */
EXPORTED int fmi2EnterEventMode(Component c) { ((Instance *)c)->phase = AT_EVENT; return OK; }
EXPORTED int fmi2NewDiscreteStates(Component c, EventInfo *info) {
    bool moved = false, defined = false;
    double next = 0.0;
    int status = passed_event(c, &moved, &defined, &next);
    *info = (EventInfo){0, 0, 0, moved, defined, next};
    return status;
}
EXPORTED int fmi2EnterContinuousTimeMode(Component c) {
    ((Instance *)c)->phase = CONTINUOUS;
    return OK;
}
EXPORTED int fmi2CompletedIntegratorStep(Component c, int keeps, int *enter, int *terminate) {
    *enter = *terminate = 0;
    return ended_step(c);
}
EXPORTED int fmi2SetTime(Component c, double t) { return at_time(c, t); }
EXPORTED int fmi2SetContinuousStates(Component c, const double x[], size_t n) {
    return put_states(c, x);
}
EXPORTED int fmi2GetDerivatives(Component c, double slopes[], size_t n) {
    return got_of_states(c, SLOPE, slopes);
}
EXPORTED int fmi2GetEventIndicators(Component c, double values[], size_t n) {
    return got_indicators(c, values);
}
EXPORTED int fmi2GetContinuousStates(Component c, double x[], size_t n) {
    return got_of_states(c, X, x);
}
EXPORTED int fmi2GetNominalsOfContinuousStates(Component c, double x[], size_t n) {
    for (size_t k = 0; k < n; k++) x[k] = state_nominals[k];
    return OK;
}

/* -- co-simulation -- */
EXPORTED int fmi2SetRealInputDerivatives(Component c, const unsigned vr[], size_t n,
    const int order[],
                                         const double values[]) {
    return error(c, "inputs are held over a step");
}
EXPORTED int fmi2GetRealOutputDerivatives(Component c, const unsigned vr[], size_t n,
                                          const int order[], double values[]) {
    return error(c, "derivatives of outputs are not provided");
}
EXPORTED int fmi2DoStep(Component c, double from, double length, int keeps) {
    return stepped(c, from, length);
}
EXPORTED int fmi2CancelStep(Component c) { return error(c, "no step is in progress"); }
EXPORTED int fmi2GetStatus(Component c, int kind, int *value) { return DISCARD; }
EXPORTED int fmi2GetRealStatus(Component c, int kind, double *value) {
    *value = ((Instance *)c)->program->time;
    return kind == 2 ? OK : DISCARD;
}
EXPORTED int fmi2GetIntegerStatus(Component c, int kind, int *value) { return DISCARD; }
EXPORTED int fmi2GetBooleanStatus(Component c, int kind, int *value) {
    *value = 0;
    return kind == 3 ? OK : DISCARD;
}
EXPORTED int fmi2GetStringStatus(Component c, int kind, const char **value) { return DISCARD; }
