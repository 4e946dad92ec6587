/* Guarded mode: acquire, release, retry, extend, fencing tokens, amnesia with quarantine, grace,
   releases that keep the resource, revocation.

   One process picks the next event; an event is what one node or one client does in one step.
   Events that would change nothing, such as a refusal, are left out.
   The section Model of test/README.md has the cuts and gaps that matter most, and the comments here
   the others. Each run of the file runs is a set of -D switches, see scripts/model.sh.

   Nodes follow src/node/scripts. Times are ticks that are left, and not points in time, so that a
   run has no last tick. A message that was sent may be delivered at any later time, any number of
   times, or never: nothing is removed from the network, and nothing has to happen. */

#define NODES 3
#ifndef QUORUM
#define QUORUM (NODES / 2 + 1)
#endif

/* Client 0 has two attempts, one after the other, and client 1 has one. */
#define ATTEMPTS 3
#define CLIENT(a) (a >> 1)
#ifdef REUSED_ID
#define ID(a) (CLIENT(a) + 1)
#else
#define ID(a) (a + 1)
#endif

/* A node's clock may run fast by DRIFT ticks in a ttl, and in a quarantine. */
#ifndef TTL
#define TTL 4
#endif
#ifndef DRIFT
#define DRIFT 1
#endif
#ifndef MARGIN
#define MARGIN 1
#endif
#define VALIDITY (TTL - (MARGIN))
#ifndef EXTEND_TTL
#define EXTEND_TTL TTL
#endif
/* For how long the keys outlive a lease that was lost. */
#ifndef GRACE
#define GRACE 0
#endif
#define KEY_LIFE (TTL + GRACE)
#ifdef UNGRACEFUL_EXTENSION
#define EXTENDED_LIFE EXTEND_TTL
#else
#define EXTENDED_LIFE (EXTEND_TTL + GRACE)
#endif
#ifndef QUARANTINE
#define QUARANTINE KEY_LIFE
#endif

/* What must hold; with -DONLY=name, only that. A trace ends with the name of what did not. */
mtype = { two_leases, lost_quorum, old_token, gap_in_lease, orphan, lost_update };
mtype = { early_grant, not_kept, outlives_revocation };
#ifdef ONLY
#define MATTERS(what) (what == ONLY)
#else
#define MATTERS(what) true
#endif
inline must(condition, otherwise)
{
    if
    :: condition || !MATTERS(otherwise)
    :: else -> printf("violated: %e\n", otherwise); assert(false)
    fi
}

#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define ADD(set, i) set = (set) | BIT(i)
#define DROP(set, i) set = (set) & ~BIT(i)

mtype = { idle, asking, holding, closed };  /* attempt */
mtype = { unread, reading, done };          /* access of a holder to the resource */
mtype = { unmarked, foreign, marked };      /* marker of a node; foreign: another run id */

/* To connect to a node that has its own marker changes nothing. So there are no connections where
   nodes vote only with that marker. */
#if defined(NO_MARKER) || defined(ANY_RUN_ID)
#define CONNECTIONS
#endif

typedef node
{
    byte holder;      /* attempt id of the lock key, 0 without a key */
    byte life;        /* ticks until the key expires */
    byte fence;       /* highest token accepted, or a tombstone */
    byte granted;     /* set of attempts: the client that asks still counts this grant */
    byte prolonged;   /* 1 if the extension was granted here */
    byte released;    /* set of attempts: their release was executed here, and not forgotten */
#ifdef AMNESIA
    mtype marker = marked;
    byte quarantine;  /* ticks until the node may vote */
#endif
#ifdef CONNECTIONS
    byte vetted = 3;  /* set of clients with a connection that was vetted in this life */
#endif
#ifdef KEEP
    byte confirmed;   /* 1 if the client counts that the resource is kept here */
#endif
#ifdef REVOKE
    byte flagged;     /* 1 if the key is not to be extended any more */
    byte answered;    /* 1 if the answer to the revocation counts */
#endif
};
node nodes[NODES];

typedef attempt
{
    mtype phase = idle;
    byte age;         /* ticks since before the first send, up to AGE_END */
    byte token;
#ifdef COUNTED_BY_MESSAGE
    byte twice;       /* a node granted it twice */
#endif
#ifdef STORE
    mtype access = done;
    bool current;     /* nobody has written since this holder read */
#endif
};
attempt attempts[ATTEMPTS];

