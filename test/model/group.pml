/* A group as a node: a master and its replicas, watched by Sentinel, vote as one node. The model
   shows which settings and which quarantine a group needs.

   The group is the whole quorum (N = 1). With -DPLAIN=2 there are also two plain nodes, which
   forget nothing (N = 3).

   One process picks the next event, as in redlock.pml. Times are ticks that are left or have
   passed, so a run has no last tick. Failovers, restarts and attempts are unlimited.

   What Redis does, and how the model says it:

   - Replication is asynchronous, and a replica applies whole scripts in order. So a replica has
     what its master had at some time. sync() copies that, at any time or never.
   - Sentinel may promote any replica at any time. The old master keeps writing until it becomes a
     replica of the newest one, which may be never. Any client may reach any member at any time.
   - With min-replicas-to-write a master writes only while enough replicas are good: their last ACK
     arrived at most LAG ticks ago. An ACK proves that the replica was linked, not that it has the
     last write. LAG is min-replicas-max-lag and what comes on top: Redis counts whole seconds, and
     looks once a second.
   - A master that becomes a replica closes its connections, and clients vet it again. So a client
     that is connected to a master was admitted in its present incarnation.

   For N = 1 a grant is one event: asked for, executed and counted. Later execution or counting only
   shortens the lease, so each overlap is also one without delays. The same is true of extensions.
   For N = 3 a grant of a node is executed and counted in one event. There are no extensions.

   All clocks run at the same rate, but a quarantine may be DRIFT ticks too short.

   Gaps: there are two clients, and two to four members. Only groups of two have tokens. For N = 3
   groups of three have a ttl of one tick. */

/* Members, of which the first is the master at the beginning. */
#ifndef MEMBERS
#define MEMBERS 2
#endif
#ifndef PLAIN
#define PLAIN 0
#endif
#define CLIENTS 2

#ifndef TTL
#define TTL 2
#endif
#ifndef LAG
#define LAG 1
#endif
#ifndef DRIFT
#define DRIFT 0
#endif
#ifndef QUARANTINE
#define QUARANTINE TTL
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

#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define ADD(set, i) set = (set) | BIT(i)
#define COUNT_DOWN(ticks) ticks = (ticks > 0 -> ticks - 1 : 0)

#if MEMBERS == 2
#define EACH(what) what(0) what(1)
#define EACH_PAIR(what) what(0, 1) what(1, 0)
#define COUNT(what, m) (what(m, 0) + what(m, 1))
#elif MEMBERS == 3
#define EACH(what) what(0) what(1) what(2)
#define EACH_PAIR(what) what(0, 1) what(1, 0) what(0, 2) what(1, 2) what(2, 0) what(2, 1)
#define COUNT(what, m) (what(m, 0) + what(m, 1) + what(m, 2))
#else
#define EACH(what) what(0) what(1) what(2) what(3)
#define EACH_PAIR(what) what(0, 1) what(1, 0) what(0, 2) what(1, 2) what(2, 0) what(2, 1) \
    what(0, 3) what(1, 3) what(2, 3) what(3, 0) what(3, 1) what(3, 2)
#define COUNT(what, m) (what(m, 0) + what(m, 1) + what(m, 2) + what(m, 3))
#endif

/* A marker names an incarnation: a run id and a replication id. Incarnations are only compared, so
   a marker is of a member's present incarnation, or outdated. Only some variants tell a missing one
   from an outdated one. */
#define MARK(m) (m + 1)
#define OUTDATED 7
#if defined(INITIALIZES) || defined(CONNECTIONS)
#define NONE 0
#else
#define NONE OUTDATED
#endif

#define ID(c) (c + 1)
#define NEVER (LAG + 1)

typedef member
{
    byte source;               /* the member that it replicates; itself: it is a master */
    byte marker = NONE;
    byte holder;               /* 0, or the id of a client */
    byte life;                 /* ticks until the key expires */
    byte quarantine;           /* ticks until it may vote */
    byte lag[MEMBERS] = NEVER; /* of a master: ticks since the last ACK of each replica */
#ifdef LATE_ACKS
    byte linked;               /* of a master: set of members that have sent it an ACK */
#endif
#ifdef OVERLAP
    byte overdue;              /* of an old master: ticks since another one was promoted */
#endif
#ifdef TOKENS
    byte offset;               /* of its clock to the time */
    byte fence;
#endif
};
member members[MEMBERS];
byte newest;  /* the master that was promoted last */

