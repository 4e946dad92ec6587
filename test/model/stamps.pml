/* The stamp guard: tokens are stamps, and a node accepts those within WINDOW of its own clock. Two
   acquisitions of one resource, by two clients, on nodes whose clocks differ, and step.

   -DT2  tokens increase although nodes forget: all clocks may be anything, and go back by
         BACK in all. A node that forgot sits out QUARANTINE by its clock.
   -DT3  exclusion although clocks step: node 0 has any clock, which may step STEPS times, the
         others are right but for ERROR. Leases are shorter by GUARD_TIME.

   Clocks are as in Redis: a key is gone for good when its node's clock has reached its end. The
   first acquisition begins at time 0. Both choose any token, for clients' clocks are anything.

   A gap: WINDOW is one tick, so sizes between 0 and WINDOW are not tried. */

#define NODES 3
#define QUORUM 2
#define ATTEMPTS 2

#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef TTL
#define TTL 2
#endif
#ifndef GUARD_TIME
#define GUARD_TIME 0
#endif
#define VALIDITY (TTL - (GUARD_TIME))

/* How much clocks may differ from each other, so that 0 is the smallest offset. Wider apart than
   twice a window, two nodes never accept the same token. */
#ifndef SPREAD
#define SPREAD (4 * WINDOW)
#endif

#ifdef T2
#ifndef BACK
#define BACK 1
#endif
#ifndef QUARANTINE
#define QUARANTINE (2 * WINDOW + BACK + 1)
#endif
/* Every clock can go back by as much at the beginning. */
#ifndef FIRST_OFFSET
#define FIRST_OFFSET BACK
#endif
#ifndef END
#define END (QUARANTINE + VALIDITY)
#endif
#define SLACK BACK
#endif

#ifdef T3
#ifndef ERROR
#define ERROR 0
#endif
#ifndef STEPS
#define STEPS 1
#endif
#ifndef MIN_STEP
#define MIN_STEP 0
#endif
#ifndef MAX_STEP
#define MAX_STEP SPREAD
#endif
#ifndef WRONG_CLOCKS
#define WRONG_CLOCKS 1
#endif
#define RIGHT ((SPREAD) / 2)
/* Two leases can overlap only while the first may be held. */
#define END VALIDITY
#define FIRST_OFFSET 0
#define SLACK SPREAD
#endif

/* What must hold; with -DONLY=name, only that. A trace ends with the name of what did not. */
mtype = { two_leases, old_token };
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

typedef node
{
    byte offset;       /* of its clock to the time */
    byte holder;       /* 0, or attempt + 1 */
    byte expiry;       /* by its clock */
    byte fence;
    byte granted;      /* set of attempts */
#ifdef T2
    byte voting_from;  /* end of the quarantine, by its clock */
    byte back;         /* how far the clock was set back */
#ifdef FENCE_TTL
    byte fence_expiry;
#endif
#endif
};
node nodes[NODES];

mtype = { idle, asking, holding };
typedef attempt
{
    mtype phase = idle;
    byte begun;
    byte token;
};
attempt attempts[ATTEMPTS];

byte now_, steps, highest_claimed, scratch;

#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define CLOCK(n) (now_ + nodes[n].offset)
/* Tokens are moved by this much, so that none is below 0. */
#define SHIFT (WINDOW + 1)
#define STAMP(n) (CLOCK(n) + SHIFT)

#ifdef NO_GUARD
#define IN_WINDOW(p, n) true
#elif defined(NO_LOWER_GUARD)
#define IN_WINDOW(p, n) (p <= STAMP(n) + WINDOW)
#elif defined(NO_UPPER_GUARD)
#define IN_WINDOW(p, n) (p + WINDOW >= STAMP(n))
#else
#define IN_WINDOW(p, n) (p + WINDOW >= STAMP(n) && p <= STAMP(n) + WINDOW)
#endif

#ifdef T2
#define MAY_VOTE(n) (nodes[n].voting_from == 0)
#else
#define MAY_VOTE(n) true
#endif

/* A grant that comes after the lease is no help to anybody else, and is left out. */
#define MAY_ACQUIRE(a, n) (attempts[a].phase == asking && MAY_VOTE(n) && nodes[n].holder == 0 && \
    IN_WINDOW(attempts[a].token, n) && attempts[a].token > nodes[n].fence)
inline acquire_on_node(a, n)
{
    printf("node %d, clock %d: attempt %d granted, token %d\n", n, STAMP(n), a, attempts[a].token);
    nodes[n].holder = a + 1;
    nodes[n].expiry = CLOCK(n) + TTL;
    nodes[n].fence = attempts[a].token;
#ifdef FENCE_TTL
    nodes[n].fence_expiry = CLOCK(n) + FENCE_TTL;
#endif
    nodes[n].granted = nodes[n].granted | BIT(a)
}

