/* Guarded mode: acquire, release, retry, extend, take a hold again, fencing tokens, amnesia with
   quarantine, grace, releases that keep the resource, revocation.

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

/* With a window, nodes execute no extension that was asked for longer ago, and marks that a hold is
   over expire. Without one, an extension may be late by any time, and marks stay. */
#ifndef MARK_LIFE
#define MARK_LIFE QUARANTINE
#endif

/* What must hold; with -DONLY=name, only that. A trace ends with the name of what did not. */
mtype = { two_leases, lost_quorum, old_token, gap_in_lease, orphan, lost_update };
mtype = { early_grant, not_kept, kept_after, outlives_revocation, survived };
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

/* Without amnesia the fence refuses late acquisitions. With it stamps do, since a quarantine is longer
   than their window, see stamps.pml. Here that only matters where a late one would do what taking
   again does. */
#ifdef WITNESS
#define STAMPED
#endif

typedef node
{
    byte holder;      /* attempt id of the lock key, 0 without a key */
    byte life;        /* ticks until the key expires */
    byte fence;       /* highest token accepted, or a tombstone */
    byte granted;     /* set of attempts: the client that asks still counts this grant */
    byte prolonged;   /* 1 if the extension was granted here */
#ifdef EXTENSION
    byte over;        /* 0 without a mark that the hold of attempt 0 is over; 1 if it may expire */
#endif
    byte released;    /* set of attempts: their release was executed here, see note_release;
                         ATTEMPTS stands for the request to free */
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
#ifdef FREE
    byte freed;       /* 1 if the mark says that what attempt 0 keeps is to be free */
#endif
#ifdef REVOKE
    byte flagged;     /* 1 if the key is not to be extended any more */
    byte answered;    /* 1 if the answer to the revocation counts */
#endif
#ifdef IN_ORDER
    byte latest[2];   /* for each client, the place of its latest command here */
#endif
#ifdef UNDO
    byte undone;      /* set of attempts: given back behind their acquisition on its connection */
#endif
#ifdef STAMPED
    byte forgot;      /* 1 if it has lost its memory since attempt 0 began */
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

/* Extensions of attempt 0, any number, one after the other. A late one counts for the one that is
   open: it does the same. */
bool extension_sent, extension_open;
byte extension_age;  /* ticks since the latest was asked for */
bool overtaken;      /* another was granted a lease since attempt 0 was */
#ifdef OPEN_ONLY
bool was_open;       /* an extension was open when attempt 0 was closed */
#endif

#ifdef KEEP
/* A release of attempt 0 that keeps the resource. */
bool keeps;
byte since_begin;  /* ticks since attempt 0 began, up to KEEP */
#endif
#ifdef FREE
bool freeing;      /* a request to free what attempt 0 keeps was sent */
#endif
#ifdef REVOKE
/* One revocation, of attempt 0. */
bool revoked;
byte until;        /* the longest answer; once it is revoked, ticks until the end */
byte answering;    /* ticks since the first answer */
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

#ifdef IN_ORDER
/* A client has one connection to each node, and sends its commands in this order. No command is
   overtaken by a later one, unless a new connection was made between them. To send a command again
   because the node did not know its script is the same. */
#define PLACE_OF_ACQUISITION(a) (a == 1 -> 3 : 0)
#define PLACE_OF_EXTENSION 1
#define PLACE_OF_RELEASE(a) (a == 1 -> 4 : 2)
#define UNORDERED 7
#define IN_PLACE(a, n, place) (nodes[n].latest[CLIENT(a)] == UNORDERED || \
    nodes[n].latest[CLIENT(a)] <= place)
inline pass(a, n, place)
{
    if
    :: nodes[n].latest[CLIENT(a)] < place -> nodes[n].latest[CLIENT(a)] = place
    :: else
    fi
}

inline connect_anew(c, n)
{
    printf("node %d: client %d makes a new connection\n", n, c);
    nodes[n].latest[c] = UNORDERED
}
#else
#define IN_PLACE(a, n, place) true
#define pass(a, n, place) skip
#endif

/* With amnesia there are no fences, and so late acquisitions set keys. But no extension does that,
   not even where the release was forgotten. */
