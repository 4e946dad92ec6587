// Pictures of the page for examples/chat_room/README.md: a short story in one room, with a
// coordinator killed.
//
//   node screenshots.js FOLDER      see scripts/chat_screenshots.sh

import {join} from 'node:path';

import {eventually, pause} from './children.js';
import {Member, openBrowser} from './member.js';
import {Stage} from './stage.js';

const folder = process.argv[2];
const room = 'harbour';
const desktop = {viewport: {width: 1280, height: 800}};
const phone = {viewport: {width: 390, height: 844}, hasTouch: true};

const [browser, stage] = await Promise.all([openBrowser(), Stage.open()]);
try {
    await play();
} finally {
    await browser.close();
    await stage.close();
}

async function play() {
    const member = (name, place, look) =>
        Member.join(browser, stage.server(place), {name, room, ...look});
    const ada = await member('Ada', 's1', {...desktop, colorScheme: 'light'});
    const grace = await member('Grace', 's2', {...desktop, colorScheme: 'dark'});
    const edsger = await member('Edsger', 's3', {...phone, colorScheme: 'light'});
    const all = [ada, grace, edsger];
    const say = async (who, text) => {
        await who.say(text);
        await Promise.all(all.map((one) => one.sees(text)));
    };

    await say(ada, 'Morning! Is the pilot of the Aurora on board already?');
    await say(grace, 'Since 06:10. We wait for the tide, another twenty minutes.');
    await say(grace, 'Berth 4 is free, by the way.');
    await pause(6000);
    await say(edsger, 'The crane at berth 4 has a red light. Somebody should look at it before we '
        + 'tie up there: last week it was the brake, and that took half a day.');
    await killCoordinator(all, async (witness) => {
        await witness.page.locator('#lease[data-level="low"]').waitFor();
        await witness.say('I will ask. The room has lost its coordinator, I see.');
        await witness.page.locator('#lease[data-level="bad"]').waitFor();
        await picture(witness, 'take-over');
    });
    await say(grace, 'It noticed. We go on where we were.');
    await pause(5000);
    await killCoordinator(all);
    await pause(4000);
    await say(ada, 'Crane is fine: a lamp, not the brake.');
    await say(edsger, 'Berth 4 it is, then. Thank you!');
    await pause(2500);

    await picture(ada, 'desktop');
    await picture(edsger, 'phone');
    await edsger.page.getByRole('button', {name: 'Details'}).tap();
    await edsger.page.getByRole('table', {name: 'Lock nodes'}).waitFor();
    await pause(500);
    await picture(edsger, 'phone-details');
}

/** Kills the coordinator and starts it anew. `meanwhile` gets one whose server lives. */
async function killCoordinator(members, meanwhile = () => {}) {
    const server = stage.server(await members[0].coordinator());
    const witness = members.find(({page}) => !page.url().startsWith(server.url)
        && page.viewportSize().width > 1000);
    const {length: before} = await witness.takeOvers();
    server.kill('SIGKILL');
    await meanwhile(witness);
    await eventually('another coordinator',
        async () => (await witness.takeOvers()).length > before);
    await server.restart();
    await Promise.all(members.map((member) => member.connected()));
}

async function picture({page}, name) {
    await page.screenshot({path: join(folder, `chat-room-${name}.png`)});
}
