import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database.ts'
import { turnsDuring } from '../../../../test/kit/event-loop.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { webhookFixture } from '../../../../test/kit/webhooks.ts'
import { recoverEndpoint } from './recovery.ts'

const EVENTS = 4000
/** Each loop takes at least twenty transactions of some milliseconds. */
const FEW_TURNS = 2

describe('on the file store', () => {
  const open = databases('sqlite')

  async function backlog() {
    const fixture = closing(webhookFixture(await open()))
    const { id } = await fixture.create({ url: 'http://127.0.0.1:9/', isActive: false })
    for (let recorded = 0; recorded < EVENTS; recorded += 200) {
      await fixture.record(...Array.from({ length: 200 }, () => ({})))
    }
    return { fixture, id }
  }

  const unstamped = async ({ db }: ReturnType<typeof webhookFixture>) =>
    (await db.read.selectFrom('events').select('id').where('position', 'is', null).limit(1).execute()).length

  it('timers run while a backlog of events is fanned out', async () => {
    const { fixture } = await backlog()
    const { turns, timers } = await turnsDuring(async () => {
      await fixture.engine.start()
      while ((await unstamped(fixture)) > 0);
    })
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
  })

  it('timers run while events are recovered', async () => {
    const { fixture, id } = await backlog()
    await fixture.engine.start()
    await eventually(async () => expect(await unstamped(fixture)).toBe(0))
    await fixture.engine.stop(0)
    let recovered = 0
    const { turns, timers } = await turnsDuring(async () => {
      recovered = (await recoverEndpoint(fixture, id, { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER })).recovered
    })
    expect(recovered).toBe(EVENTS)
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
  })
})
