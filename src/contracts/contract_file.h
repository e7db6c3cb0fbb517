/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* Internal: how a contract of one's own comes to be. */
#ifndef LB_CONTRACTS_CONTRACT_FILE_H
#define LB_CONTRACTS_CONTRACT_FILE_H

#include "lastbit/contracts.h"

/* A copy with these texts, in one piece of memory. */
lb_status lb_contract_copy(const lb_contract *from, const char *name, const char *formats, const char *source, const char *note,
                           lb_contract **out, lb_error *err);

lb_status lb_contract_load(const char *path, lb_contract **out, lb_error *err);

#endif
