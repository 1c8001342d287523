import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database.ts'
import { turnsDuring } from '../../../../test/kit/event-loop.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { webhookHouse } from '../../../../test/kit/webhooks.ts'
import { recoverEndpoint } from './recovery.ts'

const EVENTS = 4000
/** Each loop takes at least twenty transactions of some milliseconds. */
const FEW_TURNS = 2

describe('on the file store', () => {
  const open = databases('sqlite')

  async function backlog() {
    const house = closing(webhookHouse(await open()))
    const { id } = await house.create({ url: 'http://127.0.0.1:9/', isActive: false })
    for (let recorded = 0; recorded < EVENTS; recorded += 200) {
      await house.record(...Array.from({ length: 200 }, () => ({})))
    }
    return { house, id }
  }

  const unstamped = async ({ db }: ReturnType<typeof webhookHouse>) =>
    (await db.read.selectFrom('events').select('id').where('position', 'is', null).limit(1).execute()).length

  it('timers run while a backlog of events is fanned out', async () => {
    const { house } = await backlog()
    const { turns, timers } = await turnsDuring(async () => {
      await house.engine.start()
      while ((await unstamped(house)) > 0);
    })
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
  })

  it('timers run while events are recovered', async () => {
    const { house, id } = await backlog()
    await house.engine.start()
    await eventually(async () => expect(await unstamped(house)).toBe(0))
    await house.engine.stop(0)
    let recovered = 0
    const { turns, timers } = await turnsDuring(async () => {
      recovered = (await recoverEndpoint(house, id, { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER })).recovered
    })
    expect(recovered).toBe(EVENTS)
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
  })
})
