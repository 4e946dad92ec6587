// What Apple documents of <mach/mach_time.h>, to compile src/loop/platform_macos.cpp elsewhere.
#pragma once

#include <stdint.h>

struct mach_timebase_info
{
    uint32_t numer;
    uint32_t denom;
};

using mach_timebase_info_data_t = mach_timebase_info;

extern "C" int mach_timebase_info(mach_timebase_info* info);
extern "C" uint64_t mach_continuous_time(void);