/* One extension, of attempt 0. */
bool extension_sent, extension_open;
byte extension_age;

#ifdef KEEP
/* A release of attempt 0 that keeps the resource. */
bool keeps;
byte since_begin;  /* ticks since attempt 0 began, up to KEEP */
#endif
#ifdef REVOKE
/* One revocation, of attempt 0. */
bool revoked;
byte until;        /* the longest answer; once it is revoked, ticks until the end */
#endif

byte highest_claimed;  /* highest token of a lease */
#ifdef STORE
byte highest_seen;     /* what the resource remembers */
#endif

#define AGE_END(a) (VALIDITY + (attempts[a].phase == holding -> GRACE : 0))
#ifdef HELD_TOO_LONG
#define VALID(a) (attempts[a].phase == holding && attempts[a].age <= VALIDITY)
#undef AGE_END
#define AGE_END(a) (VALIDITY + 1)
#else
#define VALID(a) (attempts[a].phase == holding && attempts[a].age < VALIDITY)
#endif
#define LEFT(a) (VALIDITY - attempts[a].age)
#define STARTED(a) (attempts[a].phase != idle)
#define OPEN(a) (attempts[a].phase == asking || attempts[a].phase == holding)

/* A lease that was lost, and that its owner has not ended. */
#define IN_GRACE(a) (attempts[a].phase == holding && attempts[a].age >= VALIDITY && \
    attempts[a].age < VALIDITY + GRACE)

byte scratch;  /* 0 between events */

/* Nodes */

#ifdef AMNESIA
#define MAY_VOTE(n) (nodes[n].marker == marked && nodes[n].quarantine == 0)
#else
#define MAY_VOTE(n) true
#endif
#ifdef CONNECTIONS
#define CONNECTED(a, n) HAS(nodes[n].vetted, CLIENT(a))
#else
#define CONNECTED(a, n) true
#endif
#ifdef NO_MARKER
#undef MAY_VOTE
#define MAY_VOTE(n) (nodes[n].quarantine == 0)
#endif
#ifdef ANY_RUN_ID
#undef MAY_VOTE
#define MAY_VOTE(n) (nodes[n].marker != unmarked && nodes[n].quarantine == 0)
#endif

#if defined(AMNESIA) && !defined(REVOKE)
/* Without the fence there are only more runs. What it does is checked without amnesia, and in
   stamps.pml. With a revocation there is only the fence that it leaves. */
#define NEWER(token, fence) true
#elif defined(EQUAL_TOKENS)
#define NEWER(token, fence) (token >= fence)
#elif defined(NO_FENCE)
#define NEWER(token, fence) true
#else
#define NEWER(token, fence) (token > fence)
#endif

inline delete_key(n)
{
    nodes[n].holder = 0;
    nodes[n].life = 0;
#ifdef REVOKE
    nodes[n].flagged = 0
#endif
}

/* Leaves a fence of the attempt's token, which refuses its acquisition. */
inline bury(a, n)
{
    if
    :: nodes[n].fence < attempts[a].token -> nodes[n].fence = attempts[a].token
    :: else
    fi
}

/* A key that is set for some ticks lives less, if the node's clock runs fast meanwhile: drift is what
   that takes of them. */

inline count_grant(a, n)
{
#ifdef COUNTED_BY_MESSAGE
    if
    :: HAS(nodes[n].granted, a) -> attempts[a].twice = 1
    :: else
    fi;
#endif
    if
    :: attempts[a].phase == asking -> ADD(nodes[n].granted, a)
    :: else
    fi
}

/* guarded_acquire.lua: if it sets the key. A holder, a fence or a quarantine refuses. */
#define MAY_ACQUIRE(a, n) (MAY_VOTE(n) && nodes[n].holder == 0 && \
    NEWER(attempts[a].token, nodes[n].fence))
inline acquire_on_node(a, n, drift)
{
    printf("node %d: attempt %d granted, token %d, for %d ticks\n", n, a, attempts[a].token,
        KEY_LIFE - drift);
    must(!HAS(nodes[n].released, a), orphan);
    nodes[n].holder = ID(a);
    nodes[n].life = KEY_LIFE - drift;
#ifndef AMNESIA
    nodes[n].fence = attempts[a].token;
#endif
    count_grant(a, n)
}

