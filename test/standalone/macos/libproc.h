// What Apple documents of <libproc.h>.
#pragma once

#include <stdint.h>

#define PROC_PGRP_ONLY 2

#define PROC_PIDTBSDINFO 3
#define SZOMB 5

struct proc_bsdinfo
{
    uint32_t pbi_flags;
    uint32_t pbi_status;
    // And more.
};

extern "C" int proc_pidinfo(int pid, int flavor, uint64_t arg, void* buffer, int buffersize);
extern "C" int proc_listpids(uint32_t type, uint32_t typeinfo, void* buffer, int buffersize);