inline begin_attempt(a, ahead)
{
    attempts[a].phase = asking;
    attempts[a].begun = now_;
    attempts[a].token = now_ + ahead;
    printf("client %d: begins at %d with token %d\n", a, now_, attempts[a].token)
}

#define VALID(a) (attempts[a].phase == holding && now_ < attempts[a].begun + VALIDITY)
#define VOTES(a) (HAS(nodes[0].granted, a) + HAS(nodes[1].granted, a) + HAS(nodes[2].granted, a))
#define MAY_CLAIM(a) (attempts[a].phase == asking && VOTES(a) >= QUORUM && \
    now_ < attempts[a].begun + VALIDITY)
inline claim(a)
{
    printf("client %d: lease until %d, token %d\n", a, attempts[a].begun + VALIDITY,
        attempts[a].token);
    attempts[a].phase = holding;
    must(attempts[a].token > highest_claimed, old_token);
    highest_claimed = attempts[a].token;
    nodes[0].granted = nodes[0].granted & ~BIT(a);
    nodes[1].granted = nodes[1].granted & ~BIT(a);
    nodes[2].granted = nodes[2].granted & ~BIT(a)
}

inline expire(n)
{
    if
    :: nodes[n].holder != 0 && CLOCK(n) >= nodes[n].expiry ->
        printf("node %d, clock %d: the key expires\n", n, STAMP(n));
        nodes[n].holder = 0;
        nodes[n].expiry = 0
    :: else
    fi;
#ifdef T2
    if
    :: nodes[n].voting_from != 0 && CLOCK(n) >= nodes[n].voting_from ->
        printf("node %d, clock %d: the quarantine is over\n", n, STAMP(n));
        nodes[n].voting_from = 0
    :: else
    fi;
#endif
#ifdef FENCE_TTL
    if
    :: nodes[n].fence != 0 && CLOCK(n) >= nodes[n].fence_expiry ->
        printf("node %d, clock %d: the fence expires\n", n, STAMP(n));
        nodes[n].fence = 0;
        nodes[n].fence_expiry = 0
    :: else
    fi
#endif
}

inline tick()
{
    now_++;
    printf("- time %d\n", now_)
}

inline set_offset(n, value)
{
    nodes[n].offset = value;
    printf("node %d: its clock shows %d\n", n, STAMP(n))
}

inline step_clock(n, value)
{
    steps++;
    set_offset(n, value)
}

#ifdef T2
/* Another restart finds the clock right again by up to BACK, if each of them may set it. */
inline forget(n)
{
    printf("node %d, clock %d: forgets everything\n", n, STAMP(n));
    nodes[n].holder = 0;
    nodes[n].expiry = 0;
    nodes[n].fence = 0;
#ifdef FENCE_TTL
    nodes[n].fence_expiry = 0;
#endif
    nodes[n].voting_from = CLOCK(n) + QUARANTINE;
#ifdef BACK_AT_EACH_LOSS
    nodes[n].back = 0
#endif
}

inline set_back(n)
{
    nodes[n].back++;
    set_offset(n, nodes[n].offset - 1)
}
#endif

/* Nodes with clocks of the same kind are alike. scripts/model.sh reads the swaps in a trace. */
#ifdef T2
#define FIRST_ALIKE 0
#define MORE(n) + 4096 * (nodes[n].voting_from + 64 * nodes[n].back)
#else
#define MORE(n)
#endif
#define WEIGHT(n) (nodes[n].granted + 4 * nodes[n].offset + 128 * nodes[n].holder + \
    512 * nodes[n].expiry MORE(n))
#define SWAP(field) scratch = nodes[x].field; nodes[x].field = nodes[y].field; \
    nodes[y].field = scratch
inline order(x, y)
{
    if
    :: WEIGHT(x) > WEIGHT(y) || WEIGHT(x) == WEIGHT(y) && nodes[x].fence > nodes[y].fence ->
        SWAP(offset); SWAP(holder); SWAP(expiry); SWAP(fence); SWAP(granted);
#ifdef T2
        SWAP(voting_from); SWAP(back);
#ifdef FENCE_TTL
        SWAP(fence_expiry);
#endif
#endif
        scratch = 0;
        printf("swap %d %d\n", x, y)
    :: else
    fi
}

inline settle()
{
    expire(0);
    expire(1);
    expire(2);
    must(VALID(0) + VALID(1) <= 1, two_leases);
#ifdef T2
    order(0, 1);
    order(1, 2);
    order(0, 1)
#endif
}

#define EVENT(guard, effect) :: d_step { (guard) -> effect; settle() }

#define EVENTS_OF_NODE(n) \
    EVENT(MAY_ACQUIRE(0, n), acquire_on_node(0, n)) \
    EVENT(MAY_ACQUIRE(1, n), acquire_on_node(1, n))