byte age[CLIENTS] = TTL;  /* ticks since before the first send; TTL: there is no attempt */
#if PLAIN
typedef plain_node
{
    byte holder;
    byte life;
};
plain_node nodes[PLAIN];
bool holds[CLIENTS];
byte granted[CLIENTS];  /* set of plain nodes, and of GROUP */
#define GROUP PLAIN
#endif
#ifdef CONNECTIONS
byte connection[CLIENTS];  /* 0, or the member that admitted the client, + 1 */
#endif
#ifdef NOT_STORED
byte waits[CLIENTS];  /* ticks until the client counts votes of the group */
#endif
#ifdef TOKENS
/* Tokens count from now, as all times do: each tick makes them lower by one. FLOOR is the lowest
   token that a lease can get, and lower ones do not matter. */
#define FLOOR 1
#ifndef WINDOW
#define WINDOW 1
#endif
#ifndef BACK
#define BACK 1
#endif
#define STAMP(m) (members[m].offset + WINDOW + FLOOR)
byte highest;  /* highest token of a lease */
#endif

byte each, other;  /* 0 between events */

/* Members */

#define IS_MASTER(m) (members[m].source == m)
#define IS_GOOD(m, r) (members[m].lag[r] <= LAG)
#define IS_LINKED(m, r) (m != r && members[r].source == m)

/* With fewer good replicas Redis refuses a write as NOREPLICAS, also in a script. */
#ifndef MIN_REPLICAS
#define ENOUGH(m) true
#elif defined(ONLY_FIRST)
/* The setting is missing on all members but the first. */
#define ENOUGH(m) (m != 0 || COUNT(IS_GOOD, m) >= MIN_REPLICAS)
#else
#define ENOUGH(m) (COUNT(IS_GOOD, m) >= MIN_REPLICAS)
#endif

/* With OVERLAP the operator promises that an old master writes for so many ticks at most. */
#ifdef OVERLAP
#define IN_OVERLAP(m) (members[m].overdue <= OVERLAP)
#else
#define IN_OVERLAP(m) true
#endif

/* Without a look at the role, replicas that accept writes vote too. */
#ifdef NO_ROLE
#define WRITES(m) (!IS_MASTER(m) || ENOUGH(m) && IN_OVERLAP(m))
#define MAY_VET(m) true
#else
#define WRITES(m) (IS_MASTER(m) && ENOUGH(m) && IN_OVERLAP(m))
#define MAY_VET(m) IS_MASTER(m)
#endif

/* A vote that is confirmed by the command WAIT counts only while enough replicas are linked. They
   need not have it here, which is only more runs. */
#ifdef CONFIRMS
#define CONFIRMED(m) (COUNT(IS_LINKED, m) >= MIN_REPLICAS)
#else
#define CONFIRMED(m) true
#endif

/* admit.lua */
#define MAY_ADMIT(m) (MAY_VET(m) && WRITES(m) && members[m].marker != MARK(m))
inline admit(m, drift)
{
    printf("member %d: admitted, quarantine of %d ticks\n", m, QUARANTINE - drift);
    members[m].quarantine = QUARANTINE - drift;
    members[m].marker = MARK(m)
}

#ifdef INITIALIZES
/* initialize.lua, on a member without a marker. */
inline initialize(m)
{
    printf("member %d: initialized\n", m);
    members[m].marker = MARK(m)
}
#endif

#ifdef NOT_STORED
/* The quarantine is known only to the client that saw the change. */
inline admit_by(c, m)
{
    printf("client %d: sees that member %d is new, and waits\n", c, m);
    waits[c] = QUARANTINE;
    members[m].marker = MARK(m)
}
#define PATIENT(c) (waits[c] == 0)
#else
#define PATIENT(c) true
#endif

#ifdef CONNECTIONS
inline connect(c, m)
{
    printf("client %d: connects to member %d\n", c, m);
    connection[c] = m + 1
}
inline disconnect(c, m)
{
    if
    :: connection[c] == m + 1 -> connection[c] = 0
    :: else
    fi
}
/* The scripts ask for a marker, and do not ask whose it is. */
#define ADMITTED(c, m) (connection[c] == m + 1 && members[m].marker != NONE)
#else
#define ADMITTED(c, m) (members[m].marker == MARK(m))
#endif

