/* Guarded mode: acquire, release, retry, extend, fencing tokens, amnesia with quarantine.

   One process picks the next event; each event is what one node or one client does in one step.
   See the section Model of docs/testing.md for what was cut and why, and scripts/model.sh for the
   configurations and the variants, each a set of -D switches.

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
#define VALIDITY (TTL - MARGIN)
#ifndef EXTEND_TTL
#define EXTEND_TTL TTL
#endif
#ifndef QUARANTINE
#define QUARANTINE TTL
#endif

/* With the resource, and with amnesia, nothing is extended: the product would be too large. */
#if defined(STORE) || defined(AMNESIA)
#define EXTENDS false
#else
#define EXTENDS true
#endif

#define BIT(i) (1 << (i))
#define HAS(set, i) (((set) >> (i)) & 1)
#define ADD(set, i) set = (set) | BIT(i)
#define DROP(set, i) set = (set) & ~BIT(i)

mtype = { idle, asking, holding, closed };  /* attempt */
mtype = { unread, reading, done };          /* access of a holder to the resource */
mtype = { unmarked, outdated, marked };     /* marker of a node; outdated: another run id */

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
    byte vetted = 3;  /* set of clients with a connection that was vetted in this life */
#endif
};
node nodes[NODES];
hidden byte name[NODES];  /* what a trace calls them: sorting nodes moves the names along */

