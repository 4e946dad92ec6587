// The field in which messages are written. Enter sends, Shift and Enter begins a new line.

import {byId, setText} from './dom.js';
import {remember} from './memory.js';
import {clean, length, limits} from './rules.js';

const form = byId('composer');
const field = byId('text');
const hint = byId('text-hint');

export function openComposer(say) {
    form.addEventListener('submit', (event) => {
        event.preventDefault();
        const text = clean(field.value);
        if (!text || !check())
            return field.focus();
        say(text);
        setComposer('');
    });
    field.addEventListener('keydown', (event) => {
        // Enter may also choose a character of an input method.
        if (event.key === 'Enter' && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            form.requestSubmit();
        }
    });
    field.addEventListener('input', () => {
        remember('draft', field.value);
        check();
    });
}

export function setComposer(text) {
    field.value = text;
    remember('draft', text);
    check();
}

export function focusComposer() {
    field.focus();
}

/** Shows the limit when it is near. */
function check() {
    const used = length(clean(field.value));
    const over = used - limits.text;
    setText(hint, over > 0 ? `${over} of ${used} characters too many, the limit is ${limits.text}.`
        : used > limits.text * 0.8 ? `${-over} characters left.` : '');
    hint.dataset.state = over > 0 ? 'bad' : '';
    field.setAttribute('aria-invalid', String(over > 0));
    field.style.height = 'auto';
    field.style.height = `${field.scrollHeight}px`;
    return over <= 0;
}
