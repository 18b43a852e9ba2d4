/* Prints what {{TITLE}} does in 1000 steps, as a table of values divided by commas. */
#include <stdio.h>

#include "{{NAME}}.h"

static {{NAME}} model;

int main(void) {
    {{NAME}}_reset(&model);
{{SETTINGS}}    puts("{{HEADINGS}}");
    {{ROW}}
    for (int k = 0; k < 1000; k++) {
        int status = {{NAME}}_step(&model, {{UPPER}}_STEP);
        if (status == {{UPPER}}_NOT_KNOWN) break;
        if (status != {{UPPER}}_OK && status != {{UPPER}}_MANY_EVENTS) {
            fprintf(stderr, "at t = %g s: status %d %s\n", model.time, status,
                    {{NAME}}_where(&model));
            return status;
        }
        {{ROW}}
    }
    return 0;
}