/* The same, if the key is there already: the command arrived twice, or its first answer was lost. */
inline acquire_once_more(a, n)
{
    printf("node %d: attempt %d granted once more\n", n, a);
    count_grant(a, n)
}

/* guarded_extend.lua, for attempt 0 */
#ifdef REVIVES
#define MAY_EXTEND(n) (MAY_VOTE(n) && (nodes[n].holder == ID(0) || nodes[n].holder == 0))
#elif defined(REVOKE)
#define MAY_EXTEND(n) (MAY_VOTE(n) && nodes[n].holder == ID(0) && !nodes[n].flagged)
#else
#define MAY_EXTEND(n) (MAY_VOTE(n) && nodes[n].holder == ID(0))
#endif
inline extend_on_node(n, drift)
{
    printf("node %d: extension granted, for %d ticks\n", n, EXTENDED_LIFE - drift);
#ifdef REVIVES
    must(!HAS(nodes[n].released, 0), orphan);
    nodes[n].holder = ID(0);
#endif
    if
#ifdef SHORTENS
    :: true -> nodes[n].life = EXTENDED_LIFE - drift
#else
    :: nodes[n].life < EXTENDED_LIFE - drift -> nodes[n].life = EXTENDED_LIFE - drift
    :: else
#endif
    fi;
    nodes[n].prolonged = extension_open
}

/* guarded_release.lua, which asks for no permission to vote. Without fences it changes nothing if
   there is no key. */
#ifdef AMNESIA
#define MAY_RELEASE(a, n) (nodes[n].holder == ID(a))
#else
#define MAY_RELEASE(a, n) true
#endif
inline release_on_node(a, n)
{
    if
#ifdef PLAIN_DELETE
    :: true ->
#else
    :: nodes[n].holder == ID(a) ->
#endif
        printf("node %d: release of attempt %d deletes the key\n", n, a);
        delete_key(n)
#ifndef PLAIN_DELETE
    :: else ->
        printf("node %d: release of attempt %d finds no key\n", n, a);
#if !defined(NO_TOMBSTONE) && !defined(AMNESIA)
        bury(a, n)
#endif
#endif
    fi;
#ifndef AMNESIA
    ADD(nodes[n].released, a)
#endif
}

#ifdef KEEP
/* guarded_keep.lua, for attempt 0. A plain release may follow. A key that is kept has a value that
   is no attempt's id. Its time counts from the token, so from before the first send, and a fast
   clock takes DRIFT of it. */
#ifdef KEEPS_ID
#define KEPT ID(0)
#else
#define KEPT (ATTEMPTS + 1)
#endif
#if defined(ABSENT_CONFIRMS) || !defined(AMNESIA)
#define MAY_KEEP(n) true
#else
#define MAY_KEEP(n) (nodes[n].holder == ID(0) || nodes[n].holder == KEPT)
#endif
inline keep_on_node(n, drift)
{
    if
    :: nodes[n].holder == ID(0) && since_begin + drift < KEEP ->
        printf("node %d: release keeps the resource for %d ticks\n", n,
            KEEP - drift - since_begin);
        nodes[n].holder = KEPT;
        nodes[n].life = KEEP - drift - since_begin;
        nodes[n].confirmed = 1
    :: nodes[n].holder == ID(0) && since_begin + drift >= KEEP ->
        printf("node %d: release that keeps comes late, and deletes the key\n", n);
        delete_key(n);
        nodes[n].confirmed = 1
#ifndef KEEPS_ID
    :: nodes[n].holder == KEPT ->
        printf("node %d: keeps the resource already\n", n);
        nodes[n].confirmed = 1
#endif
    :: else ->
        printf("node %d: release that keeps finds no key\n", n);
#ifndef AMNESIA
        bury(0, n);
#endif
#ifdef ABSENT_CONFIRMS
        nodes[n].confirmed = 1
#endif
    fi;
#ifndef AMNESIA
    ADD(nodes[n].released, 0)
#endif
}
#endif

#ifdef REVOKE
/* guarded_revoke.lua, for attempt 0. Its answer is for how long the node may have promised the
   resource: a node that must not vote vouches for what it may have forgotten. */