#if !defined(AMNESIA)
#define IS_RELEASED(a, n) HAS(nodes[n].released, a)
#define note_release(a, n) ADD(nodes[n].released, a)
#elif defined(WINDOW)
#define IS_RELEASED(a, n) false
#define note_release(a, n) nodes[n].released = nodes[n].released | (a == 0)
#else
#define IS_RELEASED(a, n) false
#define note_release(a, n) skip
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

/* A mark that attempt 0's hold is over. Only extensions that find no key read it. */
#ifdef EXTENSION
#define IS_OVER(n) (nodes[n].over > 0)
#ifdef WINDOW
#define MARKED (MARK_LIFE - DRIFT + 1)
#else
#define MARKED 1
#endif
inline mark_over(n)
{
    nodes[n].over = MARKED
}

inline forget_mark(n)
{
    nodes[n].over = 0;
#ifdef FREE
    nodes[n].freed = 0
#endif
}
#else
#define IS_OVER(n) false
#define mark_over(n) skip
#endif

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
#ifdef STAMPED
#define TOO_OLD(a, n) (a == 0 && nodes[n].forgot)
#else
#define TOO_OLD(a, n) false
#endif
#ifdef UNDO
#define IS_UNDONE(a, n) HAS(nodes[n].undone, a)
#else
#define IS_UNDONE(a, n) false
#endif
#define MAY_ACQUIRE(a, n) (MAY_VOTE(n) && nodes[n].holder == 0 && !TOO_OLD(a, n) && \
    NEWER(attempts[a].token, nodes[n].fence) && IN_PLACE(a, n, PLACE_OF_ACQUISITION(a)) && \
    !IS_UNDONE(a, n))
inline acquire_on_node(a, n, drift)
{
    printf("node %d: attempt %d granted, token %d, for %d ticks\n", n, a, attempts[a].token,
        KEY_LIFE - drift);
    must(!IS_RELEASED(a, n), orphan);
    pass(a, n, PLACE_OF_ACQUISITION(a));
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

/* guarded_extend.lua, for attempt 0. A node that has no key of anybody takes the hold again, unless
   its mark says that the hold is over. Who had the node in between does not matter, nor does the
   fence: an extension counts only while the lease has a quorum. */
#ifdef REVOKE
#define FLAGGED(n) nodes[n].flagged
#else
#define FLAGGED(n) false
#endif
#ifdef TAKES_OTHERS
#define IS_FREE(n) (nodes[n].holder != ID(0))
#else
#define IS_FREE(n) (nodes[n].holder == 0)
#endif
#if defined(NO_RETAKE)
#define MAY_RETAKE(n) false
#elif defined(QUARANTINED_RETAKES)
#define MAY_RETAKE(n) (IS_FREE(n) && !IS_OVER(n))
#else
#define MAY_RETAKE(n) (MAY_VOTE(n) && IS_FREE(n) && !IS_OVER(n))
#endif
#ifdef WINDOW
#define IN_WINDOW (extension_age <= WINDOW)
#else
#define IN_WINDOW true
#endif
#define MAY_EXTEND(n) (extension_sent && IN_WINDOW && IN_PLACE(0, n, PLACE_OF_EXTENSION) && \
    (nodes[n].holder == ID(0) -> MAY_VOTE(n) && !FLAGGED(n) : MAY_RETAKE(n)))
inline retake_on_node(n)
{
    printf("node %d: attempt 0 takes it again\n", n);
    must(!HAS(nodes[n].released, 0), orphan);
    delete_key(n);
    nodes[n].holder = ID(0);
#if !defined(AMNESIA) && !defined(NO_RETAKEN_FENCE)
    bury(0, n)
#endif
}

inline extend_on_node(n, drift)
{
    printf("node %d: extension granted, for %d ticks\n", n, EXTENDED_LIFE - drift);
    pass(0, n, PLACE_OF_EXTENSION);
    if
    :: nodes[n].holder != ID(0) -> retake_on_node(n)
    :: else
    fi;
    if
#ifdef SHORTENS
    :: true -> nodes[n].life = EXTENDED_LIFE - drift
#elif defined(ONLY_RETAKES)
    :: nodes[n].life == 0 -> nodes[n].life = EXTENDED_LIFE - drift
    :: else
#else
    :: nodes[n].life < EXTENDED_LIFE - drift -> nodes[n].life = EXTENDED_LIFE - drift
    :: else
#endif
    fi;
    nodes[n].prolonged = extension_open
}

