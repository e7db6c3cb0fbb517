/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Uses enough of the library that a static link needs all that the library is linked with. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <lastbit/lastbit.h>

int main(void) {
    lb_unit unit;
    lb_record *record = NULL;
    char *json = NULL;
    lb_error err;
    if (strcmp(lb_version(), LB_VERSION) != 0) return 1;
    if (lb_unit_find("sm_80/mma.m16n8k16.f32.f16.f16.f32", &unit, &err) != LB_OK) return 2;
    if (lb_record_open(&record, &err) != LB_OK || lb_record_to_json(record, &json, &err) != LB_OK) return 3;
    if (strstr(json, "lastbit.result/1") == NULL) return 4;
    if (lb_backend_name(0) == NULL) return 5;
    free(json);
    lb_record_close(record);
    puts(lb_version());
    return 0;
}