typedef attempt
{
    mtype phase = idle;
    byte age;         /* ticks since before the first send, up to VALIDITY */
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

byte highest_claimed;  /* highest token of a lease */
#ifdef STORE
byte highest_seen;     /* what the resource remembers */
#endif

#define AGE_END VALIDITY
#ifdef HELD_TOO_LONG
#define VALID(a) (attempts[a].phase == holding && attempts[a].age <= VALIDITY)
#undef AGE_END
#define AGE_END (VALIDITY + 1)
#else
#define VALID(a) (attempts[a].phase == holding && attempts[a].age < VALIDITY)
#endif
#define LEFT(a) (VALIDITY - attempts[a].age)

byte a, n, i;  /* of the event; 0 between events */

/* Nodes */

#ifdef AMNESIA
#define MAY_VOTE(n) (nodes[n].marker != unmarked && nodes[n].quarantine == 0)
#define CONNECTED(a, n) HAS(nodes[n].vetted, CLIENT(a))
#else
#define MAY_VOTE(n) true
#define CONNECTED(a, n) true
#endif
#ifdef NO_MARKER
#undef MAY_VOTE
#define MAY_VOTE(n) (nodes[n].quarantine == 0)
#endif

#ifdef AMNESIA
/* Without the fence there are only more runs. What it does is checked without amnesia, and in
   stamps.pml. */
#define NEWER(token, fence) true
#elif defined(EQUAL_TOKENS)
#define NEWER(token, fence) (token >= fence)
#elif defined(NO_FENCE)
#define NEWER(token, fence) true
#else
#define NEWER(token, fence) (token > fence)
#endif

/* How long a key that is set for some ticks really lives. */
inline set_life(ticks)
{
    if
    :: nodes[n].life = ticks
    :: nodes[n].life = ticks - DRIFT
    fi
}

inline count_grant()
{
    if
    :: attempts[a].phase == asking ->
#ifdef COUNTED_BY_MESSAGE
        if
        :: HAS(nodes[n].granted, a) -> attempts[a].twice = 1
        :: else
        fi;
#endif
        ADD(nodes[n].granted, a)
    :: else
    fi
}

/* guarded_acquire.lua */
inline acquire_on_node()
{
    if
    :: !CONNECTED(a, n)
    :: CONNECTED(a, n) && !MAY_VOTE(n) -> printf("node %d: acquire %d refused\n", name[n], a)
    :: CONNECTED(a, n) && MAY_VOTE(n) ->
        if
        :: nodes[n].holder == ID(a) ->
            printf("node %d: acquire %d granted once more\n", name[n], a);
            count_grant()
        :: nodes[n].holder != ID(a) && nodes[n].holder != 0 ->
            printf("node %d: acquire %d denied, held\n", name[n], a)
        :: nodes[n].holder == 0 && !NEWER(attempts[a].token, nodes[n].fence) ->
            printf("node %d: acquire %d refused, token %d and fence %d\n", name[n], a,
                attempts[a].token, nodes[n].fence)
        :: nodes[n].holder == 0 && NEWER(attempts[a].token, nodes[n].fence) ->
            /* No orphans: what arrives after its release leaves nothing. */
            printf("node %d: acquire %d granted, token %d\n", name[n], a, attempts[a].token);
            assert(!HAS(nodes[n].released, a));
            nodes[n].holder = ID(a);
            set_life(TTL);
#ifndef AMNESIA
            nodes[n].fence = attempts[a].token;
#endif
            count_grant()
        fi
    fi
}

/* guarded_extend.lua */
inline extend_on_node()
{
    if
    :: !CONNECTED(0, n)
    :: CONNECTED(0, n) && !MAY_VOTE(n) -> printf("node %d: extension refused\n", name[n])
    :: CONNECTED(0, n) && MAY_VOTE(n) && nodes[n].holder == ID(0) ->
        printf("node %d: extension granted\n", name[n]);
#ifdef SHORTENS
        set_life(EXTEND_TTL);
#else
        if
        :: nodes[n].life < EXTEND_TTL -> i = nodes[n].life; set_life(EXTEND_TTL);
            if
            :: nodes[n].life < i -> nodes[n].life = i
            :: else
            fi;
            i = 0
        :: else
        fi;
#endif
        nodes[n].prolonged = extension_open
    :: CONNECTED(0, n) && MAY_VOTE(n) && nodes[n].holder != ID(0) ->
#ifdef REVIVES
        if
        :: nodes[n].holder == 0 ->
            printf("node %d: extension sets the key again\n", name[n]);
            assert(!HAS(nodes[n].released, 0));
            nodes[n].holder = ID(0);
            set_life(EXTEND_TTL);
            nodes[n].prolonged = extension_open
        :: else -> printf("node %d: extension denied, gone\n", name[n])
        fi
#else
        printf("node %d: extension denied, gone\n", name[n])
#endif
    fi
}

/* guarded_release.lua, which asks for no permission to vote */
inline release_on_node()
{
#ifdef PLAIN_DELETE
    if
    :: true ->
#else
    if
    :: nodes[n].holder == ID(a) ->
#endif
        printf("node %d: release %d, key deleted\n", name[n], a);
        nodes[n].holder = 0;
        nodes[n].life = 0
#ifndef PLAIN_DELETE
    :: nodes[n].holder != ID(a) ->
#ifdef NO_TOMBSTONE
        printf("node %d: release %d, no key of it\n", name[n], a)
#else
        printf("node %d: release %d, tombstone %d\n", name[n], a, attempts[a].token);
        if
        :: nodes[n].fence < attempts[a].token -> nodes[n].fence = attempts[a].token
        :: else
        fi
#endif
#endif
    fi;
#ifndef AMNESIA
    ADD(nodes[n].released, a)
#endif
}

/* Clients */

#define GRANTS(a) (HAS(nodes[0].granted, a) + HAS(nodes[1].granted, a) + HAS(nodes[2].granted, a))
#define EXTENDED (nodes[0].prolonged + nodes[1].prolonged + nodes[2].prolonged)
#ifdef COUNTED_BY_MESSAGE
#define VOTES(a) (GRANTS(a) + attempts[a].twice)
#else
#define VOTES(a) GRANTS(a)
#endif

/* A round: one look at the clock, then the same bytes to all nodes. The token is any: T1 asks
   nothing of clocks. Three values make every order of three tokens, equal ones too. */
inline begin_attempt()
{
    attempts[a].phase = asking;
#ifndef AMNESIA
    if
    :: attempts[a].token = 1
    :: attempts[a].token = 2
    :: attempts[a].token = 3
    fi;
#endif
    printf("client %d: attempt %d with token %d\n", CLIENT(a), a, attempts[a].token)
}

inline claim()
{
#ifdef LATE_START
    attempts[a].age = 0;
#endif
    printf("client %d: lease by attempt %d, token %d, %d ticks left\n", CLIENT(a), a,
        attempts[a].token, LEFT(a));
    attempts[a].phase = holding;
    forget_grants();
#ifndef AMNESIA
    /* T1: tokens increase in the order in which leases are granted. */
    assert(attempts[a].token > highest_claimed);
    highest_claimed = attempts[a].token;
#endif
#ifdef STORE
    attempts[a].access = unread
#endif
}

inline forget_grants()
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
inline close_attempt()
{
    printf("client %d: gives attempt %d back\n", CLIENT(a), a);
    attempts[a].phase = closed;
    attempts[a].age = 0;
    forget_grants();
    if
    :: a == 0 && extension_open -> forget_extension()
    :: else
    fi
}

inline send_extension()
{
    printf("client 0: asks for an extension\n");
    extension_sent = true;
    extension_open = true
}

/* Counts only before the old deadline, and moves it from when the extension was asked for. */
#ifdef LATE_EXTENSION
#define IN_TIME true
#else
#define IN_TIME (attempts[0].age < VALIDITY)
#endif
#ifdef EXTENDED_FROM_NOW
#define EXTENDED_AGE (TTL - EXTEND_TTL)
#else
#define EXTENDED_AGE (extension_age + TTL - EXTEND_TTL)
#endif
inline accept_extension()
{
    printf("client 0: extension accepted\n");
    /* Nobody else was granted a lease since, or this one was not held all the time. */
    assert(attempts[0].token == highest_claimed);
    if
    :: EXTENDED_AGE < attempts[0].age -> attempts[0].age = EXTENDED_AGE
    :: else
    fi;
    forget_extension()
}

/* Raises the token of a round that goes on, for the nodes that have not granted. */
inline mix_tokens()
{
    if
    :: attempts[a].token < 2 -> attempts[a].token = 2
    :: attempts[a].token < 3 -> attempts[a].token = 3
    :: else
    fi
}

/* A resource that checks tokens from the first access on. The holder may act at any later time,
   for nothing stops it. */

#ifdef STORE
inline read_resource()
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

inline write_resource()
{
    attempts[a].access = done;
    if
    :: attempts[a].token >= highest_seen ->
        printf("client %d: writes with token %d\n", CLIENT(a), attempts[a].token);
        highest_seen = attempts[a].token;
        /* No lost update. */
        assert(attempts[a].current);
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
    :: attempts[x].phase != idle && attempts[x].phase != closed && attempts[x].age < AGE_END ->
        attempts[x].age++
    :: else
    fi
}

inline tick_node(x)
{
    if
    :: nodes[x].life > 0 -> nodes[x].life--;
        if
        :: nodes[x].life == 0 -> nodes[x].holder = 0
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
    fi
}

#ifdef AMNESIA
inline lose_keys()
{
    nodes[n].holder = 0;
    nodes[n].life = 0;
    nodes[n].quarantine = 0
}

inline flush_node()
{
    printf("node %d: flushed\n", name[n]);
    lose_keys();
    nodes[n].marker = unmarked
}

/* Comes back with nothing, or with keys of before, of which the marker is one. */
inline restart_node()
{
    lose_keys();
    nodes[n].vetted = 0;
    if
    :: nodes[n].marker = unmarked; printf("node %d: restarted without keys\n", name[n])
    :: nodes[n].marker != unmarked -> nodes[n].marker = outdated;
        printf("node %d: restarted with older keys\n", name[n])
    fi
}

#ifdef NO_RUN_ID
#define FORGOTTEN(n) (nodes[n].marker == unmarked)
#else
#define FORGOTTEN(n) (nodes[n].marker != marked)
#endif

/* admit.lua, on each new connection of the client i */
inline admit_client()
{
    printf("client %d: connects to node %d\n", i, name[n]);
    if
    :: FORGOTTEN(n) ->
        if
        :: QUARANTINE > 0 -> nodes[n].quarantine = QUARANTINE
        :: QUARANTINE > DRIFT -> nodes[n].quarantine = QUARANTINE - DRIFT
        :: QUARANTINE == 0
        fi;
        printf("node %d: quarantine of %d ticks\n", name[n], nodes[n].quarantine)
    :: else
    fi;
    nodes[n].marker = marked;
    ADD(nodes[n].vetted, i);
    i = 0
}
#endif

/* What must hold after every event */

/* Nobody else can get this node before the deadline of attempt a. */
#ifdef AMNESIA
#define PROTECTS(n, a) ((nodes[n].holder == ID(a) && nodes[n].life >= LEFT(a)) || \
    nodes[n].marker != marked || nodes[n].quarantine >= LEFT(a))
