// The page: outside there is a form, inside a room. This file goes from one to the other.

import {showPlace, showUnread} from './bar.js';
import {focusComposer, openComposer, setComposer} from './composer.js';
import {byId} from './dom.js';
import {focusDoor, hideDoor, openDoor, showDoor} from './door.js';
import {Log} from './log.js';
import {recall, remember} from './memory.js';
import {Panel} from './panel.js';
import {whyNotName, whyNotRoom} from './rules.js';
import {Visit} from './visit.js';

let visit = null;

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
        onInside: () => goInside(name, room),
        onWaiting: (state) => showDoor({state, bad: true, busy: true}),
        onRefused: (why) => goOutside({state: `Not let in: ${why}.`, bad: true}),
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

function goOutside(door) {
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

// The address may name a room: /#lobby.
function remembered() {
    const {name = '', room = 'lobby'} = recall('visit') ?? {};
    return {name, room: location.hash.slice(1) || room};
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
