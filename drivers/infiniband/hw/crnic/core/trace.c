// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "../compat/compat.h"

#ifndef __CHECKER__
#define CREATE_TRACE_POINTS
#include "trace.h"
#endif