#ifdef AMNESIA
#ifdef QUARANTINE_IS_NONE
#define WAIT(n) 0
#else
#define WAIT(n) nodes[n].quarantine
#endif
#ifdef UNKNOWN_IS_NONE
#define FORGOTTEN(n) WAIT(n)
#else
#define FORGOTTEN(n) (nodes[n].marker == marked -> WAIT(n) : QUARANTINE)
#endif
#else
#define FORGOTTEN(n) 0
#endif
#define PROMISED(n) (nodes[n].holder == ID(0) && nodes[n].life > FORGOTTEN(n) -> \
    nodes[n].life : FORGOTTEN(n))
inline revoke_on_node(n)
{
    if
    :: nodes[n].holder == ID(0) ->
        printf("node %d: revoked, %d ticks are promised\n", n, PROMISED(n));
#ifndef NO_MARK
        nodes[n].flagged = 1;
#endif
#ifdef AMNESIA
        bury(0, n)
#endif
    :: else ->
        printf("node %d: no such hold to revoke, %d ticks are promised\n", n, PROMISED(n));
#ifndef NO_REVOKED_FENCE
        bury(0, n)
#endif
    fi
}
#define REVOKES(n) ((nodes[n].holder == ID(0) && !nodes[n].flagged) || \
    nodes[n].fence < attempts[0].token)
#endif

/* Clients */

#define GRANTS(a) (HAS(nodes[0].granted, a) + HAS(nodes[1].granted, a) + HAS(nodes[2].granted, a))
#define CONFIRMED (nodes[0].confirmed + nodes[1].confirmed + nodes[2].confirmed)
#define ANSWERED (nodes[0].answered + nodes[1].answered + nodes[2].answered)
#define EXTENDED (nodes[0].prolonged + nodes[1].prolonged + nodes[2].prolonged)
#ifdef COUNTED_BY_MESSAGE
#define VOTES(a) (GRANTS(a) + attempts[a].twice)
#else
#define VOTES(a) GRANTS(a)
#endif

/* A round: one look at the clock, then the same bytes to all nodes. The token is any: T1 asks
   nothing of clocks. Three values make every order of three tokens, equal ones too. */
inline begin_attempt(a, number)
{
    printf("client %d: attempt %d, token %d\n", CLIENT(a), a, number);
    attempts[a].phase = asking;
    attempts[a].token = number
}

inline claim(a)
{
#ifdef LATE_START
    attempts[a].age = 0;
#endif
    printf("client %d: lease by attempt %d, token %d, %d ticks left\n", CLIENT(a), a,
        attempts[a].token, LEFT(a));
    /* A lease that was lost has its grace. */
    must(IN_GRACE(0) + IN_GRACE(1) + IN_GRACE(2) == 0, early_grant);
#ifdef KEEP
    /* A resource that a quorum keeps is not free before its time. */
    must(CONFIRMED < QUORUM || since_begin >= KEEP - DRIFT, not_kept);
#endif
    attempts[a].phase = holding;
    forget_grants(a);
#ifndef AMNESIA
    /* T1: tokens increase in the order in which leases are granted. */
    must(attempts[a].token > highest_claimed, old_token);
    highest_claimed = attempts[a].token;
#endif
#ifdef STORE
    attempts[a].access = unread
#endif
}

inline forget_grants(a)
{
    DROP(nodes[0].granted, a);
    DROP(nodes[1].granted, a);
    DROP(nodes[2].granted, a);
#ifdef COUNTED_BY_MESSAGE
    attempts[a].twice = 0
#endif
}

inline forget_extension()
{
    extension_open = false;
    extension_age = 0;
    nodes[0].prolonged = 0;
    nodes[1].prolonged = 0;
    nodes[2].prolonged = 0
}

/* Gives up, or gives back. From now on releases are on their way to all nodes. The client asks
   none of those that said no, but a release that is never delivered is the same. */
inline close_attempt(a)
{
    printf("client %d: gives attempt %d back\n", CLIENT(a), a);
#ifdef KEEP
    if
    :: a == 0 && VALID(a) -> keeps = true
    :: a == 0 && !VALID(a) -> since_begin = 0
    :: else
    fi;
#endif
#ifdef REVOKE
    if
    :: a == 0 -> forget_revocation()
    :: else
    fi;
#endif
    attempts[a].phase = closed;
    attempts[a].age = 0;
    forget_grants(a);
    if
    :: a == 0 && extension_open -> forget_extension()
    :: else
    fi
}