#define VOTES(c, m) (WRITES(m) && CONFIRMED(m) && ADMITTED(c, m) && \
    members[m].quarantine == 0 && PATIENT(c))

inline set_key(c, m)
{
    members[m].holder = ID(c);
    members[m].life = TTL
}

/* Clients */

inline drop_key(c, where)
{
    if
    :: where.holder == ID(c) -> where.holder = 0; where.life = 0
    :: else
    fi
}

/* The keys go too, wherever they are: a key that stays only refuses. */
inline end_attempt(c)
{
    age[c] = TTL;
    for (each : 0 .. MEMBERS - 1) {
        drop_key(c, members[each])
    }
#if PLAIN
    for (each : 0 .. PLAIN - 1) {
        drop_key(c, nodes[each])
    }
    holds[c] = false;
    granted[c] = 0;
#endif
    each = 0
}

inline give_back(c)
{
    printf("client %d: gives back\n", c);
    end_attempt(c)
}

#if PLAIN
inline begin_attempt(c)
{
    printf("client %d: begins\n", c);
    age[c] = 0
}

inline grant_by_node(c, n)
{
    printf("node %d: granted to client %d\n", n, c);
    nodes[n].holder = ID(c);
    nodes[n].life = TTL;
    ADD(granted[c], n)
}

inline grant_by_group(c, m)
{
    printf("member %d: granted to client %d\n", m, c);
    set_key(c, m);
    ADD(granted[c], GROUP)
}

#define QUORUM 2
#define GRANTS(c) (HAS(granted[c], 0) + HAS(granted[c], 1) + HAS(granted[c], GROUP))
inline claim(c)
{
    printf("client %d: lease, %d ticks left\n", c, TTL - age[c]);
    holds[c] = true;
    granted[c] = 0
}
#else
inline grant(c, m)
{
    printf("member %d: grants client %d a lease\n", m, c);
    set_key(c, m);
    age[c] = 0
}

inline extend(c, m)
{
    printf("member %d: extends the lease of client %d\n", m, c);
    members[m].life = TTL;
    age[c] = 0
}
#endif

#ifdef TOKENS
#ifdef NO_FENCE
#define NEWER(p, m) true
#else
#define NEWER(p, m) (p > members[m].fence)
#endif
#ifdef NO_GUARD
#define IN_WINDOW(p, m) true
#else
#define IN_WINDOW(p, m) (p <= STAMP(m) + WINDOW && p + WINDOW >= STAMP(m))
#endif
inline grant_token(c, m, p)
{
    printf("member %d: grants client %d a lease with token %d\n", m, c, p);
    set_key(c, m);
    age[c] = 0;
    members[m].fence = p;
    must(p > highest, old_token);
    highest = p
}
#endif

/* The group */

/* The replication id is new after each promotion, and the run id after each restart. */
inline end_incarnation(m)
{
    for (each : 0 .. MEMBERS - 1) {
        if
        :: members[each].marker == MARK(m) -> members[each].marker = OUTDATED
        :: else
        fi
    }
    each = 0
}
#ifdef RUN_ID_ONLY
#define CHANGE_REPLICATION_ID(m)
#else
#define CHANGE_REPLICATION_ID(m) end_incarnation(m)
#endif

inline forget_replicas(m)
{
    for (each : 0 .. MEMBERS - 1) {
        members[m].lag[each] = NEVER
    }
#ifdef LATE_ACKS
    members[m].linked = 0;
#endif
#ifdef OVERLAP
    members[m].overdue = 0;
#endif
    each = 0
}

inline promote(m)
{
    printf("member %d: promoted\n", m);
    members[m].source = m;
    newest = m;
    forget_replicas(m);
    CHANGE_REPLICATION_ID(m)
}

inline follow(m, master)
{
    printf("member %d: becomes a replica of member %d\n", m, master);
    members[m].source = master;
#if defined(CONNECTIONS) && !defined(KEEPS_CONNECTIONS)
    disconnect(0, m);
    disconnect(1, m);
#endif
    forget_replicas(m);
    CHANGE_REPLICATION_ID(m)
}

inline sync(r, m)
{
    printf("member %d: has what member %d has\n", r, m);
    members[r].marker = members[m].marker;
    members[r].holder = members[m].holder;
    members[r].life = members[m].life;
    members[r].quarantine = members[m].quarantine;
#ifdef TOKENS
    members[r].fence = members[m].fence
#endif
}

