// What Apple documents of <libproc.h>.
#pragma once

#include <stdint.h>

#define PROC_PGRP_ONLY 2

extern "C" int proc_listpids(uint32_t type, uint32_t typeinfo, void* buffer, int buffersize);