#ifdef REVOKE
inline forget_answers()
{
    nodes[0].answered = 0;
    nodes[1].answered = 0;
    nodes[2].answered = 0
}

inline forget_revocation()
{
    revoked = false;
    until = 0;
    forget_answers()
}

/* One answer of each node counts. The longest one tells when the hold ends, from the last one on.
   No clock is slow here, so that needs no margin. */
#ifdef SHORTEST_ANSWER
#define COUNTS(left) (ANSWERED == 0 || left < until)
#else
#define COUNTS(left) (left > until)
#endif
inline count_answer(n)
{
    if
    :: COUNTS(PROMISED(n)) -> until = PROMISED(n)
    :: else
    fi;
    revoke_on_node(n);
    nodes[n].answered = 1;
    if
    :: ANSWERED >= QUORUM ->
        printf("revocation of attempt 0: it ends within %d ticks\n", until);
        revoked = true;
        forget_answers()
    :: else
    fi
}
#endif

inline send_extension()
{
    printf("client 0: asks for an extension\n");
    extension_sent = true;
    extension_open = true
}

/* Counts only before the old deadline, and moves it from when the extension was asked for. */
#ifdef EXTENDED_FROM_NOW
#define EXTENDED_AGE (TTL - EXTEND_TTL)
#else
#define EXTENDED_AGE (extension_age + TTL - EXTEND_TTL)
#endif
#if defined(UNTIMELY_EXTENSION)
#define IN_TIME true
#elif defined(LATE_EXTENSION)
#define IN_TIME (EXTENDED_AGE < VALIDITY)
#else
#define IN_TIME (attempts[0].age < VALIDITY)
#endif
inline accept_extension()
{
    printf("client 0: extension accepted\n");
#ifndef AMNESIA
    /* Nobody else was granted a lease since, or this one was not held all the time. */
    must(attempts[0].token == highest_claimed, gap_in_lease);
#endif
    if
    :: EXTENDED_AGE < attempts[0].age -> attempts[0].age = EXTENDED_AGE
    :: else
    fi;
    forget_extension()
}

/* Raises the token of a round that goes on, for the nodes that have not granted. */
inline mix_tokens(a)
{
    printf("client %d: attempt %d goes on with token %d\n", CLIENT(a), a, attempts[a].token + 1);
    attempts[a].token++
}

/* A resource that checks tokens from the first access on. The holder may act at any later time,
   for nothing stops it. */

#ifdef STORE
inline read_resource(a)
{
#ifdef WRITE_ONLY
    attempts[a].access = reading;
    attempts[a].current = true;
    printf("client %d: reads\n", CLIENT(a))
#else
    if
    :: attempts[a].token >= highest_seen ->
        printf("client %d: reads with token %d\n", CLIENT(a), attempts[a].token);
        highest_seen = attempts[a].token;
        attempts[a].access = reading;
        attempts[a].current = true
    :: else ->
        printf("client %d: read refused, token %d\n", CLIENT(a), attempts[a].token);
        attempts[a].access = done
    fi
#endif
}

inline write_resource(a)
{
    attempts[a].access = done;
    if
    :: attempts[a].token >= highest_seen ->
        printf("client %d: writes with token %d\n", CLIENT(a), attempts[a].token);
        highest_seen = attempts[a].token;
        /* No lost update. */
        must(attempts[a].current, lost_update);
        attempts[0].current = false;
        attempts[1].current = false;
        attempts[2].current = false
    :: else ->
        printf("client %d: write refused, token %d\n", CLIENT(a), attempts[a].token);
        attempts[a].current = false
    fi
}
#endif

/* Time and loss */

inline tick_attempt(x)
{
    if
    :: attempts[x].phase != idle && attempts[x].phase != closed && attempts[x].age < AGE_END(x) ->
        attempts[x].age++
    :: else
    fi
}

inline tick_node(x)
{
    if
    :: nodes[x].life > 0 -> nodes[x].life--;
        if
        :: nodes[x].life == 0 -> delete_key(x)
        :: else
        fi
    :: else
    fi;
#ifdef AMNESIA
    if
    :: nodes[x].quarantine > 0 -> nodes[x].quarantine--
    :: else
    fi
#endif
}