#else
#define PROTECTS(n, a) (nodes[n].holder == ID(a) && nodes[n].life >= LEFT(a))
#endif

inline check_lease(x)
{
#ifndef NO_ORACLE
    /* I2: a lease has a quorum until its deadline. */
    assert(!VALID(x) || PROTECTS(0, x) + PROTECTS(1, x) + PROTECTS(2, x) >= QUORUM)
#else
    skip
#endif
}

inline check()
{
    /* I1: at most one lease. */
    assert(VALID(0) + VALID(1) + VALID(2) <= 1);
    check_lease(0);
    check_lease(1);
    check_lease(2)
}

/* Nodes are alike, so a state is kept in one order of them only. */
#ifdef AMNESIA
#define MORE(n) + 4096 * (nodes[n].marker + 64 * nodes[n].vetted + 256 * nodes[n].quarantine)
#else
#define MORE(n)
#endif
#define WEIGHT(n) (nodes[n].holder + 4 * nodes[n].life + 32 * nodes[n].fence + \
    128 * nodes[n].granted + 1024 * nodes[n].released + 8192 * nodes[n].prolonged MORE(n))
#define SWAP(field) i = nodes[x].field; nodes[x].field = nodes[y].field; nodes[y].field = i

inline order(x, y)
{
    if
    :: WEIGHT(x) > WEIGHT(y) ->
        SWAP(holder); SWAP(life); SWAP(fence); SWAP(granted); SWAP(released); SWAP(prolonged);
#ifdef AMNESIA
        SWAP(marker); SWAP(vetted); SWAP(quarantine);
#endif
        i = name[x]; name[x] = name[y]; name[y] = i; i = 0
    :: else
    fi
}

