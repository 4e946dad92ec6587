// The last coordinators as bars, one lane for each server, and gaps in which nobody
// was in charge. The table below says the same in words.

import {byId, element, setText, showServer} from './dom.js';
import {exactTime, seconds} from './words.js';

const span = 40_000;
const ticks = [40, 30, 20, 10, 0];
const listed = 4;
// Between a coordinator that leaves and the next one there is always a moment.
const shortestGap = 50;

export class Timeline {
    constructor() {
        this.box = byId('timeline');
        this.list = byId('terms');
        this.clear();
    }

    clear() {
        this.terms = [];
        this.lanes = new Map();
        this.gaps = element('div', {class: 'gaps'});
        this.box.replaceChildren(this.gaps, axis());
        this.list.replaceChildren();
    }

    /** A term is {server, fence, since, until}, as the server tells it. */
    set(terms) {
        this.terms = [];
        for (const term of terms)
            this.#put(term);
        this.#showList();
    }

    /** A new coordinator, or the end of the present one. */
    add({server, fence, since, until, previous}) {
        const before = previous && this.terms.find((term) => term.fence === previous.fence);
        if (before)
            before.until = previous.until;
        this.#put({server, fence, since, until});
        this.#showList();
    }

    /** Says whose lease lives at `now`, null: nobody's. The next coordinator will tell more exactly
        when that has ended. */
    setHolder(fence, now) {
        const last = this.terms.at(-1);
        if (last && last.fence === fence)
            last.until = null;
        else if (last && fence === null)
            last.until ??= now;
    }

    /** How long nobody was in charge before this term, or null if that is not known. */
    gapBefore(fence) {
        const index = this.terms.findIndex((term) => term.fence === fence);
        const before = this.terms[index - 1];
        return before?.until ? Math.max(0, this.terms[index].since - before.until) : null;
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
                bar.title = `token ${fence}`;
                bar.toggleAttribute('data-open', until === null);
                place(bar, since, until ?? now);
            });
        sync(this.gaps, this.#gapsSince(start, now), (bar, {from, to}) => place(bar, from, to));
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

    #gapsSince(start, now) {
        return this.terms
            .map((term, index) => ({
                key: term.fence, from: term.until, to: this.terms[index + 1]?.since ?? now,
            }))
            .filter(({from, to}) => from !== null && to > start && to - from > shortestGap);
    }

    #showList() {
        const newest = this.terms.slice(-listed).reverse();
        this.list.replaceChildren(...newest.map(({server, fence, since}) => {
            const name = element('span', {class: 'server'});
            showServer(name, server);
            const gap = this.gapBefore(fence);
            const texts = [String(fence), exactTime(since), gap === null ? '–' : seconds(gap)];
            return element('tr', {}, element('td', {}, name),
                ...texts.map((text) => element('td', {}, text)));
        }));
    }
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