/* guarded_release.lua, which asks for no permission to vote. It leaves a mark if the hold was ever
   extended, whether there is a key or not. Without fences and marks it changes nothing if there is
   no key. */
#if !defined(EXTENSION) || defined(NO_RETAKE) || defined(NO_MARK)
#define LEAVES_MARK(a) false
#elif defined(OPEN_ONLY)
#define LEAVES_MARK(a) (a == 0 && was_open)
#else
#define LEAVES_MARK(a) (a == 0 && extension_sent)
#endif
#ifdef AMNESIA
#define MAY_RELEASE(a, n) (IN_PLACE(a, n, PLACE_OF_RELEASE(a)) && \
    (nodes[n].holder == ID(a) || LEAVES_MARK(a)))
#else
#define MAY_RELEASE(a, n) IN_PLACE(a, n, PLACE_OF_RELEASE(a))
#endif
inline release_on_node(a, n)
{
    pass(a, n, PLACE_OF_RELEASE(a));
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
    if
    :: LEAVES_MARK(a) -> mark_over(n)
    :: else
    fi;
    note_release(a, n)
}

/* guarded_undo.lua, on the connection of the acquisition, which can't come any more then. It leaves
   no fence. Releases go over new connections. */
#ifdef UNDO
#define MAY_UNDO(a, n) IN_PLACE(a, n, PLACE_OF_RELEASE(a))
#define HAS_NEW_CONNECTION(a, n) (nodes[n].latest[CLIENT(a)] == UNORDERED)
inline undo_on_node(a, n)
{
    printf("node %d: attempt %d is undone\n", n, a);
    pass(a, n, PLACE_OF_RELEASE(a));
    if
    :: nodes[n].holder == ID(a) -> delete_key(n)
    :: else
    fi;
    ADD(nodes[n].undone, a);
    note_release(a, n)
}
#else
#define HAS_NEW_CONNECTION(a, n) true
#endif

#ifdef KEEP
/* guarded_keep.lua, for attempt 0. A key that is kept has a value that is no attempt's id. Its time
   counts from the token, so from before the first send, and a fast clock takes DRIFT of it. A node
   without a key keeps the resource too, however late the command is, but what was freed stays free.
   A wrong clock takes more than DRIFT, and must not make a key live less. */
#ifdef KEEPS_ID
#define KEPT ID(0)
#else
#define KEPT (ATTEMPTS + 1)
#endif
#ifdef FREE
#define IS_FREEING freeing
#define IS_FREED(n) nodes[n].freed
#define WAS_FREED(n) HAS(nodes[n].released, ATTEMPTS)
#else
#define IS_FREEING false
#define IS_FREED(n) false
#define WAS_FREED(n) false
#endif
#define KEEPS_FOR(drift) (KEEP - since_begin - drift)
#ifdef SHORT_KEPT_STAYS
#define KEPT_STAYS true
#else
#define KEPT_STAYS false
#endif
#ifdef WRONG_CLOCK_SHORTENS
#define MAY_SHORTEN(drift) true
#else
#define MAY_SHORTEN(drift) (drift <= DRIFT)
#endif

/* An answer counts only before the hold's deadline, and only from a node that may vote and whose
   clock is not wrong. */
#define CONFIRMED (nodes[0].confirmed + nodes[1].confirmed + nodes[2].confirmed)
#define IN_HOLD (attempts[0].age < VALIDITY)
#ifdef WRONG_CLOCK_COUNTS
#define CONFIRMS(n, drift) (IN_HOLD && MAY_VOTE(n))
#else
#define CONFIRMS(n, drift) (IN_HOLD && MAY_VOTE(n) && drift <= DRIFT)
#endif
#if defined(LATE_KEY)
#define CONFIRMS_KEY(n, drift) true
#elif defined(UNVOTED_KEY)
#define CONFIRMS_KEY(n, drift) IN_HOLD
#else
#define CONFIRMS_KEY(n, drift) CONFIRMS(n, drift)
#endif
#if defined(ABSENT_CONFIRMS) || defined(LATE_ABSENCE)
#define CONFIRMS_ABSENCE(n, drift) true
#elif defined(UNVOTED_ABSENCE)
#define CONFIRMS_ABSENCE(n, drift) IN_HOLD
#else
#define CONFIRMS_ABSENCE(n, drift) CONFIRMS(n, drift)
#endif
#ifdef UNVOTED_REPEAT
#define CONFIRMS_REPEAT(n, drift) IN_HOLD
#else
#define CONFIRMS_REPEAT(n, drift) CONFIRMS(n, drift)
#endif
inline confirm(n, counts)
{
    if
    :: counts && !IS_FREEING ->
        nodes[n].confirmed = 1;
        /* Nobody else was granted a lease since, although the period has not ended. */
        must(CONFIRMED < QUORUM || !overtaken, kept_after)
    :: else
    fi
}