inline tick()
{
    printf("- tick\n");
    tick_attempt(0);
    tick_attempt(1);
    tick_attempt(2);
    tick_node(0);
    tick_node(1);
    tick_node(2);
    if
    :: extension_open && extension_age < VALIDITY -> extension_age++
    :: else
    fi;
#ifdef KEEP
    if
    :: (OPEN(0) || keeps) && since_begin < KEEP -> since_begin++
    :: else
    fi;
#endif
#ifdef REVOKE
    if
    :: revoked && until > 0 -> until--
    :: else
    fi
#endif
}

#ifdef AMNESIA
inline lose_keys(n)
{
    delete_key(n);
#ifdef REVOKE
    nodes[n].fence = 0;
#endif
    nodes[n].quarantine = 0
}

inline flush_node(n)
{
    printf("node %d: flushed\n", n);
    lose_keys(n);
    nodes[n].marker = unmarked
}

/* Comes back with nothing, or with older keys. Of these the marker is one. */
inline restart_node(n, left)
{
    printf("node %d: restarted, its marker is %e\n", n, left);
    lose_keys(n);
#ifdef CONNECTIONS
    nodes[n].vetted = 0;
#endif
    nodes[n].marker = left
}

/* Becomes a replica of another node, has what that has, and becomes a master again. Its clients
   stay connected. One that has a copy of this node is left out: it would give this node its own
   marker back, with older keys. */
inline copy_node(n, from)
{
    printf("node %d: has what node %d has\n", n, from);
    nodes[n].holder = nodes[from].holder;
    nodes[n].life = nodes[from].life;
#ifdef REVOKE
    nodes[n].flagged = nodes[from].flagged;
    nodes[n].fence = nodes[from].fence;
#endif
    nodes[n].quarantine = nodes[from].quarantine;
    if
    :: nodes[from].marker == unmarked -> nodes[n].marker = unmarked
    :: else -> nodes[n].marker = foreign
    fi
}

#ifdef NO_RUN_ID
#define FORGOT(n) (nodes[n].marker == unmarked)
#else
#define FORGOT(n) (nodes[n].marker != marked)
#endif

/* admit.lua, on each new connection */
#ifdef CONNECTIONS
#define MAY_ADMIT(c, n) (nodes[n].marker != marked || !HAS(nodes[n].vetted, c))
#else
#define MAY_ADMIT(c, n) (nodes[n].marker != marked && c == 0)
#endif
inline admit_client(c, n, drift)
{
#ifdef CONNECTIONS
    printf("node %d: client %d connects\n", n, c);
    ADD(nodes[n].vetted, c);
#else
    printf("node %d: a client connects\n", n);
#endif
    if
    :: FORGOT(n) && QUARANTINE > 0 ->
        printf("node %d: quarantine of %d ticks\n", n, QUARANTINE - drift);
        nodes[n].quarantine = QUARANTINE - drift
    :: else
    fi;
    nodes[n].marker = marked
}
#endif

/* What must hold after every event */

/* Nobody else can get this node before the deadline of attempt a, and its grace. */
#define HELD_FOR(a) (LEFT(a) + GRACE)
#ifdef AMNESIA
#define PROTECTS(n, a) ((nodes[n].holder == ID(a) && nodes[n].life >= HELD_FOR(a)) || \
    nodes[n].marker != marked || nodes[n].quarantine >= HELD_FOR(a))
#else
#define PROTECTS(n, a) (nodes[n].holder == ID(a) && nodes[n].life >= HELD_FOR(a))
#endif

inline check_lease(x)
{
    /* I2: a lease has a quorum until its deadline, and its grace. */
    if
    :: VALID(x) || IN_GRACE(x) ->
        must(PROTECTS(0, x) + PROTECTS(1, x) + PROTECTS(2, x) >= QUORUM, lost_quorum)
    :: else
    fi
}

inline check()
{
    /* I1: at most one lease. */
    must(VALID(0) + VALID(1) + VALID(2) <= 1, two_leases);
    check_lease(0);
    check_lease(1);
    check_lease(2);
#ifdef REVOKE
    /* A hold that is revoked ends when the revocation says, or before. */
    must(!revoked || !VALID(0) || LEFT(0) <= until, outlives_revocation)
#endif
}

/* Nodes are alike, so a state is kept in one order of them only. scripts/model.sh reads the swaps
   in a trace, and calls each node by one name. */