inline ack(r, m)
{
    printf("member %d: ACK of member %d\n", m, r);
    members[m].lag[r] = 0;
#ifdef LATE_ACKS
    ADD(members[m].linked, r)
#endif
}
/* An ACK may take long on its way, or wait in the socket of a stopped process. */
#ifdef LATE_ACKS
#define MAY_ACK(r, m) (members[r].source == m || HAS(members[m].linked, r))
#else
#define MAY_ACK(r, m) (members[r].source == m)
#endif

#ifdef RESTARTS
/* A restart leaves nothing, or older keys and with them the marker. A member that returns may use
   all of OVERLAP again, which is only more runs. */
inline restart(m, left)
{
    printf("member %d: restarted\n", m);
    members[m].marker = left;
    members[m].holder = 0;
    members[m].life = 0;
    members[m].quarantine = 0;
#ifdef TOKENS
    members[m].fence = 0;
#endif
    forget_replicas(m);
    end_incarnation(m)
}
#endif

/* Time */

inline tick_client(c)
{
    if
    :: age[c] < TTL - 1 -> age[c]++
    :: age[c] == TTL - 1 -> end_attempt(c)
    :: else
    fi;
#ifdef NOT_STORED
    COUNT_DOWN(waits[c])
#endif
}

inline tick_key(where)
{
    COUNT_DOWN(where.life);
    where.holder = (where.life > 0 -> where.holder : 0)
}

inline tick()
{
    printf("- tick\n");
    tick_client(0);
    tick_client(1);
    for (each : 0 .. MEMBERS - 1) {
        tick_key(members[each]);
        COUNT_DOWN(members[each].quarantine);
        for (other : 0 .. MEMBERS - 1) {
            if
            :: members[each].lag[other] < NEVER -> members[each].lag[other]++
            :: else
            fi
        }
#ifdef OVERLAP
        if
        :: IS_MASTER(each) && newest != each && IN_OVERLAP(each) -> members[each].overdue++
        :: else
        fi;
#endif
#ifdef TOKENS
        COUNT_DOWN(members[each].fence)
#endif
    }
#if PLAIN
    for (each : 0 .. PLAIN - 1) {
        tick_key(nodes[each])
    }
#endif
#ifdef TOKENS
    COUNT_DOWN(highest);
#endif
    each = 0;
    other = 0
}

#if PLAIN
#define VALID(c) holds[c]
#else
#define VALID(c) (age[c] < TTL)
#endif
inline settle()
{
    must(VALID(0) + VALID(1) <= 1, two_leases)
}

/* Events */

#define EVENT(guard, effect) :: d_step { (guard) -> effect; settle() }

#define FREE(c, m) (VOTES(c, m) && members[m].holder == 0)
#if PLAIN
#define ASKS(c) (age[c] < TTL && !holds[c])
#define EVENTS_OF_CLIENT_ON_NODE(c, n) \
    EVENT(ASKS(c) && !HAS(granted[c], n) && nodes[n].holder == 0, grant_by_node(c, n))
#define EVENTS_OF_LEASE(c, m) \
    EVENT(ASKS(c) && !HAS(granted[c], GROUP) && FREE(c, m), grant_by_group(c, m))
#else
#ifdef TOKENS
#define EVENT_OF_TOKEN(c, m, p) \
    EVENT(age[c] == TTL && FREE(c, m) && IN_WINDOW(p, m) && NEWER(p, m), grant_token(c, m, p))
/* With the guard no member accepts a token above FLOOR + 2 * WINDOW + BACK, which is 4. */
#define EVENTS_OF_GRANT(c, m) \
    EVENT_OF_TOKEN(c, m, 1) EVENT_OF_TOKEN(c, m, 2) EVENT_OF_TOKEN(c, m, 3) \
    EVENT_OF_TOKEN(c, m, 4) EVENT_OF_TOKEN(c, m, 5)
#else
#define EVENTS_OF_GRANT(c, m) EVENT(age[c] == TTL && FREE(c, m), grant(c, m))
#endif
#define EVENTS_OF_LEASE(c, m) \
    EVENTS_OF_GRANT(c, m) \
    EVENT(age[c] < TTL && age[c] > 0 && VOTES(c, m) && members[m].holder == ID(c), extend(c, m))
#endif

