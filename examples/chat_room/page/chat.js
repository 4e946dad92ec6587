// The page: outside there is a form, inside a room. This file goes from one to the other.

import {showPlace, showUnread} from './bar.js';
import {focusComposer, openComposer, setComposer} from './composer.js';
import {Controls} from './controls.js';
import {Copy} from './copy.js';
import {byId} from './dom.js';
import {focusDoor, hideDoor, openDoor, showDoor} from './door.js';
import {Guide} from './guide.js';
import {Log} from './log.js';
import {recall, remember} from './memory.js';
import {Panel} from './panel.js';
import {whyNotName, whyNotRoom} from './rules.js';
import {Visit} from './visit.js';

let visit = null;
let controls = null;
let guide = null;
let copy = null;

const panel = new Panel();
const log = new Log({
    wrote: (id) => visit.outbox.wrote(id),
    onOlder: () => visit.askForOlder(),
    onUnread: showUnread,
    onEdit: (id) => {
        setComposer(visit.takeBack(id));
        focusComposer();
    },
    onDiscard: (id) => {
        visit.takeBack(id);
        focusComposer();
    },
});

function join(name, room) {
    showDoor({name, room, state: 'Joining.', busy: true});
    visit = new Visit(name, room, {
        log, panel,
        onHello: (hello) => openControls(hello.controls),
        onInside: () => goInside(name, room),
        onWaiting: (state) => showDoor({state, bad: true, busy: true}),
        onRefused: (why) => goOutside({state: `You could not join: ${why}.`, bad: true}),
    });
}

function goInside(name, room) {
    // The tab remembers it over a reload; another tab can be another person.
    remember('visit', {name, room});
    history.replaceState(null, '', `#${room}`);
    hideDoor();
    showPlace(room);
    byId('inside').hidden = false;
    setComposer(recall('draft') ?? '');
    focusComposer();
}

// Only a show has controls, and only its printed address has the secret.
function openControls(address) {
    const secret = recall('secret');
    if (!address || !secret || controls)
        return;
    controls = new Controls(`${address}/${secret}`, {
        onReady: () => {
            guide = new Guide(controls);
        },
        onChange: (busy) => guide.changed(busy),
        onCopy: (room) => {
            copy?.leave();
            copy = room && new Copy(room, visit.name, visit.connection.urls);
        },
    });
}

function goOutside(door) {
    if (controls?.hasCopy)
        controls.toggleCopy();
    visit?.leave();
    visit = null;
    panel.clear();
    log.clear();
    remember('visit', null);
    showPlace('');
    byId('inside').hidden = true;
    setComposer('');
    showDoor(door);
    focusDoor();
}

// The address may name a room: /#lobby. That of a show also has its secret: /#lobby!0123.
function remembered() {
    const {name = '', room = 'lobby'} = recall('visit') ?? {};
    const [named, secret] = location.hash.slice(1).split('!');
    if (secret) {
        remember('secret', secret);
        history.replaceState(null, '', `#${named}`);
    }
    return {name, room: named || room};
}

openDoor(join);
openComposer((text) => visit.say(text));
byId('leave').addEventListener('click', () => goOutside());
byId('cancel').addEventListener('click', () => goOutside());
window.addEventListener('hashchange', () => location.reload());
byId('retry').addEventListener('click', () => visit.tryNow());

const {name, room} = remembered();
if (name && !whyNotName(name) && !whyNotRoom(room)) {
    join(name, room);
} else {
    showDoor({name, room});
    focusDoor();
}
