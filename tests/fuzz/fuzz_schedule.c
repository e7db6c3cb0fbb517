/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Text of schedules: any bytes are a schedule that writes a text which reads back as it, or one line of error. */
#include "lastbit/schedule.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1), written[LB_SCHEDULE_TEXT_SIZE];
    lb_schedule s, again;
    lb_error err = {0};
    if (!text) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    if (lb_schedule_parse(text, &s, &err) == LB_OK) {
        lb_schedule_text(&s, written, sizeof written);
        if (strlen(written) + 1 >= sizeof written || lb_schedule_parse(written, &again, NULL) != LB_OK || !lb_schedule_equal(&s, &again))
            abort();
    } else if (err.message[0] == 0 || strpbrk(err.message, "\n\r")) {
        abort();
    }
    free(text);
    return 0;
}