inline keep_key(n, drift)
{
    must(!WAS_FREED(n), orphan);
    nodes[n].holder = KEPT;
    if
    :: MAY_SHORTEN(drift) || nodes[n].life < KEEPS_FOR(drift) -> nodes[n].life = KEEPS_FOR(drift)
    :: else
    fi;
#ifdef REVOKE
    nodes[n].flagged = 0;
#endif
    printf("node %d: keeps the resource for %d ticks\n", n, nodes[n].life)
}

inline keep_on_node(n, drift)
{
    printf("node %d: release that keeps\n", n);
    pass(0, n, PLACE_OF_RELEASE(0));
#ifndef AMNESIA
    if
    :: nodes[n].holder != ID(0) && nodes[n].holder != KEPT -> bury(0, n)
    :: else
    fi;
#endif
    if
    :: nodes[n].holder == ID(0) ->
        if
        :: IS_FREED(n) || (KEEPS_FOR(drift) <= 0 && MAY_SHORTEN(drift)) -> delete_key(n)
        :: else -> keep_key(n, drift)
        fi;
        confirm(n, CONFIRMS_KEY(n, drift))
    :: nodes[n].holder == 0 ->
        if
#ifndef ABSENT_CONFIRMS
        :: !IS_FREED(n) && KEEPS_FOR(drift) > 0 -> keep_key(n, drift)
#endif
        :: else
        fi;
        confirm(n, CONFIRMS_ABSENCE(n, drift))
#ifndef KEEPS_ID
    :: nodes[n].holder == KEPT ->
        /* A wrong clock may have kept it for less. */
        if
        :: nodes[n].life < KEEPS_FOR(drift) && !KEPT_STAYS -> keep_key(n, drift)
        :: else
        fi;
        confirm(n, CONFIRMS_REPEAT(n, drift))
#endif
    :: else
    fi;
#ifndef UNMARKED_KEEP
    if
    :: LEAVES_MARK(0) -> mark_over(n)
    :: else
    fi;
#endif
    note_release(0, n)
}
#endif

#ifdef FREE
/* guarded_free.lua, for what attempt 0 keeps. */
inline free_on_node(n)
{
    printf("node %d: freed\n", n);
    if
    :: nodes[n].holder == KEPT -> delete_key(n)
    :: else
    fi;
    mark_over(n);
#ifndef UNMARKED_FREE
    nodes[n].freed = 1;
#endif
    note_release(ATTEMPTS, n)
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
#if defined(UNMARKED_ABSENCE)
#define MARKS_ABSENCE(n) false
#elif defined(UNMARKED_QUARANTINE)
#define MARKS_ABSENCE(n) MAY_VOTE(n)
#else
#define MARKS_ABSENCE(n) true
#endif
/* A node that has the key leaves the mark too: a key with the flag is not extended, expires, and
   would be taken again. */
inline revoke_on_node(n)
{
    if
    :: nodes[n].holder == ID(0) ->
        printf("node %d: revoked, %d ticks are promised\n", n, PROMISED(n));
#ifndef NO_FLAG
        nodes[n].flagged = 1;
#endif
#ifdef AMNESIA
        bury(0, n);
#endif
#ifndef FLAG_ALONE
        mark_over(n)
#endif
    :: else ->
        printf("node %d: no such hold to revoke, %d ticks are promised\n", n, PROMISED(n));
#ifndef NO_REVOKED_FENCE
        bury(0, n);
#endif
        if
        :: MARKS_ABSENCE(n) -> mark_over(n)
        :: else
        fi
    fi
}
#ifdef EXTENSION
#define MARKS_MORE(n) (nodes[n].over < MARKED)
#else
#define MARKS_MORE(n) false
#endif
#define REVOKES(n) ((nodes[n].holder == ID(0) && !nodes[n].flagged) || \
    nodes[n].fence < attempts[0].token || MARKS_MORE(n))
