#ifndef REDLOCK_HPP
#define REDLOCK_HPP

/// Everything a user of the library needs.

#include <redlock/blocking.hpp>
#include <redlock/client.hpp>
#include <redlock/config.hpp>
#include <redlock/diagnostics.hpp>
#include <redlock/error.hpp>
#include <redlock/fence_check.hpp>
#include <redlock/fencing.hpp>
#include <redlock/holding.hpp>
#include <redlock/initialize.hpp>
#include <redlock/lead.hpp>
#include <redlock/lease.hpp>
#include <redlock/metrics.hpp>
#include <redlock/node_status.hpp>
#include <redlock/note.hpp>
#include <redlock/observer.hpp>
#include <redlock/options.hpp>
#include <redlock/release_outcome.hpp>
#include <redlock/revocation.hpp>
#include <redlock/time.hpp>
#include <redlock/vote.hpp>
#include <redlock/watcher.hpp>
#include <redlock/with_lock.hpp>

#endif