/* Both have to win, or nothing can go wrong. So only tokens are tried that two nodes may accept in
   time, and time stands still before it is too late. */
#define TRIED(p, n) (p + WINDOW + SLACK >= STAMP(n) && p <= STAMP(n) + WINDOW + SLACK + VALIDITY)
#define MAY_WIN(p) (TRIED(p, 0) + TRIED(p, 1) + TRIED(p, 2) >= QUORUM)
#define HURRY(a) (attempts[a].phase == asking && now_ + 1 >= attempts[a].begun + VALIDITY)

#define MAY_BEGIN(a, p) (attempts[a].phase == idle && (a == 0 || attempts[0].phase != idle) && \
    p > 0 && MAY_WIN(p))
#define EVENTS_OF_TOKEN(ahead) \
    EVENT(MAY_BEGIN(0, now_ + ahead), begin_attempt(0, ahead)) \
    EVENT(MAY_BEGIN(1, now_ + ahead), begin_attempt(1, ahead))

#define DISTANCE(x, y) ((x) > (y) -> (x) - (y) : (y) - (x))
#define MAY_STEP(n, value) (n < WRONG_CLOCKS && steps < STEPS && value <= SPREAD && \
    nodes[n].offset != value && DISTANCE(nodes[n].offset, value) >= (MIN_STEP) && \
    DISTANCE(nodes[n].offset, value) <= (MAX_STEP) DIRECTION(n, value))
#ifdef FORWARD_ONLY
#define DIRECTION(n, value) && value > nodes[n].offset
#else
#define DIRECTION(n, value)
#endif

#define UP_TO_27(event) event(0) event(1) event(2) event(3) event(4) event(5) event(6) event(7) \
    event(8) event(9) event(10) event(11) event(12) event(13) event(14) event(15) event(16) \
    event(17) event(18) event(19) event(20) event(21) event(22) event(23) event(24) event(25) \
    event(26) event(27)

#define STEP_OF_NODE_0(value) EVENT(MAY_STEP(0, value), step_clock(0, value))
#define STEP_OF_NODE_1(value) EVENT(MAY_STEP(1, value), step_clock(1, value))

/* A clock that is right wanders within its error. */
#define WANDERING(n) \
    EVENT(n >= WRONG_CLOCKS && nodes[n].offset < RIGHT + ERROR, \
        set_offset(n, nodes[n].offset + 1)) \
    EVENT(n >= WRONG_CLOCKS && nodes[n].offset > RIGHT - ERROR, \
        set_offset(n, nodes[n].offset - 1))

#ifdef BACK_AT_EACH_LOSS
#define MAY_FORGET(n) (nodes[n].fence != 0 || nodes[n].voting_from != 0 && nodes[n].back != 0)
#else
/* A node without memory has none to lose. */
#define MAY_FORGET(n) (nodes[n].fence != 0)
#endif
#define LOSS(n) \
    EVENT(MAY_FORGET(n), forget(n)) \
    EVENT(nodes[n].back < BACK && nodes[n].offset > 0, set_back(n))

/* Any clocks at the beginning. */
inline any_offset(n, last)
{
    nodes[n].offset = FIRST_OFFSET;
    do
    :: nodes[n].offset < last -> nodes[n].offset++
    :: break
    od
}

active proctype world()
{
    atomic
    {
#ifdef T2
        any_offset(0, FIRST_OFFSET + SPREAD);
        any_offset(1, FIRST_OFFSET + SPREAD);
        /* Some clock is the slowest. */
        nodes[2].offset = FIRST_OFFSET
#else
        any_offset(0, FIRST_OFFSET + SPREAD);
#if WRONG_CLOCKS > 1
        any_offset(1, FIRST_OFFSET + SPREAD);
#else
        nodes[1].offset = RIGHT;
#endif
        nodes[2].offset = RIGHT
#endif
        ;
        printf("clocks %d, %d, %d\n", STAMP(0), STAMP(1), STAMP(2));
        settle()
    }
    do
    EVENT(now_ < END && attempts[0].phase != idle && !HURRY(0) && !HURRY(1), tick())
    UP_TO_27(EVENTS_OF_TOKEN)
    EVENT(MAY_CLAIM(0), claim(0))
    EVENT(MAY_CLAIM(1), claim(1))
    EVENTS_OF_NODE(0)
    EVENTS_OF_NODE(1)
    EVENTS_OF_NODE(2)
#ifdef T2
    LOSS(0)
    LOSS(1)
    LOSS(2)
#endif
#ifdef T3
    UP_TO_27(STEP_OF_NODE_0)
    UP_TO_27(STEP_OF_NODE_1)
    WANDERING(0)
    WANDERING(1)
    WANDERING(2)
#endif
    :: else -> break
    od
}