#endif

/* Clients */

#define GRANTS(a) (HAS(nodes[0].granted, a) + HAS(nodes[1].granted, a) + HAS(nodes[2].granted, a))
#define ANSWERED (nodes[0].answered + nodes[1].answered + nodes[2].answered)
#define EXTENDED (nodes[0].prolonged + nodes[1].prolonged + nodes[2].prolonged)
#ifdef COUNTED_BY_MESSAGE
#define VOTES(a) (GRANTS(a) + attempts[a].twice)
#else
#define VOTES(a) GRANTS(a)
#endif

/* Attempt 0 has the resource, for all that its client knows. */
#ifdef KEEP
#define HAS_RESOURCE (attempts[0].phase == holding || (keeps && since_begin < KEEP - DRIFT))
#else
#define HAS_RESOURCE (attempts[0].phase == holding)
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
#if defined(EXTENSION) || defined(KEEP)
    if
    :: a != 0 && HAS_RESOURCE -> overtaken = true
    :: else
    fi;
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
#ifndef WINDOW
    extension_age = 0;
#endif
    nodes[0].prolonged = 0;
    nodes[1].prolonged = 0;
    nodes[2].prolonged = 0
}

/* Gives up, or gives back. From now on releases are on their way to all nodes. The client asks
   none of those that said no, but a release that is never delivered is the same. */
inline close_attempt(a)
{
    printf("client %d: gives attempt %d back\n", CLIENT(a), a);
    if
#ifdef KEEP
    :: a == 0 && VALID(a) -> keeps = true
    :: a == 0 && !VALID(a) ->
        since_begin = 0;
        attempts[a].age = 0
#endif
    :: else -> attempts[a].age = 0
    fi;
    attempts[a].phase = closed;
    forget_grants(a);
    if
    :: a == 0 ->
#ifdef OPEN_ONLY
        was_open = extension_open;
#endif
#ifdef REVOKE
        forget_revocation();
#endif
        overtaken = false;
        forget_extension()
    :: else
    fi
}

#ifdef FREE
inline free_resource()
{
    printf("frees what attempt 0 keeps\n");
    freeing = true;
    nodes[0].confirmed = 0;
    nodes[1].confirmed = 0;
    nodes[2].confirmed = 0
}
#endif

#ifdef REVOKE
/* All answers come within this time, or the client asks once more. After it, a node that answered
   and forgot may have waited in quarantine, and takes the hold again. */
