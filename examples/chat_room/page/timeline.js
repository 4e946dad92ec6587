// The last coordinators as bars, one lane for each server. A bar is full while its coordinator
// gives signs of life, and hollow while its lease runs and it is silent. Between the bars nobody is
// in charge, or nobody is in the room. The table below says the same in words.

import {byId, element, setText, showServer} from './dom.js';
import {exactTime, seconds} from './words.js';

const span = 40_000;
const ticks = [40, 30, 20, 10, 0];
const listed = 4;
// Between a coordinator that leaves and the next one there is always a moment.
const shortestGap = 50;
// A coordinator gives a sign of life every 400 ms. Anything shorter is not silence.
export const shortestSilence = 1000;

export class Timeline {
    constructor() {
        this.box = byId('timeline');
        this.list = byId('terms');
        this.clear();
    }

    clear() {
        this.terms = [];
        this.refusals = [];
        this.lanes = new Map();
        this.gaps = element('div', {class: 'gaps'});
        this.box.replaceChildren(this.gaps, axis());
        this.list.replaceChildren();
    }

    /** A term is {server, fence, since, until, heard, empty}, as the server sends it. */
    set(terms) {
        this.terms = [];
        for (const term of terms)
            this.#put(term);
        this.#showList();
    }

    /** A new coordinator, or the end of the present one. */
    add({previous, ...term}) {
        const before = previous && this.terms.find(({fence}) => fence === previous.fence);
        if (before)
            Object.assign(before, previous);
        this.#put(term);
        this.#showList();
    }

    /** A late write that the room has refused. */
    addRefusal({at}) {
        if (!this.refusals.includes(at))
            this.refusals = [...this.refusals, at].slice(-20);
    }

    /** Says whose lease lives at `now`, null: nobody's, and when that coordinator was heard last.
        The next coordinator will tell more exactly when that has ended. */
    setHolder(fence, now, heard) {
        const last = this.terms.at(-1);
        if (last && last.fence === fence)
            Object.assign(last, {until: null, heard});
        else if (last && fence === null)
            last.until ??= now;
    }

    /** What was before a term: {before, without, silent, empty} with the term before it, and how
        long members had no coordinator that works, how much of that its lease ran, and how long
        nobody was in the room. Null if that is not known. */
    gapBefore(fence) {
        const index = this.terms.findIndex((term) => term.fence === fence);
        const before = this.terms[index - 1];
        if (!before?.until)
            return null;
        const {since, empty} = this.terms[index];
        const heard = Math.min(before.heard ?? before.until, before.until);
        const away = empty ? empty.to - empty.from : 0;
        return {
            before, empty: away, silent: before.until - heard,
            without: Math.max(0, since - heard - away),
        };
    }

    draw(now) {
        const start = now - span;
        const shown = this.terms.filter(({until}) => until === null || until > start);
        const place = (bar, from, to) => {
            const left = Math.max(0, (from - start) / span);
            bar.style.left = `${100 * left}%`;
            bar.style.width = `${100 * Math.max(0.004, Math.min(1, (to - start) / span) - left)}%`;
        };
        for (const server of [...new Set(this.terms.map((term) => term.server))].sort())
            this.#lane(server);
        for (const [server, lane] of this.lanes)
            sync(lane, shown.filter((term) => term.server === server), (bar, term) => {
                const {fence, since, until} = term;
                bar.title = `token #${term.number}, in full ${fence}`;
                bar.toggleAttribute('data-open', until === null);
                place(bar, since, until ?? now);
                const alive = (silenceOf(term, now)?.from ?? until ?? now) - since;
                bar.style.setProperty('--alive', alive / ((until ?? now) - since || 1));
            });
        const refused = this.refusals.filter((at) => at > start)
            .map((at) => ({key: `refused ${at}`, kind: 'refused', from: at, to: at}));
        sync(this.gaps, [...this.#gapsSince(start, now), ...refused], (bar, {kind, from, to}) => {
            bar.dataset.kind = kind;
            place(bar, from, to);
        });
    }

    #put(term) {
        const known = this.terms.find(({fence}) => fence === term.fence);
        if (known)
            Object.assign(known, term);
        else
            this.terms = [...this.terms, {...term}].sort((a, b) => a.fence - b.fence).slice(-50);
    }

    #lane(server) {
        if (this.lanes.has(server))
            return;
        const name = element('span', {class: 'server'});
        const track = element('div', {class: 'track'});
        showServer(name, server);
        track.dataset.hue = name.dataset.hue;
        this.lanes.set(server, track);
        const lanes = [...this.box.querySelectorAll('.lane')];
        const after = lanes.find((lane) => lane.textContent > server) ?? this.gaps;
        this.box.insertBefore(element('div', {class: 'lane'}, name, track), after);
    }

    // No one in charge, but for the time in which nobody was in the room.
    #gapsSince(start, now) {
        return this.terms
            .flatMap(({fence, until}, index) => {
                const {since, empty} = this.terms[index + 1] ?? {};
                const gap = (kind, from, to) => ({key: `${fence} ${from}`, kind, from, to});
                if (until === null)
                    return [];
                const to = since ?? now;
                const [away, back] = empty ? [Math.max(until, empty.from), empty.to] : [to, to];
                return [
                    gap('nobody', until, away), gap('empty', away, back), gap('nobody', back, to),
                ];
            })
            .filter(({from, to}) => to > start && to - from > shortestGap);
    }

    #showList() {
        const newest = this.terms.slice(-listed).reverse();
        this.list.replaceChildren(...newest.map(({server, fence, number, since}) => {
            const name = element('span', {class: 'server'});
            showServer(name, server);
            const texts = [`#${number}`, exactTime(since), gapWords(this.gapBefore(fence))];
            return element('tr', {}, element('td', {}, name),
                ...texts.map((text) => element('td', {title: `token ${fence}`}, text)));
        }));
    }
}

/** When a coordinator was silent and its lease ran, or null if it was not. */
function silenceOf({heard, until}, now) {
    const to = until ?? now;
    return heard && to - heard > shortestSilence ? {from: heard, to} : null;
}

function gapWords(gap) {
    if (gap === null)
        return '–';
    return gap.empty > shortestSilence ? `${seconds(gap.without)}, and empty`
        : seconds(gap.without);
}

function axis() {
    return element('div', {class: 'axis'}, ...ticks.map((ago) =>
        element('span', {}, ago === 0 ? 'now' : `−${ago} s`)));
}

// One child for each item, kept from one drawing to the next.
function sync(parent, items, update) {
    const keyOf = ({key, fence}) => String(key ?? fence);
    const kept = new Map([...parent.children].map((bar) => [bar.dataset.key, bar]));
    for (const item of items) {
        const bar = kept.get(keyOf(item)) ?? element('span', {'data-key': keyOf(item)});
        kept.delete(keyOf(item));
        update(bar, item);
        if (!bar.parentNode)
            parent.append(bar);
    }
    for (const bar of kept.values())
        bar.remove();
}
