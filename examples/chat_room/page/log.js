// The list of messages: what the room has, in its order, and below it what we said and the room has
// not shown yet.

import {byId, element, hueOf, icon, setText} from './dom.js';
import {day, exactTime, plural, seconds, timeOfDay} from './words.js';

// Longer histories would make the page slow; the oldest lines go first.
export const mostLines = 1000;
// Including those that someone asked for.
const longestList = 5000;
const sameBreath = 3 * 60 * 1000;
const nearTheEnd = 48;
// A message that waited longer for a coordinator says so.
const longWait = 500;

const progress = {
    waiting: ['waiting', 'waiting to be sent'],
    sent: ['waiting', 'sending'],
    accepted: ['accepted', 'accepted, not yet in the room'],
    refused: ['refused', 'not sent'],
};

export class Log {
    constructor({wrote, onOlder, onUnread, onEdit, onDiscard}) {
        Object.assign(this, {wrote, onOlder, onUnread, onEdit, onDiscard});
        this.box = byId('log');
        this.list = byId('messages');
        this.pending = byId('pending');
        this.button = byId('unread');
        this.box.addEventListener('scroll', () => this.#scrolled());
        this.button.addEventListener('click', () => this.showNewest());
        byId('older').addEventListener('click', () => this.onOlder());
        document.addEventListener('visibilitychange', () => this.#scrolled());
        new ResizeObserver(() => this.#follow()).observe(this.box);
        this.clear();
    }

    clear() {
        this.list.replaceChildren();
        this.pending.replaceChildren();
        this.arrived = [];
        this.entries = [];
        this.last = null;
        this.day = null;
        this.following = true;
        this.top = 0;
        this.most = mostLines;
        this.first = 1;
        this.#setUnread(0);
        this.#showOlder();
        this.say('Loading earlier messages.');
    }

    /** What stands where no messages are. */
    say(text) {
        setText(byId('empty'), text);
        this.#showEmpty();
    }

    /** Adds a message of the room. What is history is not read out; `more` of it follows. */
    add(message, {history = false, more = false} = {}) {
        this.#queue({message, quiet: history}, more ? 5000 : 16);
    }

    /** Says which is the first message that the room keeps: a button asks for those between. */
    setFirst(seq) {
        this.first = seq;
        this.#showOlder();
    }

    /** The number of the first message that is shown, or undefined. */
    get oldest() {
        const line = this.list.querySelector('.message');
        return line ? Number(line.dataset.seq) : undefined;
    }

    /** Puts older messages before the others, which keep their place. */
    addOlder(messages) {
        if (messages.length === 0)
            return this.setFirst(this.oldest ?? 1);
        const {last, day} = this;
        Object.assign(this, {last: null, day: null});
        const lines = messages.flatMap((message) => this.#linesOf({message}));
        const below = this.box.scrollHeight - this.box.scrollTop;
        const next = this.list.firstElementChild;
        if (next?.matches('.day') && next.textContent === this.day)
            next.remove();
        Object.assign(this, {last, day});
        this.most = Math.min(longestList, this.most + lines.length);
        this.list.prepend(...lines);
        this.box.scrollTop = this.box.scrollHeight - below;
        this.#showOlder();
    }

    #showOlder() {
        byId('older').hidden = !(this.oldest > this.first);
    }

    /** Adds a line that is nobody's message, with its own attributes. */
    note(text, {quiet = false, ...more} = {}) {
        this.#queue({note: text, more, quiet}, 16);
    }

    /** Shows what we said and the room has not. It waits for lines that are about to be added, so
        that a message goes from here to the room without a gap. */
    showPending(entries) {
        this.entries = entries;
        if (this.arrived.length === 0)
            this.#drawPending();
    }

    showNewest() {
        this.following = true;
        this.#follow();
        this.#setUnread(0);
    }

    // Lines are added together, a history all at once: to keep the end in sight costs a layout each
    // time, and of a long history only the end is shown.
    #queue(line, within) {
        this.arrived.push(line);
        const due = performance.now() + within;
        if (this.flushing && due >= this.due)
            return;
        clearTimeout(this.flushing);
        this.due = due;
        this.flushing = setTimeout(() => this.#flush(), within);
    }

    #flush() {
        this.flushing = null;
        const lines = this.arrived.splice(0);
        const spoken = lines.filter(({quiet}) => !quiet);
        this.box.setAttribute('aria-live', spoken.length > 0 ? 'polite' : 'off');
        const unseen = lines.filter(({message, quiet}) =>
            message && !this.wrote(message.id) && !(quiet && this.following)).length;
        const away = !this.following || document.hidden;
        if (away && unseen > 0 && this.unread === 0)
            this.#markUnread();
        this.list.append(...lines.slice(-this.most).flatMap((line) => this.#linesOf(line)));
        while (this.list.childElementCount > this.most)
            this.list.firstElementChild.remove();
        this.#showOlder();
        if (away)
            this.#setUnread(this.unread + unseen);
        this.#drawPending();
    }

    #linesOf({message, note, more}) {
        if (note) {
            this.last = null;
            return [element('li', {class: 'note', ...more}, element('span', {}, note))];
        }
        const lines = [];
        if (day(message.at) !== this.day) {
            this.day = day(message.at);
            this.last = null;
            lines.push(element('li', {class: 'note day'}, element('span', {}, this.day)));
        }
        return [...lines, this.#messageLine(message)];
    }

    #messageLine(message) {
        const own = this.wrote(message.id);
        const goesOn = this.last?.name === message.name && this.last.own === own
            && message.at - this.last.at < sameBreath;
        this.last = {name: message.name, own, at: message.at};
        const seq = element('span', {class: 'seq', title: 'Sequence number in the room'},
            String(message.seq));
        const time = element('time', {
            datetime: new Date(message.at).toISOString(), title: exactTime(message.at),
        }, timeOfDay(message.at));
        const foot = element('span', {class: 'foot'}, seq, ' ', time);
        if (message.waited > longWait)
            foot.prepend(element('span', {class: 'waited'}, `waited ${seconds(message.waited)}`),
                ' ');
        if (own)
            foot.append(' ', icon('appended'), unseen('in the room'));
        const kind = `message${own ? ' own' : ''}${goesOn ? ' goes-on' : ''}`;
        const line = element('li', {class: kind, 'data-seq': message.seq, 'data-id': message.id},
            element('p', {class: own || goesOn ? 'author unseen' : 'author', dir: 'auto'},
                own ? 'You' : message.name),
            bubble(message.text, foot));
        coordinatorOf(line, message.server, message.term);
        return line;
    }

    #pendingLine({id, text, state, reason}) {
        const [drawing, words] = progress[state];
        const foot = element('span', {class: 'foot'}, icon(drawing), unseen(words));
        const line = element('li',
            {class: 'message own pending', 'data-state': state, 'data-id': id},
            element('p', {class: 'author unseen'}, 'You'), bubble(text, foot));
        if (state === 'refused') {
            const edit = element('button', {type: 'button', class: 'quiet'}, 'Edit');
            const discard = element('button', {type: 'button', class: 'quiet'}, 'Discard');
            edit.addEventListener('click', () => this.onEdit(id));
            discard.addEventListener('click', () => this.onDiscard(id));
            line.append(element('p', {class: 'reason'}, `Not sent: ${reason}. `, edit, discard));
        }
        return line;
    }

    // A line that stays as it is keeps its place, and the focus if it has it.
    #drawPending() {
        const lines = new Map([...this.pending.children].map((line) => [line.dataset.id, line]));
        const shown = this.entries.map((entry) => {
            const line = lines.get(entry.id);
            return line?.dataset.state === entry.state ? line : this.#pendingLine(entry);
        });
        for (const line of lines.values())
            if (!shown.includes(line))
                line.remove();
        shown.forEach((line, place) => {
            if (this.pending.children[place] !== line)
                this.pending.insertBefore(line, this.pending.children[place] ?? null);
        });
        this.#showEmpty();
        this.#follow();
    }

    #showEmpty() {
        byId('empty').hidden = this.box.querySelector('.message') !== null;
    }

    #scrolled() {
        const below = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight;
        // New lines also move the end away: only scrolling up is meant.
        if (below < nearTheEnd || this.box.scrollTop < this.top)
            this.following = below < nearTheEnd;
        this.top = this.box.scrollTop;
        if (this.following && !document.hidden)
            this.#setUnread(0);
    }

    #follow() {
        if (this.following)
            this.box.scrollTop = this.box.scrollHeight;
    }

    #markUnread() {
        this.list.querySelector('.new')?.remove();
        this.last = null;
        this.list.append(element('li', {class: 'note new'}, element('span', {}, 'New')));
    }

    #setUnread(count) {
        this.unread = count;
        this.button.hidden = count === 0 || this.following;
        setText(this.button.firstElementChild, plural(count, 'new message'));
        this.onUnread(count);
    }
}

/** Gives a message the colour of the coordinator that numbered it. */
export function coordinatorOf(line, server, term) {
    line.dataset.hue = hueOf(server);
    line.title = `Numbered by ${server}, token #${term}`;
}

const unseen = (text) => element('span', {class: 'unseen'}, text);

function bubble(text, foot) {
    return element('div', {class: 'bubble'},
        element('p', {class: 'said', dir: 'auto'}, text), foot);
}
