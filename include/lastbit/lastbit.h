/* SPDX-License-Identifier: MIT OR Apache-2.0 */
/* The whole library: are a kernel's bits right? */
#ifndef LASTBIT_H
#define LASTBIT_H

#include "lastbit/backends.h"
#include "lastbit/base.h"
#include "lastbit/calibrate.h"
#include "lastbit/capture.h"
#include "lastbit/contracts.h"
#include "lastbit/diagnose.h"
#include "lastbit/emit.h"
#include "lastbit/explain.h"
#include "lastbit/formats.h"
#include "lastbit/fragments.h"
#include "lastbit/gemm.h"
#include "lastbit/io.h"
#include "lastbit/nets.h"
#include "lastbit/operations.h"
#include "lastbit/operators.h"
#include "lastbit/parity.h"
#include "lastbit/power.h"
#include "lastbit/probe.h"
#include "lastbit/record.h"
#include "lastbit/refs.h"
#include "lastbit/report.h"
#include "lastbit/run.h"
#include "lastbit/scalar.h"
#include "lastbit/scan.h"
#include "lastbit/schedule.h"
#include "lastbit/shrink.h"
#include "lastbit/units.h"

#endif
