// What the page says of time: who is silent, who is in charge, who is there, and what waits.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {eventually, pause} from './children.js';
import {Member, openBrowser} from './member.js';
import {Stage, ttl} from './stage.js';

let browser;
let stage;

before(async () => {
    [browser, stage] = await Promise.all([openBrowser(), Stage.open()]);
});

after(async () => {
    await browser?.close();
    await stage?.close();
});

const secondsIn = (text) => Number(/(\d+\.\d) s/.exec(text)?.[1] ?? 0);

test('a dead coordinator is shown silent, and its take-over is timed from its last sign',
    async () => {
        const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada', room: 'silence'});
        const grace = await Member.join(browser, stage.server('s2'),
            {name: 'Grace', room: 'silence'});
        const dead = stage.server(await ada.coordinator());
        const witness = dead.name === 's1' ? grace : ada;
        const {length: before} = await witness.takeOvers();

        dead.kill('SIGKILL');
        await witness.say('waits');
        await witness.page.locator('#charge[data-state="silent"]').waitFor();
        await witness.page.getByText(/^Silent for \d\.\d s\. Its lease runs for/).waitFor();
        await eventually('a take-over', async () => (await witness.takeOvers()).length > before);

        const note = (await witness.takeOvers()).at(-1);
        assert.match(note, new RegExp(`\\d\\.\\d s after the last sign of ${dead.name}`));
        assert.ok(secondsIn(note) >= ttl / 2000 && secondsIn(note) <= ttl / 1000 + 1, note);
        const gap = await witness.page.locator('#terms tr td:last-child').first().textContent();
        assert.equal(secondsIn(gap), secondsIn(note));
        await witness.sees('waits');
        const waited = await witness.messages.locator('.waited').textContent();
        assert.match(waited, /^waited \d\.\d s$/);
        await dead.restart();
    });

test('a room that was empty had no outage', async () => {
    const first = await Member.join(browser, stage.server('s1'), {name: 'Ada', room: 'empty'});
    await first.coordinator();
    await first.close();
    const rooms = () => stage.server('s1').count('chat_coordinated_rooms');
    await eventually('the room is closed', async () => await rooms() === 0);
    await pause(1500);  // Nobody is there.

    const second = await Member.join(browser, stage.server('s1'), {name: 'Bob', room: 'empty'});
    await second.coordinator();

    const gap = second.page.locator('#terms tr td:last-child').first();
    await gap.getByText(/^0\.\d s/).waitFor();
    await second.page.locator('.gaps [data-kind="empty"]').waitFor({state: 'attached'});
    await second.page.getByText(/Coordinator is now s1.*Nobody was here for/).waitFor();
});