#ifndef ANSWERS_WITHIN
#define ANSWERS_WITHIN (QUARANTINE - DRIFT - VALIDITY)
#endif
inline forget_answers()
{
    answering = 0;
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

/* Gives up one that is open. */
inline send_extension()
{
    printf("client 0: asks for an extension\n");
    forget_extension();
    extension_age = 0;
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
#define HAS_AGAIN(n) (nodes[n].forgot && nodes[n].holder == ID(0))
#define REMEMBERED_AGAIN (HAS_AGAIN(0) + HAS_AGAIN(1) + HAS_AGAIN(2))
inline accept_extension()
{
    printf("client 0: extension accepted\n");
    /* Nobody else was granted a lease since, or this one was not held all the time. */
    must(!overtaken, gap_in_lease);
#ifdef WITNESS
    /* Wanted, and so to be found: the lease lives on although two nodes have forgotten it. */
    must(REMEMBERED_AGAIN < 2, survived);
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

#ifdef KEEP
#define AGES(a) (OPEN(a) || (a == 0 && keeps))
#else
#define AGES(a) OPEN(a)
#endif
inline tick_attempt(x)
{
    if
    :: AGES(x) && attempts[x].age < AGE_END(x) -> attempts[x].age++
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
#ifdef WINDOW
    if
    :: nodes[x].over > 1 -> nodes[x].over--
    :: else
    fi;
#endif
#ifdef AMNESIA
    if
    :: nodes[x].quarantine > 0 -> nodes[x].quarantine--
    :: else
    fi
#endif
}

#ifdef WINDOW
inline expire_mark(n)
{
    printf("node %d: the mark expires\n", n);
    forget_mark(n)
}

#define AGING_EXTENSION (extension_sent && (extension_age < VALIDITY || extension_age <= WINDOW))
#else
#define AGING_EXTENSION (extension_open && extension_age < VALIDITY)
#endif
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
    :: AGING_EXTENSION -> extension_age++
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
    :: !revoked && ANSWERED > 0 && answering < ANSWERS_WITHIN -> answering++
    :: !revoked && ANSWERED > 0 && answering >= ANSWERS_WITHIN ->
        until = 0;
        forget_answers()
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
#ifdef EXTENSION
    forget_mark(n);
#endif
#ifdef STAMPED
    if
    :: STARTED(0) -> nodes[n].forgot = 1
    :: else
    fi;
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
#ifdef EXTENSION
    nodes[n].over = nodes[from].over;
#endif
#ifdef FREE
    nodes[n].freed = nodes[from].freed;
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
#define LOSS_WEIGHT(n) + ((nodes[n].marker == marked) << 12) + \
    ((nodes[n].marker == foreign) << 13) + (nodes[n].quarantine << 14) + (nodes[n].released << 29)
#else
#define LOSS_WEIGHT(n) + (nodes[n].released << 12)
#endif
#ifdef CONNECTIONS
#define VETTED_WEIGHT(n) + (nodes[n].vetted << 17)
#else
#define VETTED_WEIGHT(n)
#endif
#ifdef EXTENSION
#define OVER_WEIGHT(n) + (nodes[n].over << 19)
#else
#define OVER_WEIGHT(n)
#endif
#ifdef KEEP
#define KEEP_WEIGHT(n) + (nodes[n].confirmed << 22)
#else
#define KEEP_WEIGHT(n)
#endif
#ifdef FREE
#define FREE_WEIGHT(n) + (nodes[n].freed << 23)
#else
#define FREE_WEIGHT(n)
#endif
#ifdef REVOKE
#define REVOKE_WEIGHT(n) + (nodes[n].flagged << 24) + (nodes[n].answered << 25)
#else
#define REVOKE_WEIGHT(n)
#endif
#ifdef IN_ORDER
#define ORDER_WEIGHT(n) + (nodes[n].latest[0] << 26)
#else
#define ORDER_WEIGHT(n)
#endif
#ifdef UNDO
#define UNDO_WEIGHT(n) + (nodes[n].undone << 16)
#else
#define UNDO_WEIGHT(n)
#endif
#ifdef STAMPED
#define STAMP_WEIGHT(n) + (nodes[n].forgot << 30)
#else
#define STAMP_WEIGHT(n)
#endif
#define WEIGHT(n) (nodes[n].holder + (nodes[n].life << 3) + (nodes[n].fence << 6) + \
    (nodes[n].granted << 8) + (nodes[n].prolonged << 11) LOSS_WEIGHT(n) VETTED_WEIGHT(n) \
    OVER_WEIGHT(n) KEEP_WEIGHT(n) FREE_WEIGHT(n) REVOKE_WEIGHT(n) ORDER_WEIGHT(n) \
    UNDO_WEIGHT(n) STAMP_WEIGHT(n))
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
#ifdef EXTENSION
        SWAP(over);
#endif
#ifdef KEEP
        SWAP(confirmed);
#endif
#ifdef FREE
        SWAP(freed);
#endif
#ifdef REVOKE
        SWAP(flagged); SWAP(answered);
#endif
#ifdef IN_ORDER
        SWAP(latest[0]); SWAP(latest[1]);
#endif
#ifdef UNDO
        SWAP(undone);
#endif
#ifdef STAMPED
        SWAP(forgot);
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

/* No client sends both releases of one attempt. */
#if defined(KEEP) && !defined(KEEPS_ID)
#define IS_KEPT(a) (a == 0 && keeps)
#else
#define IS_KEPT(a) false
#endif
#ifdef LOSS_RELEASES
#define RELEASED(a) (attempts[a].phase == closed || IN_GRACE(a))
#else
#define RELEASED(a) (attempts[a].phase == closed)
#endif

#ifdef UNDO
#define EVENT_OF_UNDOING(a, n) \
    EVENT(RELEASED(a) && !IS_KEPT(a) && MAY_UNDO(a, n), undo_on_node(a, n))
#else
#define EVENT_OF_UNDOING(a, n)
#endif

#define EVENTS_OF_ATTEMPT_ON_NODE(a, n) \
    EVENT(STARTED(a) && CONNECTED(a, n) && MAY_ACQUIRE(a, n), acquire_on_node(a, n, 0)) \
    EVENT(DRIFT > 0 && STARTED(a) && CONNECTED(a, n) && MAY_ACQUIRE(a, n), \
        acquire_on_node(a, n, DRIFT)) \
    EVENT(attempts[a].phase == asking && CONNECTED(a, n) && MAY_VOTE(n) && \
        nodes[n].holder == ID(a) && IN_PLACE(a, n, PLACE_OF_ACQUISITION(a)), \
        acquire_once_more(a, n)) \
    EVENT(RELEASED(a) && !IS_KEPT(a) && MAY_RELEASE(a, n) && HAS_NEW_CONNECTION(a, n), \
        release_on_node(a, n)) \
    EVENT_OF_UNDOING(a, n)

#define EVENTS_OF_ATTEMPT(a) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 0) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 1) \
    EVENTS_OF_ATTEMPT_ON_NODE(a, 2) \
    EVENT(attempts[a].phase == asking && VOTES(a) >= QUORUM && attempts[a].age < VALIDITY, \
        claim(a)) \
    EVENT(OPEN(a), close_attempt(a))

#define EVENTS_OF_EXTENSION(n) \
    EVENT(CONNECTED(0, n) && MAY_EXTEND(n), extend_on_node(n, 0)) \
    EVENT(CONNECTED(0, n) && MAY_EXTEND(n), extend_on_node(n, DRIFT))

#define KEEPS_ON(n) (keeps && IN_PLACE(0, n, PLACE_OF_RELEASE(0)))
#ifdef WRONG_CLOCK
#define WRONG_CLOCKS true
#else
#define WRONG_CLOCKS false
#endif
#define EVENTS_OF_KEEPING(n) \
    EVENT(KEEPS_ON(n), keep_on_node(n, 0)) \
    EVENT(DRIFT > 0 && KEEPS_ON(n), keep_on_node(n, DRIFT)) \
    EVENT(WRONG_CLOCKS && KEEPS_ON(n), keep_on_node(n, DRIFT + 1)) \
    EVENT(WRONG_CLOCKS && KEEPS_ON(n), keep_on_node(n, KEEP))

/* Only what a node keeps can be seen, and freed. */
#define KEPT_ON(n) (nodes[n].holder == KEPT && !freeing)

#define EVENTS_OF_CONNECTION(n) \
    EVENT(nodes[n].latest[0] != UNORDERED, connect_anew(0, n)) \
    EVENT(nodes[n].latest[1] != UNORDERED, connect_anew(1, n))

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

#if defined(ONE_ATTEMPT)
/* For rules that no other attempt can break. */
#define MAY_BEGIN(a) (attempts[a].phase == idle && a == 0)
#elif defined(TWO_ATTEMPTS)
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
    EVENT(VALID(0), send_extension())
    EVENTS_OF_EXTENSION(0)
    EVENTS_OF_EXTENSION(1)
    EVENTS_OF_EXTENSION(2)
    EVENT(extension_open && EXTENDED >= QUORUM && IN_TIME, accept_extension())
#endif
#ifdef WINDOW
    EVENT(nodes[0].over == 1, expire_mark(0))
    EVENT(nodes[1].over == 1, expire_mark(1))
    EVENT(nodes[2].over == 1, expire_mark(2))
#endif
#ifdef KEEP
    EVENTS_OF_KEEPING(0)
    EVENTS_OF_KEEPING(1)
    EVENTS_OF_KEEPING(2)
#endif
#ifdef FREE
    EVENT(KEPT_ON(0) || KEPT_ON(1) || KEPT_ON(2), free_resource())
    EVENT(freeing, free_on_node(0))
    EVENT(freeing, free_on_node(1))
    EVENT(freeing, free_on_node(2))
#endif
#ifdef REVOKE
    EVENTS_OF_REVOCATION(0)
    EVENTS_OF_REVOCATION(1)
    EVENTS_OF_REVOCATION(2)
#endif
#ifdef NEW_CONNECTIONS
    EVENTS_OF_CONNECTION(0)
    EVENTS_OF_CONNECTION(1)
    EVENTS_OF_CONNECTION(2)
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
