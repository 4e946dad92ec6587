// What the page says of time: who is silent, who is in charge, who is there, and what waits.

import assert from 'node:assert/strict';
import {after, before, test} from 'node:test';

import {end, eventually, pause} from './children.js';
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
    await pause(1500);  // No one is there.

    const second = await Member.join(browser, stage.server('s1'), {name: 'Bob', room: 'empty'});
    await second.coordinator();

    const gap = second.page.locator('#terms tr td:last-child').first();
    await gap.getByText(/^0\.\d s/).waitFor();
    await second.page.locator('.gaps [data-kind="empty"]').waitFor({state: 'attached'});
    await second.page.getByText(/Coordinator is now s1.*Nobody was here for/).waitFor();
});

// The last one: the nodes sit out longer than anybody wants to wait.
test('without a quorum the page says so, counts down, and what is said waits', async () => {
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada'});
    const phone = await Member.join(browser, stage.server('s3'),
        {name: 'Grace', viewport: {width: 390, height: 844}});
    await ada.coordinator();
    const lost = stage.nodes.slice(0, 3);
    await Promise.all(lost.map(({child}) => end(child, 'SIGKILL')));

    await ada.notice.getByText('No quorum: 2 of 5 lock nodes vote, 3 must.').waitFor();
    await ada.notice.getByText(/in charge for \d s more/).waitFor();
    await ada.notice.getByText('Nobody is in charge.').waitFor();
    await ada.say('waits');
    await ada.notice.getByText('1 message waiting.').waitFor();
    await phone.page.locator('#left', {hasText: 'Nobody.'}).waitFor();
    await phone.notice.getByText('No quorum').waitFor();

    await Promise.all(lost.map((node) => node.start()));
    await ada.notice.getByText(/A quorum may be back in \d+ s/).waitFor();
    const row = ada.page.getByRole('row', {name: `${lost[0].port} in quarantine, `});
    await row.waitFor();
    const rest = async () => Number(/, (\d+) s/.exec(await row.textContent())[1]);
    const first = await rest();
    assert.ok(first <= 30, `${first} s`);
    await eventually('it counts down', async () => await rest() < first);
});
