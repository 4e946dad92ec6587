// The panel: who is in charge, how long the lease lasts, and what the lock nodes do.

import {byId, element, setText, showServer} from './dom.js';
import {shortestSilence, Timeline} from './timeline.js';
import {duration, known, plural, roundTrip, seconds} from './words.js';

const calm = matchMedia('(prefers-reduced-motion: reduce)');
const jump = 180;
// The server sends its status every 500 ms.
const longestNews = 1500;
const stateWords = {
    ready: 'ready', connecting: 'connecting', down: 'down', rejected: 'rejected',
    quarantined: 'in quarantine',
};

export class Panel {
    constructor() {
        this.timeline = new Timeline();
        this.bar = byId('lease').firstElementChild;
        const toggle = byId('panel-toggle');
        toggle.addEventListener('click', () => {
            const open = toggle.getAttribute('aria-expanded') !== 'true';
            toggle.setAttribute('aria-expanded', String(open));
            byId('panel').toggleAttribute('data-open', open);
        });
        byId('token').addEventListener('click', () => {
            this.full = !this.full;
            this.#showCoordinator();
        });
        setInterval(() => this.#tick(), 250);
        this.clear();
    }

    clear() {
        this.timeline.clear();
        byId('nodes').replaceChildren();
        this.status = null;
        this.#showCoordinator();
    }

    /** The server's clock, from what it says `now` is. */
    setTime(now) {
        this.offset = now - performance.now();
    }

    show(status) {
        if (status.now !== undefined)  // The store's clock, so not known while that is down.
            this.setTime(status.now);
        const before = this.status;
        this.status = status;
        this.heard = performance.now();
        if (status.store === 'up')
            this.timeline.setHolder(status.coordinator?.fence ?? null, status.now,
                status.now - status.lease?.silent);
        this.#showCoordinator();
        this.#runDown(before?.lease, status.lease);
        this.#showNodes(status.nodes);
        setText(byId('refused'), known(status.refused));
        setText(byId('store'), status.store === 'up' ? 'The message store is up.'
            : 'The message store is down.');
        byId('store').dataset.state = status.store;
        this.#tick();
    }

    /** A new coordinator, or the end of the present one. The next report has the lease. */
    showTerm(term) {
        this.timeline.add(term);
        if (this.status)
            this.status.coordinator = term.until === null ? term : null;
        this.#showCoordinator();
    }

    /** Nothing is known any more: the connection is gone. */
    forget() {
        this.status = null;
        this.#showCoordinator();
        this.#runDown(null, null);
    }

    #showCoordinator() {
        const coordinator = this.status?.coordinator;
        const known = this.status?.store === 'up';
        byId('charge').dataset.state = !coordinator ? 'none'
            : this.#silence() || this.#noNews() ? 'silent' : 'held';
        byId('panel').toggleAttribute('data-stale', !this.status);
        showServer(byId('coordinator'), coordinator?.server ?? (known ? 'nobody' : 'unknown'));
        byId('token').hidden = !coordinator;
        setText(byId('token'), !coordinator ? ''
            : `token ${this.full ? coordinator.fence : `#${coordinator.number}`}`);
    }

    // The bar falls by itself, and jumps up when an extension is known.
    #runDown(before, lease) {
        const share = (left) => `scaleX(${Math.min(1, Math.max(0, left))})`;
        this.animation?.cancel();
        this.bar.style.transform = share(lease ? lease.remaining / lease.ttl : 0);
        if (!lease || calm.matches)
            return;
        const extended = before && lease.extensions !== before.extensions;
        const shown = extended ? before.remaining - 500 : lease.remaining;
        const total = Math.max(lease.remaining, jump + 1);
        this.animation = this.bar.animate([
            {transform: share(shown / lease.ttl), easing: 'ease-out'},
            {transform: share((lease.remaining - jump) / lease.ttl), offset: jump / total},
            {transform: share(0)},
        ], {duration: total, fill: 'forwards'});
    }

