// The room without the fence, beside the other one. It only gets what the room gets. What is there
// twice is marked.

import {Connection} from './connection.js';
import {byId, element, setText} from './dom.js';
import {coordinatorOf} from './log.js';
import {plural} from './words.js';

const mostLines = 300;

export class Copy {
    constructor(room, name, urls) {
        this.list = byId('copy-messages');
        this.#clear();
        byId('copy').hidden = false;
        this.connection = new Connection(urls[0], {
            onOpen: () => this.connection.send({
                type: 'join', room, name,
                ...(this.last > 0 ? {after: this.last, began: this.began} : {tail: 100}),
            }),
            onFrame: (frame) => this.#take(frame),
            onChange: () => {},
        });
        this.connection.alsoTry(urls);
    }

    leave() {
        this.connection.close();
        byId('copy').hidden = true;
    }

    #clear() {
        this.last = 0;
        this.lines = new Map();
        this.doubled = 0;
        this.list.replaceChildren();
        this.#count();
    }

    #take(frame) {
        if (frame.type === 'welcome') {
            this.connection.settled();
            if (frame.began !== (this.began ?? frame.began))
                this.#clear();
            this.began = frame.began;
        }
        if (frame.type === 'message' && frame.seq > this.last)
            this.#add(frame);
    }

    #add({seq, id, name, text, term, server}) {
        this.last = seq;
        const twice = this.lines.has(id);
        const line = element('li', {class: twice ? 'doubled' : '', 'data-id': id},
            element('span', {class: 'seq'}, String(seq)), ' ',
            element('strong', {dir: 'auto'}, name), ' ',
            element('span', {class: 'said', dir: 'auto'}, text));
        coordinatorOf(line, server, term);
        if (twice) {
            ++this.doubled;
            this.lines.get(id).classList.add('doubled');
            line.append(element('p', {class: 'damage'},
                `Doubled: ${server} wrote it late, with token #${term}. Nothing checked it.`));
            this.#count();
        }
        this.lines.set(id, line);
        const below = this.list.scrollHeight - this.list.scrollTop - this.list.clientHeight;
        this.list.append(line);
        while (this.list.childElementCount > mostLines)
            this.#dropFirst();
        if (below < 48)
            this.list.scrollTop = this.list.scrollHeight;
    }

    #dropFirst() {
        const {dataset} = this.list.firstElementChild;
        if (this.lines.get(dataset.id) === this.list.firstElementChild)
            this.lines.delete(dataset.id);
        this.list.firstElementChild.remove();
    }

    #count() {
        setText(byId('copy-count'),
            this.doubled > 0 ? `${plural(this.doubled, 'line')} doubled` : 'no damage yet');
        byId('copy-count').dataset.state = this.doubled > 0 ? 'bad' : '';
    }
}
