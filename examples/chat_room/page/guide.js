// The first minute of a show: five things to do, one after the other.

import {byId, setText} from './dom.js';
import {recall, remember} from './memory.js';

const steps = [
    {
        text: 'Freeze the coordinator. Watch the bar.', button: 'Freeze', action: 'freeze',
        after: 'It was silent, its lease ran out, and another server took over.',
    },
    {
        text: 'Kill it. Watch who takes over, and how long messages wait.', button: 'Kill',
        action: 'kill',
        after: 'Messages waited in the inbox. None was lost, and the dead server comes back.',
    },
    {
        text: 'Open the same room without the fence, beside this one.', button: 'Open',
        after: 'It gets the same messages from the same coordinator. Nothing checks its writes.',
    },
    {
        text: 'Freeze the coordinator just before its write. Watch both rooms.', button: 'Freeze',
        action: 'freeze-before-write',
        after: 'Here the late write was refused. In the other room a line is doubled.',
    },
    {
        text: 'Cut off three of five lock nodes. Nobody may act without a quorum.', button: 'Cut',
        action: 'cut-3',
        after: 'Messages waited, and appeared once a quorum was back.',
    },
];

export class Guide {
    constructor(controls) {
        this.controls = controls;
        this.at = Math.min(recall('step') ?? 0, steps.length);
        this.begun = false;
        byId('guide').hidden = false;
        byId('guide-do').onclick = () => this.#do();
        byId('guide-skip').onclick = () => this.#finish('');
        this.#show('');
    }

    /** An action has begun, or is over: ''. */
    changed(busy) {
        const step = steps[this.at];
        if (step?.action && busy === step.action)
            this.begun = true;
        else if (this.begun && busy === '')
            this.#next();
        byId('guide-do').disabled = busy !== '';
    }

    #do() {
        const {action} = steps[this.at];
        if (action)
            return this.controls.do(action);
        if (!this.controls.hasCopy)
            this.controls.toggleCopy();
        this.#next();
    }

    #next() {
        this.begun = false;
        this.#show(steps[this.at++].after);
        remember('step', this.at);
    }

    #finish(after) {
        this.at = steps.length;
        remember('step', this.at);
        this.#show(after);
    }

    #show(after) {
        setText(byId('guide-after'), after);
        const step = steps[this.at];
        setText(byId('guide-text'), step ? `${this.at + 1}. ${step.text}`
            : 'A lock says who should act. Only the fence stops a server that acts late.');
        setText(byId('guide-do'), step?.button ?? '');
        byId('guide-do').hidden = byId('guide-skip').hidden = !step;
        byId('guide').dataset.done = String(!step);
    }
}
