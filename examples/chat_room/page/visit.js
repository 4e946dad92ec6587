// What lasts from joining a room to leaving it: the protocol, over as many connections as it takes.

import {hideNotice, showConnection, showMembers, showNotice} from './bar.js';
import {Connection} from './connection.js';
import {mostLines} from './log.js';
import {Outbox} from './outbox.js';
import {limits} from './rules.js';
import {shortestSilence} from './timeline.js';
import {plural, seconds} from './words.js';

// Before the same is tried again, after an error that says that this helps.
const pause = 1000;
const storeLost = 1012;
const olderAtOnce = 100;

export class Visit {
    #frames = {
        hello: (frame) => this.#hello(frame),
        welcome: (frame) => this.#welcome(frame),
        message: (frame) => this.#message(frame),
        accepted: (frame) => this.#accepted(frame),
        coordinator: (frame) => this.#coordinator(frame),
        status: (frame) => this.#status(frame),
        older: (frame) => this.#older(frame),
        refusal: (frame) => this.#refusal(frame),
        error: (frame) => this.#error(frame),
    };

    /** Calls `onInside` once, when the room takes us in, `onRefused` with a reason if it never
        will, and until then `onWaiting` with what is in the way. */
    constructor(name, room, {log, panel, onHello, onInside, onWaiting, onRefused}) {
        Object.assign(this, {name, room, log, panel, onHello, onInside, onWaiting, onRefused});
        this.outbox = new Outbox(room);
        this.inside = this.joined = false;
        this.trouble = '';
        this.#forgetRoom();
        this.connection = new Connection(socketAddress(location.href), {
            onOpen: () => this.#join(),
            onFrame: (frame) => this.#frames[frame.type]?.(frame),
            onChange: (...change) => this.#connectionChanged(...change),
        });
    }

    say(text) {
        this.outbox.add(text);
        this.#send();
        this.#showPending();
        this.log.showNewest();
    }

    /** Takes back a message that was refused; returns its text. */
    takeBack(id) {
        const text = this.outbox.remove(id)?.text ?? '';
        this.#showPending();
        return text;
    }

    /** Asks for what was said before the first message that is shown. */
    askForOlder() {
        this.older = olderAtOnce;
        this.#askForOlder();
    }

    tryNow() {
        this.connection.tryNow();
    }

    leave() {
        this.connection.close();
        clearInterval(this.countdown);
        clearTimeout(this.retry);
        clearTimeout(this.paused);
        hideNotice();
        showConnection('off', '');
    }

    #hello(frame) {
        Object.assign(limits, frame.limits);
        this.connection.alsoTry(frame.peers.map(socketAddress));
        this.onHello(frame);
    }

    #join() {
        // After a reconnection, nothing is missed.
        const wanted = this.last > 0 ? {after: this.last, began: this.began} : {tail: mostLines};
        this.connection.send({type: 'join', room: this.room, name: this.name, ...wanted});
    }

    #welcome(frame) {
        this.connection.settled();
        if (this.last > 0 && (frame.began !== this.began || frame.last < this.last))
            this.#beginAgain();
        this.began = frame.began;
        this.joined = true;
        this.store = 'up';  // Or it would not have taken us in.
        this.trouble = '';
        this.history = frame.last;
        this.panel.setTime(frame.now);
        this.panel.timeline.set(frame.coordinators);
        this.came ??= frame.now;
        for (const refusal of frame.refusals)
            this.#refusal(refusal);
        if (!this.inside) {
            this.inside = true;
            this.onInside();
        }
        if (this.server && this.server !== frame.server)
            this.log.note(`Connected to ${frame.server} now, ${this.server} did not answer`);
        this.server = frame.server;
        this.log.setFirst(frame.first);
        if (this.last + 1 < frame.first)
            this.log.note(`Messages before #${frame.first} are no longer kept`,
                {quiet: true});
        this.#noteCoordinator(frame.coordinators.at(-1));
        if (frame.last === 0)
            this.log.say('Nothing has been said here yet. Write the first message.');
        showConnection('open', `Connected to ${frame.server}`);
        this.#showTrouble();
        this.#showPending();
        this.#send();
    }

    #message(frame) {
        if (frame.seq <= this.last)
            return;
        this.last = frame.seq;
        this.log.add(frame,
            {history: frame.seq <= this.history, more: frame.seq < this.history});
        if (this.outbox.remove(frame.id)) {
            this.#showPending();
            this.#send();
        }
    }

    // A page of them comes at a time. If the log has dropped its oldest lines for new ones since we
    // asked, the page does not fit any more, and we ask for the one that does.
    #older({before, messages}) {
        if (before === this.log.oldest) {
            this.log.addOlder(messages);
            this.older -= messages.length;
            if (messages.length === 0)
                return;
        }
        if (this.older > 0)
            this.#askForOlder();
    }

    #askForOlder() {
        if (this.log.oldest > this.log.first)
            this.connection.send({type: 'older', before: this.log.oldest});
    }

    #accepted({id}) {
        this.outbox.mark(id, 'accepted');
        this.#showPending();
        this.#send();
    }

    #coordinator(frame) {
        this.panel.showTerm(frame);
        this.#noteCoordinator(frame);
    }

    // Those from before we came are in the timeline only.
    #refusal({server, number, seen, slept, at}) {
        this.panel.timeline.addRefusal({at});
        if (at < this.came || at <= this.refused)
            return;
        this.refused = at;
        this.log.note(`${server} woke after ${seconds(slept)} and tried to write with token `
            + `#${number}; the room has seen #${seen.number}: refused`, {'data-kind': 'refusal'});
    }

    #status(frame) {
        const back = frame.store === 'up' && this.store === 'down';
        this.store = frame.store;
        this.nodes = votesOf(frame.nodes);
        this.lease = frame.lease && {...frame.lease, server: frame.coordinator.server};
        this.waiting = frame.waiting?.messages ?? 0;
        showMembers(frame.members);
        this.panel.show(frame);
        this.#showTrouble();
        if (back)
            this.#send();
    }

    #error({text, retry, id}) {
        if (id !== undefined)
            this.#notSaid(id, text, retry);
        else if (this.joined)
            this.log.note(`The server refused: ${text}`);
        else if (retry)
            this.#joinLater(text);
        else
            this.onRefused(text);
    }

    #notSaid(id, text, retry) {
        this.outbox.mark(id, retry ? 'waiting' : 'refused', text);
        if (retry)
            this.#sendLater();
        this.#showPending();
        this.#send();
    }

    #joinLater(text) {
        this.trouble = `You could not join yet: ${text}.`;
        this.retryAt = performance.now() + pause;
        this.retry = setTimeout(() => this.#join(), pause);
        this.#showTrouble();
    }

    #sendLater() {
        clearTimeout(this.paused);
        this.paused = setTimeout(() => {
            this.paused = null;
            this.#send();
        }, pause);
    }

    // Says the next message, if one waits and the server can take it.
    #send() {
        if (!this.joined || this.store === 'down' || this.paused)
            return;
        const entry = this.outbox.next();
        if (entry && this.connection.send({type: 'say', id: entry.id, text: entry.text}))
            this.outbox.mark(entry.id, 'sent');
    }

    #noteCoordinator(term) {
        if (!term || term.until !== null || term.fence === this.fence)
            return;
        const first = this.fence === null;
        this.fence = term.fence;
        if (first && this.history > 0 && !term.previous)
            return;  // We came later: for us nothing has changed.
        const gap = this.panel.timeline.gapBefore(term.fence);
        this.log.note(`Coordinator is now ${term.server}, token #${term.number}${gapWords(gap)}`,
            {'data-fence': term.fence});
    }

    #forgetRoom() {
        this.last = 0;
        this.refused = 0;
        this.history = 0;
        this.fence = null;
        this.log.clear();
    }

    // The store came back empty. What was accepted and not yet shown went with it.
    #beginAgain() {
        this.#forgetRoom();
        this.outbox.sendAgain(['sent', 'accepted']);
        this.log.note('The message store lost what was said. The room starts over');
    }

    #connectionChanged(state, wait, code) {
        clearInterval(this.countdown);
        clearTimeout(this.retry);
        this.retryAt = performance.now() + (wait ?? 0);
        if (state === 'connecting')
            showConnection('connecting', 'Connecting');
        if (state === 'waiting')
            this.#lost(code);
        if (this.trouble)
            this.#showTrouble();
    }

    #lost(code) {
        this.joined = false;
        this.nodes = null;
        this.trouble = this.inside ? 'Disconnected.' : 'The server does not answer.';
        this.outbox.sendAgain();
        this.panel.forget();
        this.#showPending();
        showConnection('lost', 'Disconnected');
        this.countdown = setInterval(() => this.#showTrouble(), 1000);
        if (code === storeLost)
            this.#beginAgain();
    }

    #showTrouble() {
        const left = Math.ceil((this.retryAt - performance.now()) / 1000);
        const more = left > 0 ? `Trying again in ${left} s.` : 'Trying again.';
        if (!this.inside)
            this.onWaiting(`${this.trouble} ${more}`);
        else if (!this.joined)
            showNotice({
                kind: 'bad', text: `${this.trouble} What you write is kept and sent later.`, more,
                retry: true,
            });
        else if (this.store === 'down')
            showNotice({
                kind: 'warn',
                text: 'The message store is down. What you write is kept and sent later.',
            });
        else if (this.nodes && !this.nodes.isQuorum)
            showNotice({kind: 'bad', ...this.#noQuorum()});
        else
            hideNotice();
    }

    // The text stays the same from second to second, for it is read out.
    #noQuorum() {
        const {ready, all, quorum, soonest} = this.nodes;
        const left = this.lease ? Math.ceil(this.lease.remaining / 1000) : 0;
        const more = [
            left > 0 ? `${this.lease.server} is in charge for ${left} s more.`
                : 'Nobody is in charge.',
            this.waiting > 0 ? `${plural(this.waiting, 'message')} waiting.` : '',
            soonest === null ? '' : `A quorum may be back in ${Math.ceil(soonest / 1000)} s.`,
        ];
        return {
            text: `No quorum: ${ready} of ${all} lock nodes vote, ${quorum} must. `
                + 'What you write is accepted and waits.',
            more: more.filter(Boolean).join(' '),
        };
    }

    #showPending() {
        this.log.showPending(this.outbox.entries);
    }
}

function gapWords(gap) {
    if (!gap)
        return '';
    const {before, without, silent, empty} = gap;
    if (empty > shortestSilence)
        return `. Nobody was here for ${seconds(empty)}`;
    return silent > shortestSilence
        ? `, ${seconds(without)} after the last sign of ${before.server}`
        : `, after ${seconds(without)} without one`;
}

/** How many nodes vote, and when enough of those in quarantine will, in milliseconds or null. */
function votesOf(nodes) {
    const ready = nodes.filter(({state}) => state === 'ready').length;
    const quorum = Math.floor(nodes.length / 2) + 1;
    const later = nodes.map(({votes_in: left}) => left).filter((left) => left !== null)
        .sort((a, b) => a - b);
    return {
        ready, quorum, all: nodes.length, isQuorum: ready >= quorum,
        soonest: later[quorum - ready - 1] ?? null,
    };
}

function socketAddress(site) {
    const address = new URL('/ws', site);
    address.protocol = address.protocol === 'https:' ? 'wss:' : 'ws:';
    return address.href;
}