    #showNodes(nodes) {
        const ready = nodes.filter(({state}) => state === 'ready').length;
        const quorum = Math.floor(nodes.length / 2) + 1;
        setText(byId('quorum'), `${ready} of ${nodes.length} ready, ${quorum} are a quorum`);
        byId('quorum').dataset.state = ready >= quorum ? 'good' : 'bad';
        const slowest = Math.max(1000, ...nodes.map((node) => node.round_trip_us ?? 0));
        const rows = byId('nodes');
        while (rows.childElementCount > nodes.length)
            rows.lastElementChild.remove();
        nodes.forEach((node, index) => showNode(rows.rows[index] ?? addRow(rows), node, slowest));
    }

    // Between two reports, numbers and bars follow our own clock.
    #tick() {
        const now = performance.now() + (this.offset ?? 0);
        this.#showCoordinator();
        if (this.status?.store === 'up')
            this.timeline.draw(now);
        const {coordinator, lease} = this.status ?? {};
        setText(byId('term'), coordinator ? duration(now - coordinator.since) : '–');
        setText(byId('extensions'), lease ? plural(lease.extensions, 'time') : '–');
        const left = lease ? Math.max(0, lease.remaining - (performance.now() - this.heard)) : 0;
        const meter = byId('lease');
        meter.dataset.level = !lease ? 'none' : left > lease.ttl / 2 ? 'good'
            : left > lease.ttl / 4 ? 'low' : 'bad';
        meter.setAttribute('aria-valuemax', ((lease?.ttl ?? 1000) / 1000).toFixed(1));
        meter.setAttribute('aria-valuenow', (left / 1000).toFixed(1));
        meter.setAttribute('aria-valuetext', lease ? `${seconds(left)} of ${seconds(lease.ttl)}`
            : 'no lease');
        setText(byId('left'), this.#leaseWords(lease, left));
    }

    /** How long the coordinator has given no sign of life, 0 if that means nothing. */
    #silence() {
        const silent = this.status?.lease?.silent ?? 0;
        return silent > shortestSilence ? silent + performance.now() - this.heard : 0;
    }

    /** How long our own server has sent nothing, 0 if that means nothing. */
    #noNews() {
        const silent = this.status ? performance.now() - this.heard : 0;
        return silent > longestNews ? silent : 0;
    }

    #leaseWords(lease, left) {
        if (!this.status)
            return 'Not connected. The rest may be out of date.';
        if (this.status.store === 'down')
            return 'Not known while the message store is down.';
        if (this.#noNews())
            return `No news from our server for ${seconds(this.#noNews())}.`;
        const silence = this.#silence();
        if (silence)
            return `Silent for ${seconds(silence)}. Its lease runs for ${seconds(left)} more.`;
        return lease ? `${seconds(left)} of ${seconds(lease.ttl)} left`
            : 'Nobody. The servers are asking the lock nodes for the lease.';
    }
}

function addRow(rows) {
    const row = element('tr', {}, element('th', {scope: 'row'}),
        element('td', {class: 'state'}), element('td', {class: 'round-trip'},
            element('span', {class: 'number'}), element('span', {class: 'length'}, element('i'))));
    rows.append(row);
    return row;
}

function showNode(row, {name, state, because, round_trip_us: us, votes_in: left}, slowest) {
    const [title, stateCell, trip] = row.cells;
    setText(title, name);
    const rest = left === null ? '' : `, ${duration(left)}`;
    setText(stateCell, `${stateWords[state] ?? state}${rest}`);
    stateCell.title = because;
    row.dataset.state = state;
    setText(trip.firstElementChild, state === 'ready' ? roundTrip(us) : '–');
    const share = state === 'ready' && us ? Math.max(0.04, Math.sqrt(us / slowest)) : 0;
    trip.lastElementChild.firstElementChild.style.transform = `scaleX(${share})`;
}