inline pick_attempt()
{
    if
    :: a = 0
    :: a = 1
    :: a = 2
    fi
}

inline pick_node()
{
    if
    :: n = 0
    :: n = 1
    :: n = 2
    fi
}

#ifdef AMNESIA
inline pick_client()
{
    if
    :: i = 0
    :: i = 1
    fi
}
#endif

/* The end of each event. */
inline settle()
{
    d_step
    {
        check();
        order(0, 1);
        order(1, 2);
        order(0, 1);
        a = 0;
        n = 0
    }
}

#define STARTED(a) (attempts[a].phase != idle)
#define OPEN(a) (attempts[a].phase == asking || attempts[a].phase == holding)

active proctype world()
{
    atomic { name[0] = 1; name[1] = 2; name[2] = 3 }
    do
    :: atomic
    {
        pick_attempt();
        if
        :: attempts[a].phase == idle && (a != 1 || attempts[0].phase == closed) -> begin_attempt()
        :: STARTED(a) -> pick_node(); acquire_on_node()
        :: attempts[a].phase == closed -> pick_node(); release_on_node()
        :: attempts[a].phase == asking && VOTES(a) >= QUORUM && attempts[a].age < VALIDITY ->
            claim()
        :: OPEN(a) -> close_attempt()
        :: a == 0 && EXTENDS && attempts[0].phase == holding && !extension_sent ->
            send_extension()
        :: a == 0 && extension_sent -> pick_node(); extend_on_node()
        :: a == 0 && extension_open && EXTENDED >= QUORUM && IN_TIME -> accept_extension()
#ifdef MIXED_TOKENS
        :: attempts[a].phase == asking -> mix_tokens()
#endif
#ifdef STORE
        :: attempts[a].access == unread -> read_resource()
        :: attempts[a].access == reading -> write_resource()
#endif
        :: else
        fi;
        settle()
    }
    :: atomic { tick(); settle() }
#ifdef AMNESIA
    :: atomic { pick_node(); flush_node(); settle() }
    :: atomic { pick_node(); restart_node(); settle() }
    :: atomic { pick_node(); pick_client(); admit_client(); settle() }
#endif
    od
}
