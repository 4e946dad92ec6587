// What one person said in a room and the room has not shown yet, in the order of saying.
//
// One message is under way at a time: the next one waits until this one is accepted. So neither a
// refusal nor a broken connection changes the order, and sending again begins at the right one. The
// tab's storage keeps it over a reload, and the ids of what we said. Nothing that others see tells
// them how our next id will look.

import {recall, remember} from './memory.js';

const hex = (bytes) => Array.from(crypto.getRandomValues(new Uint8Array(bytes)),
    (byte) => byte.toString(16).padStart(2, '0')).join('');

// As many as the page shows.
const mostKnown = 1000;

export class Outbox {
    constructor(room) {
        this.key = `outbox:${room}`;
        this.ownKey = `own:${room}`;
        this.entries = recall(this.key) ?? [];
        this.own = new Set(recall(this.ownKey) ?? []);
        this.sendAgain();
    }

    /** Whether a message of the room is ours, also after a reload. */
    wrote(id) {
        return this.own.has(id);
    }

    add(text) {
        const id = hex(16);
        this.own = new Set([...this.own, id].slice(-mostKnown));
        remember(this.ownKey, [...this.own]);
        this.entries.push({id, text, state: 'waiting'});
        this.#save();
    }

    /** The message to send now, or undefined while another one is under way or nothing waits. */
    next() {
        if (!this.entries.some(({state}) => state === 'sent'))
            return this.entries.find(({state}) => state === 'waiting');
    }

    /** States: waiting, sent, accepted, refused. */
    mark(id, state, reason = '') {
        const entry = this.entries.find((e) => e.id === id);
        if (entry) {
            Object.assign(entry, {state, reason});
            this.#save();
        }
    }

    /** What is under way may not have arrived; the same id makes it appear once. */
    sendAgain(states = ['sent']) {
        for (const entry of this.entries)
            if (states.includes(entry.state))
                entry.state = 'waiting';
        this.#save();
    }

    /** Returns what it removed, if it was there. */
    remove(id) {
        const entry = this.entries.find((e) => e.id === id);
        if (entry) {
            this.entries = this.entries.filter((e) => e !== entry);
            this.#save();
        }
        return entry;
    }

    #save() {
        remember(this.key, this.entries);
    }
}