#ifdef AMNESIA
#define MORE(n) + 4096 * (nodes[n].marker + 256 * nodes[n].quarantine)
#else
#define MORE(n)
#endif
#ifdef CONNECTIONS
#define STILL_MORE(n) + 262144 * nodes[n].vetted
#else
#define STILL_MORE(n)
#endif
#if defined(KEEP)
#define YET_MORE(n) + 8388608 * nodes[n].confirmed
#elif defined(REVOKE)
#define YET_MORE(n) + 8388608 * (nodes[n].flagged + 2 * nodes[n].answered + \
    4 * nodes[n].prolonged)
#else
#define YET_MORE(n)
#endif
#define WEIGHT(n) (nodes[n].holder + 4 * nodes[n].life + 32 * nodes[n].fence + \
    128 * nodes[n].granted + 1024 * nodes[n].released + 8192 * nodes[n].prolonged \
    MORE(n) STILL_MORE(n) YET_MORE(n))
#define SWAP(field) scratch = nodes[x].field; nodes[x].field = nodes[y].field; \
    nodes[y].field = scratch

inline order(x, y)
{
    if
    :: WEIGHT(x) > WEIGHT(y) ->
        SWAP(holder); SWAP(life); SWAP(fence); SWAP(granted); SWAP(released); SWAP(prolonged);
#ifdef AMNESIA
        SWAP(marker); SWAP(quarantine);
#endif
#ifdef CONNECTIONS
        SWAP(vetted);
#endif
#ifdef KEEP
        SWAP(confirmed);
#endif
#ifdef REVOKE
        SWAP(flagged); SWAP(answered);
#endif
        scratch = 0;
        printf("swap %d %d\n", x, y)
    :: else
    fi
}

inline settle()
{
    check();
    order(0, 1);
    order(1, 2);
    order(0, 1)
}

/* Events */

#define EVENT(guard, effect) :: d_step { (guard) -> effect; settle() }

#ifdef LOSS_RELEASES
#define RELEASED(a) (attempts[a].phase == closed || IN_GRACE(a))
#else
#define RELEASED(a) (attempts[a].phase == closed)
#endif

#define EVENTS_OF_ATTEMPT_ON_NODE(a, n) \
    EVENT(STARTED(a) && CONNECTED(a, n) && MAY_ACQUIRE(a, n), acquire_on_node(a, n, 0)) \
    EVENT(DRIFT > 0 && STARTED(a) && CONNECTED(a, n) && MAY_ACQUIRE(a, n), \
        acquire_on_node(a, n, DRIFT)) \
    EVENT(attempts[a].phase == asking && CONNECTED(a, n) && MAY_VOTE(n) && \
        nodes[n].holder == ID(a), acquire_once_more(a, n)) \
    EVENT(RELEASED(a) && MAY_RELEASE(a, n), release_on_node(a, n))

#define EVENTS_OF_ATTEMPT(a) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 0) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 1) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 2) \
    EVENT(attempts[a].phase == asking && VOTES(a) >= QUORUM && attempts[a].age < VALIDITY, \
        claim(a)) \
    EVENT(OPEN(a), close_attempt(a))

#define EVENTS_OF_EXTENSION(n) \
    EVENT(extension_sent && CONNECTED(0, n) && MAY_EXTEND(n), extend_on_node(n, 0)) \
    EVENT(extension_sent && CONNECTED(0, n) && MAY_EXTEND(n), extend_on_node(n, DRIFT))

/* The plain release of attempt 0 may come too, although no client sends both. */
#define EVENTS_OF_KEEPING(n) \
    EVENT(keeps && MAY_KEEP(n), keep_on_node(n, 0)) \
    EVENT(DRIFT > 0 && keeps && nodes[n].holder == ID(0), keep_on_node(n, DRIFT))

/* An answer may be lost. None counts once the hold is revoked or over. */
#define EVENTS_OF_REVOCATION(n) \
    EVENT(OPEN(0) && LEFT(0) > 0 && !revoked && !nodes[n].answered, count_answer(n)) \
    EVENT(STARTED(0) && REVOKES(n), revoke_on_node(n))

#define EVENTS_OF_RESOURCE(a) \
    EVENT(attempts[a].access == unread, read_resource(a)) \
    EVENT(attempts[a].access == reading, write_resource(a))

