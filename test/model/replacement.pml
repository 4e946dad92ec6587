/* A node is replaced by a server at a new address while clients run. Some clients have the old
   list, nodes 0, 1 and 2, and others have the new one, nodes 0, 1 and 3. Node 2 is off for good
   before any client reaches node 3, which begins with a quarantine.

   One process picks the next event, as in redlock.pml. Times are ticks that are left or have
   passed, so a run has no last tick. Attempts and losses of memory are unlimited, and each attempt
   has either list.

   A grant and its count by the client are one event, and so are those of an extension. A later
   count only shortens the lease, and a key that is set after its attempt only refuses.

   Gaps: there are two clients with exact clocks, one replacement, and no tokens. */

#define NODES 4
#define CLIENTS 2
#define OLD 2
#define NEW 3

#ifndef TTL
#define TTL 2
#endif
#ifndef QUARANTINE
#define QUARANTINE TTL
#endif

/* What must hold; with -DONLY=name, only that. A trace ends with the name of what did not. */
mtype = { two_leases };
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
#define SIZE(set) (HAS(set, 0) + HAS(set, 1) + HAS(set, 2) + HAS(set, 3))
#define COUNT_DOWN(ticks) ticks = (ticks > 0 -> ticks - 1 : 0)

mtype = { no_list, old_list, new_list };
#define OLD_NODES (BIT(0) | BIT(1) | BIT(OLD))
#ifdef LIST_GROWS
#define NEW_NODES (OLD_NODES | BIT(NEW))
#else
#define NEW_NODES (BIT(0) | BIT(1) | BIT(NEW))
#endif
#define LIST(c) (clients[c].list == old_list -> OLD_NODES : NEW_NODES)
#define QUORUM(c) (SIZE(LIST(c)) / 2 + 1)

#define ID(c) (c + 1)

typedef node
{
    bool on = true;   /* the new node: since a client has reached it */
    byte holder;      /* 0, or the id of a client */
    byte life;        /* ticks until the key expires */
    byte quarantine;  /* ticks until it may vote */
};
node nodes[NODES];

typedef client
{
    mtype list = no_list;  /* of the attempt; no_list: there is none */
    byte age;              /* ticks since before the first send */
    bool holds;
    byte granted;          /* set of nodes, until the lease is claimed */
    bool extends;
    byte extension_age;    /* ticks since before its first send */
    byte extended;         /* set of nodes, until the extension is accepted */
};
client clients[CLIENTS];

byte each;  /* 0 between events */

/* Nodes */

#define VOTES(n) (nodes[n].on && nodes[n].quarantine == 0)

inline forget_keys(n)
{
    nodes[n].holder = 0;
    nodes[n].life = 0
}

/* A flush, or a restart without the keys. */
inline forget(n)
{
    printf("node %d: forgets everything, quarantine\n", n);
    forget_keys(n);
    nodes[n].quarantine = QUARANTINE
}

inline switch_off()
{
    printf("node %d: off\n", OLD);
    nodes[OLD].on = false;
    nodes[OLD].quarantine = 0;
    forget_keys(OLD)
}

inline switch_on()
{
    printf("node %d: on again, quarantine\n", OLD);
    nodes[OLD].on = true;
    nodes[OLD].quarantine = QUARANTINE
}

inline reach()
{
    printf("node %d: a client reaches it\n", NEW);
    nodes[NEW].on = true;
#ifndef INITIALIZED
    nodes[NEW].quarantine = QUARANTINE
#endif
}

/* Clients */

#define HAS_ATTEMPT(c) (clients[c].list != no_list)

inline begin_attempt(c, with)
{
    printf("client %d: attempt with the %e\n", c, with);
    clients[c].list = with
}

inline grant(c, n)
{
    printf("node %d: granted to client %d\n", n, c);
    nodes[n].holder = ID(c);
    nodes[n].life = TTL;
    if
    :: !clients[c].holds -> ADD(clients[c].granted, n)
    :: else
    fi
}

inline claim(c)
{
    printf("client %d: lease, %d ticks left\n", c, TTL - clients[c].age);
    clients[c].holds = true;
    clients[c].granted = 0
}

inline end_extension(c)
{
    clients[c].extends = false;
    clients[c].extension_age = 0;
    clients[c].extended = 0
}

