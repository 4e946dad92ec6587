// What only a show has: buttons that break things, and a list of what was done and what followed.
// Only the address that the show printed has the secret; nobody else gets in.

import {byId, element, setText} from './dom.js';
import {exactTime} from './words.js';

const pause = 1000;
const mostLines = 100;

export class Controls {
    /** Calls `onReady` once, when the controls let us in, `onChange` with the action that is being
        done, '' if none is, and `onCopy` with the room to show beside, null if none is. */
    constructor(address, {onReady, onChange, onCopy}) {
        Object.assign(this, {address, onReady, onChange, onCopy});
        this.busy = '';
        this.lines = byId('lines');
        byId('copy-toggle').addEventListener('click', () => this.toggleCopy());
        this.#connect();
    }

    do(name) {
        if (this.socket.readyState === WebSocket.OPEN)
            this.socket.send(JSON.stringify({do: name}));
    }

    get hasCopy() {
        return byId('copy-toggle').getAttribute('aria-pressed') === 'true';
    }

    toggleCopy() {
        const open = !this.hasCopy;
        byId('copy-toggle').setAttribute('aria-pressed', String(open));
        this.onCopy(open ? this.copy : null);
    }

    #connect() {
        this.lines.replaceChildren();
        const socket = this.socket = new WebSocket(this.address);
        socket.onmessage = ({data}) => this.#take(JSON.parse(data));
        socket.onclose = () => setTimeout(() => this.#connect(), pause);
    }

    #take(frame) {
        if (frame.type === 'stage')
            this.#showStage(frame);
        else if (frame.type === 'line')
            this.#addLine(frame);
        else if (frame.type === 'error')
            this.#addLine({at: Date.now(), kind: 'effect', text: `Not done: ${frame.text}.`});
    }

    #showStage({actions, busy, processes, copy}) {
        this.copy = copy;
        const box = byId('actions');
        if (box.childElementCount === 0) {
            box.append(...actions.map(({name, label}) => this.#button(name, label)));
            byId('break').hidden = false;
            this.onReady();
        }
        for (const button of box.children)
            button.disabled = busy !== '';
        byId('processes').replaceChildren(...processes.map(({name, pid, state}) =>
            element('li', {'data-state': state}, `${name} `,
                element('span', {}, state === 'ended' ? 'ended' : `${pid}, ${state}`))));
        if (this.busy !== busy) {
            this.busy = busy;
            this.onChange(busy);
        }
    }

    #button(name, label) {
        const button = element('button', {type: 'button', class: 'quiet'}, label);
        button.addEventListener('click', () => this.do(name));
        return button;
    }

    #addLine({at, kind, text}) {
        this.lines.prepend(element('li', {'data-kind': kind},
            element('time', {datetime: new Date(at).toISOString()}, exactTime(at)), ' ', text));
        while (this.lines.childElementCount > mostLines)
            this.lines.lastElementChild.remove();
        setText(byId('latest'), text);
    }
}
