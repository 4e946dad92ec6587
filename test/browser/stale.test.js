// A coordinator that stands still between its last look at the lease and its append. No look at a
// clock can help there: the store must refuse the append by its fencing token.

import assert from 'node:assert/strict';
import {existsSync, readFileSync, writeFileSync} from 'node:fs';
import {after, before, test} from 'node:test';

import {eventually} from './children.js';
import {Member, openBrowser} from './member.js';
import {Stage} from './stage.js';

let browser;
let stage;

before(async () => {
    [browser, stage] = await Promise.all([openBrowser(), Stage.open()]);
});

after(async () => {
    await browser?.close();
    await stage?.close();
});

// The third field of /proc/PID/stat, behind a name that may have blanks.
const isStopped = ({pid}) =>
    readFileSync(`/proc/${pid}/stat`, 'latin1').split(') ').at(-1)[0] === 'T';

test('an append that was held up for longer than the lease is refused by its token', async () => {
    const ada = await Member.join(browser, stage.server('s1'), {name: 'Ada'});
    const grace = await Member.join(browser, stage.server('s2'), {name: 'Grace'});
    await ada.say('before');
    await Promise.all([ada.sees('before'), grace.sees('before')]);
    const stale = stage.server(await ada.coordinator());
    const [hit, witness] = stale.name === 's1' ? [ada, grace] : [grace, ada];
    const {length: before} = await witness.takeOvers();
    assert.equal(await stage.refused(), 0);

    writeFileSync(stale.stallFile, '');
    await witness.say('while it stands still');
    await eventually('it stops before the append', () => isStopped(stale.child));
    assert.ok(!existsSync(stale.stallFile));
    await eventually('another coordinator',
        async () => (await witness.takeOvers()).length > before);
    await witness.sees('while it stands still');
    stale.kill('SIGCONT');

    await hit.connected();
    await eventually('the refusal', async () => await stage.refused() > 0);
    await witness.say('after');
    for (const member of [ada, grace]) {
        await member.sees('after');
        assert.deepEqual((await member.shown()).map(({seq, text}) => `${seq} ${text}`),
            ['1 before', '2 while it stands still', '3 after']);
    }
    assert.equal(await stale.count('chat_stale_writes_refused_total'), 1);
    assert.equal(await stage.refused(), 1, 'as many as were planted');
    await witness.page.locator('#refused', {hasText: /^1$/}).waitFor();
    console.log('stale writes refused: 1, as planted');
});