inline begin_extension(c)
{
    printf("client %d: asks for an extension\n", c);
    clients[c].extends = true
}

inline extend(c, n)
{
    printf("node %d: extended for client %d\n", n, c);
    nodes[n].life = TTL;
    ADD(clients[c].extended, n)
}

inline accept_extension(c)
{
    printf("client %d: extension accepted\n", c);
    clients[c].age = clients[c].extension_age;
    end_extension(c)
}

/* The keys go too, wherever they are: a key that stays only refuses. */
inline end_attempt(c)
{
    for (each : 0 .. NODES - 1) {
        if
        :: nodes[each].holder == ID(c) -> forget_keys(each)
        :: else
        fi
    }
    each = 0;
    clients[c].list = no_list;
    clients[c].age = 0;
    clients[c].holds = false;
    clients[c].granted = 0;
    end_extension(c)
}

inline give_back(c)
{
    printf("client %d: gives back\n", c);
    end_attempt(c)
}

/* Time */

inline tick_client(c)
{
    if
    :: HAS_ATTEMPT(c) && clients[c].age < TTL - 1 ->
        clients[c].age++;
        clients[c].extension_age = clients[c].extension_age + clients[c].extends
    :: HAS_ATTEMPT(c) && clients[c].age == TTL - 1 -> end_attempt(c)
    :: else
    fi
}

inline tick()
{
    printf("- tick\n");
    tick_client(0);
    tick_client(1);
    for (each : 0 .. NODES - 1) {
        COUNT_DOWN(nodes[each].life);
        nodes[each].holder = (nodes[each].life > 0 -> nodes[each].holder : 0);
        COUNT_DOWN(nodes[each].quarantine)
    }
    each = 0
}

inline settle()
{
    must(clients[0].holds + clients[1].holds <= 1, two_leases)
}

/* Events */

#define EVENT(guard, effect) :: d_step { (guard) -> effect; settle() }

#define MAY_GRANT(c, n) (HAS_ATTEMPT(c) && HAS(LIST(c), n) && VOTES(n) && nodes[n].holder == 0)
#define MAY_EXTEND(c, n) (clients[c].extends && VOTES(n) && nodes[n].holder == ID(c) && \
    !HAS(clients[c].extended, n))

#define EVENTS_OF_CLIENT_ON_NODE(c, n) \
    EVENT(MAY_GRANT(c, n), grant(c, n)) \
    EVENT(MAY_EXTEND(c, n), extend(c, n))

#define EVENTS_OF_CLIENT(c) \
    EVENT(!HAS_ATTEMPT(c), begin_attempt(c, old_list)) \
    EVENT(!HAS_ATTEMPT(c), begin_attempt(c, new_list)) \
    EVENTS_OF_CLIENT_ON_NODE(c, 0) \
    EVENTS_OF_CLIENT_ON_NODE(c, 1) \
    EVENTS_OF_CLIENT_ON_NODE(c, OLD) \
    EVENTS_OF_CLIENT_ON_NODE(c, NEW) \
    EVENT(HAS_ATTEMPT(c) && SIZE(clients[c].granted) >= QUORUM(c), claim(c)) \
    EVENT(clients[c].holds && !clients[c].extends, begin_extension(c)) \
    EVENT(clients[c].extends && SIZE(clients[c].extended) >= QUORUM(c), accept_extension(c)) \
    EVENT(HAS_ATTEMPT(c), give_back(c))

#ifdef EARLY
#define MAY_REACH true
#else
#define MAY_REACH (!nodes[OLD].on)
#endif

active proctype world()
{
    nodes[NEW].on = false;
    do
    EVENT(true, tick())
    EVENTS_OF_CLIENT(0)
    EVENTS_OF_CLIENT(1)
    EVENT(true, forget(0))
    EVENT(true, forget(1))
    EVENT(nodes[OLD].on, forget(OLD))
    EVENT(nodes[NEW].on, forget(NEW))
    EVENT(nodes[OLD].on, switch_off())
    EVENT(!nodes[NEW].on && MAY_REACH, reach())
#ifdef OLD_RETURNS
    EVENT(!nodes[OLD].on, switch_on())
#endif
    od
}
