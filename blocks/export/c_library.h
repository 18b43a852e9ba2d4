/* {{TITLE}}: a model as a library in C, written by blocks.
 *
{{COMMENT}} */
#ifndef {{UPPER}}_H
#define {{UPPER}}_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define {{UPPER}}_STEP {{STEP}} /* s: the step it was exported with */

enum {
{{STATUSES}}
};

typedef struct {
    double time; /* s: reached */
{{GROUPS}}    uint64_t run[{{RUN}}], memory[{{MEMORY}}];
} {{NAME}};

/* Begin anew: inputs and parameters get the values of the model, outputs those at the start. */
void {{NAME}}_reset({{NAME}} *model);

/* Go on by h (s), with inputs and parameters as they are now; returns a status. What follows from
 * a new value is decided at once. Outputs are those at the end. */
int {{NAME}}_step({{NAME}} *model, double h);

/* What could not be decided, after {{UPPER}}_HALTED: a component; an empty text if none is known. */
const char *{{NAME}}_where({{NAME}} *model);

#ifdef __cplusplus
}
#endif
#endif