#ifdef CONNECTIONS
#define EVENTS_OF_CLIENT_ON_MEMBER(c, m) \
    EVENTS_OF_LEASE(c, m) \
    EVENT(MAY_VET(m) && members[m].marker == MARK(m), connect(c, m))
#elif defined(NOT_STORED)
#define EVENTS_OF_CLIENT_ON_MEMBER(c, m) \
    EVENTS_OF_LEASE(c, m) \
    EVENT(MAY_ADMIT(m), admit_by(c, m))
#else
#define EVENTS_OF_CLIENT_ON_MEMBER(c, m) EVENTS_OF_LEASE(c, m)
#endif

#define EVENTS_OF_CLIENTS_ON_MEMBER(m) \
    EVENTS_OF_CLIENT_ON_MEMBER(0, m) \
    EVENTS_OF_CLIENT_ON_MEMBER(1, m)

#define EVENTS_OF_ADMISSION(m) \
    EVENT(MAY_ADMIT(m), admit(m, 0)) \
    EVENT(DRIFT > 0 && MAY_ADMIT(m), admit(m, DRIFT))
#define EVENTS_OF_INITIALIZATION(m) \
    EVENT(WRITES(m) && members[m].marker == NONE, initialize(m))
#define EVENTS_OF_RESTART(m) \
    EVENT(true, restart(m, NONE)) \
    EVENT(members[m].marker != NONE, restart(m, members[m].marker))

/* The first member is cut off for good, and the third one takes its place, as a replica of the
   second. */
#ifdef REPLACED
#define MAY_LEAD(m) (m == 1 || newest != 0)
#define MAY_FOLLOW(m) (m != 0)
#else
#define MAY_LEAD(m) true
#define MAY_FOLLOW(m) true
#endif
#define EVENTS_OF_PROMOTION(m) EVENT(!IS_MASTER(m) && MAY_LEAD(m), promote(m))

/* A Sentinel that is cut off from the others may take an old master for the newest one. */
#ifdef STALE_SENTINEL
#define IS_KNOWN(m) IS_MASTER(m)
#else
#define IS_KNOWN(m) (newest == m)
#endif
#define EVENTS_OF_REPLICATION(r, m) \
    EVENT(IS_KNOWN(m) && members[r].source != m && MAY_FOLLOW(r), follow(r, m)) \
    EVENT(IS_MASTER(m) && members[r].source == m, sync(r, m))
#define EVENTS_OF_ACK(r, m) \
    EVENT(IS_MASTER(m) && MAY_ACK(r, m) && members[m].lag[r] > 0, ack(r, m))

#ifdef TOKENS
/* Clocks differ by up to BACK. */
inline any_offset(m)
{
    do
    :: members[m].offset < BACK -> members[m].offset++
    :: break
    od
}
#define ANY_OFFSET(m) any_offset(m);
#endif

active proctype world()
{
    atomic
    {
        members[0].marker = MARK(0);
#ifdef REPLACED
        members[2].source = 1;
#endif
#ifdef TOKENS
        EACH(ANY_OFFSET)
#endif
    }
    do
    EVENT(true, tick())
    EACH(EVENTS_OF_CLIENTS_ON_MEMBER)
    EVENT(age[0] < TTL, give_back(0))
    EVENT(age[1] < TTL, give_back(1))
#if PLAIN
    EVENTS_OF_CLIENT_ON_NODE(0, 0)
    EVENTS_OF_CLIENT_ON_NODE(0, 1)
    EVENTS_OF_CLIENT_ON_NODE(1, 0)
    EVENTS_OF_CLIENT_ON_NODE(1, 1)
    EVENT(age[0] == TTL, begin_attempt(0))
    EVENT(age[1] == TTL, begin_attempt(1))
    EVENT(ASKS(0) && GRANTS(0) >= QUORUM, claim(0))
    EVENT(ASKS(1) && GRANTS(1) >= QUORUM, claim(1))
#endif
#ifndef NOT_STORED
    EACH(EVENTS_OF_ADMISSION)
#endif
#ifdef INITIALIZES
    EACH(EVENTS_OF_INITIALIZATION)
#endif
#ifdef RESTARTS
    EACH(EVENTS_OF_RESTART)
#endif
    EACH(EVENTS_OF_PROMOTION)
    EACH_PAIR(EVENTS_OF_REPLICATION)
#ifdef MIN_REPLICAS
    EACH_PAIR(EVENTS_OF_ACK)
#endif
    od
}
