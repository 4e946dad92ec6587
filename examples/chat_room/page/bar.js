// What stands above everything: the room, the connection, and a notice while something is wrong.

import {byId, setText} from './dom.js';
import {known, plural} from './words.js';

const place = document.title;
let room = '';
let unread = 0;

export function showPlace(name) {
    room = name;
    byId('place').hidden = byId('leave').hidden = !name;
    setText(byId('room-title'), name);
    showUnread(0);
}

export function showMembers(count) {
    setText(byId('members'), plural(known(count), 'member'));
}

/** Unread messages are counted in the tab's title. */
export function showUnread(count) {
    unread = count;
    const title = room ? `${room} · ${place}` : place;
    document.title = unread > 0 ? `(${unread}) ${title}` : title;
}

/** States: off, connecting, open, lost. */
export function showConnection(state, text) {
    byId('connection').dataset.state = state;
    setText(byId('connection'), text);
}

/** Kinds: warn, bad. `more` may change every second, so it is not read out. */
export function showNotice({kind, text, more = '', retry = false}) {
    byId('notice').hidden = false;
    byId('notice').dataset.kind = kind;
    setText(byId('notice-text'), text);
    setText(byId('notice-more'), more);
    byId('retry').hidden = !retry;
}

export function hideNotice() {
    byId('notice').hidden = true;
    setText(byId('notice-text'), '');
}
