// The form for those who are outside.

import {byId, setText} from './dom.js';
import {limits, whyNotName, whyNotRoom} from './rules.js';

const fields = [
    {
        input: byId('name'), hint: byId('name-hint'), whyNot: whyNotName,
        advice: () => `Up to ${limits.name} characters.`,
    },
    {
        input: byId('room'), hint: byId('room-hint'), whyNot: whyNotRoom,
        advice: () => `Up to ${limits.room} lowercase letters, digits and hyphens.`,
    },
];

/** Calls `join` with a name and a room that the server should take. */
export function openDoor(join) {
    for (const field of fields)
        field.input.addEventListener('input', () => advise(field));
    byId('join').addEventListener('submit', (event) => {
        event.preventDefault();
        const wrong = fields.filter((field) => !check(field));
        if (wrong.length > 0)
            wrong[0].input.focus();
        else
            join(...fields.map(({input}) => input.value.trim()));
    });
}

/** Shows the form. `state` says what happened, `busy` that we are being let in. */
export function showDoor({name, room, state = '', bad = false, busy = false} = {}) {
    byId('door').hidden = false;
    fields[0].input.value = name ?? fields[0].input.value;
    fields[1].input.value = room ?? fields[1].input.value;
    fields.forEach(advise);
    setText(byId('join-state'), state);
    byId('join-state').dataset.state = bad ? 'bad' : '';
    byId('join').setAttribute('aria-busy', String(busy));
    byId('cancel').hidden = !busy;
    for (const {input} of fields)
        input.readOnly = busy;
}

export function hideDoor() {
    byId('door').hidden = true;
}

export function focusDoor() {
    (fields.find(({input}) => !input.value) ?? fields[0]).input.focus();
}

function check(field) {
    const why = field.whyNot(field.input.value.trim());
    show(field, why || field.advice(), why !== '');
    return !why;
}

// An error goes away while someone types; a new one waits for the button.
function advise(field) {
    show(field, field.advice(), false);
}

function show({input, hint}, text, bad) {
    setText(hint, text);
    hint.dataset.state = bad ? 'bad' : '';
    input.setAttribute('aria-invalid', String(bad));
}