#define EVENTS_OF_LOSS(n) \
    EVENT(true, flush_node(n)) \
    EVENT(true, restart_node(n, unmarked)) \
    EVENT(nodes[n].marker != unmarked, restart_node(n, foreign))

#define EVENTS_OF_ADMISSION(n) \
    EVENT(MAY_ADMIT(0, n), admit_client(0, n, 0)) \
    EVENT(MAY_ADMIT(1, n), admit_client(1, n, 0)) \
    EVENT(DRIFT > 0 && QUARANTINE > DRIFT && MAY_ADMIT(0, n), admit_client(0, n, DRIFT)) \
    EVENT(DRIFT > 0 && QUARANTINE > DRIFT && MAY_ADMIT(1, n), admit_client(1, n, DRIFT))

#define EVENTS_OF_COPY(n, from) \
    EVENT(nodes[from].marker != foreign, copy_node(n, from))

#ifdef TWO_ATTEMPTS
/* One for each client: the states are too many for three. */
#define MAY_BEGIN(a) (attempts[a].phase == idle && a != 1)
#else
#define MAY_BEGIN(a) (attempts[a].phase == idle && (a != 1 || attempts[0].phase == closed))
#endif

/* With amnesia tokens do not matter. But the fence of a revocation refuses only attempt 0. */
#if defined(AMNESIA) && defined(REVOKE)
#define SECOND_TOKEN 2
#else
#define SECOND_TOKEN 1
#endif

active proctype world()
{
    do
    EVENT(true, tick())
    EVENT(MAY_BEGIN(0), begin_attempt(0, 1))
    EVENT(MAY_BEGIN(1), begin_attempt(1, SECOND_TOKEN))
    EVENT(MAY_BEGIN(2), begin_attempt(2, SECOND_TOKEN))
#ifndef AMNESIA
    EVENT(MAY_BEGIN(0), begin_attempt(0, 2))
    EVENT(MAY_BEGIN(0), begin_attempt(0, 3))
    EVENT(MAY_BEGIN(1), begin_attempt(1, 2))
    EVENT(MAY_BEGIN(1), begin_attempt(1, 3))
    EVENT(MAY_BEGIN(2), begin_attempt(2, 2))
    EVENT(MAY_BEGIN(2), begin_attempt(2, 3))
#endif
    EVENTS_OF_ATTEMPT(0)
    EVENTS_OF_ATTEMPT(1)
    EVENTS_OF_ATTEMPT(2)
#ifdef EXTENSION
    EVENT(attempts[0].phase == holding && !extension_sent, send_extension())
    EVENTS_OF_EXTENSION(0)
    EVENTS_OF_EXTENSION(1)
    EVENTS_OF_EXTENSION(2)
    EVENT(extension_open && EXTENDED >= QUORUM && IN_TIME, accept_extension())
#endif
#ifdef KEEP
    EVENTS_OF_KEEPING(0)
    EVENTS_OF_KEEPING(1)
    EVENTS_OF_KEEPING(2)
#endif
#ifdef REVOKE
    EVENTS_OF_REVOCATION(0)
    EVENTS_OF_REVOCATION(1)
    EVENTS_OF_REVOCATION(2)
#endif
#ifdef MIXED_TOKENS
    EVENT(attempts[0].phase == asking && attempts[0].token < 3, mix_tokens(0))
#endif
#ifdef STORE
    EVENTS_OF_RESOURCE(0)
    EVENTS_OF_RESOURCE(1)
    EVENTS_OF_RESOURCE(2)
#endif
#ifdef AMNESIA
#ifndef ONLY_COPIES
    EVENTS_OF_LOSS(0)
    EVENTS_OF_LOSS(1)
    EVENTS_OF_LOSS(2)
#endif
    EVENTS_OF_ADMISSION(0)
    EVENTS_OF_ADMISSION(1)
    EVENTS_OF_ADMISSION(2)
#endif
#ifdef COPIES
    EVENTS_OF_COPY(0, 1)
    EVENTS_OF_COPY(0, 2)
    EVENTS_OF_COPY(1, 0)
    EVENTS_OF_COPY(1, 2)
    EVENTS_OF_COPY(2, 0)
    EVENTS_OF_COPY(2, 1)
#endif
    od
}
