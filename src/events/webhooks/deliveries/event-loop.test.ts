import { describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { turnsDuring } from '../../../../test/kit/measure/event-loop.ts'
import { recoverEndpoint } from './recovery.ts'

const EVENTS = 4000
/** Each loop takes at least twenty transactions of some milliseconds. */
const FEW_TURNS = 2
const ALL = { sinceMs: 0, untilMs: Number.MAX_SAFE_INTEGER }

describe('on the file store', () => {
  const open = databases('sqlite')

  async function backlog() {
    const fixture = closing(webhookFixture(await open()))
    const { id } = await fixture.create({ url: 'http://127.0.0.1:9/', isActive: false })
    for (let recorded = 0; recorded < EVENTS; recorded += 200) {
      await fixture.record(...Array.from({ length: 200 }, () => ({ accountId: 'acc_a' })))
    }
    return { fixture, id }
  }

  /** Deletes the account as `accounts` does. Its data is erased later. */
  const deleteAccount = ({ db }: ReturnType<typeof webhookFixture>) =>
    db.transaction((tx) => tx.insertInto('accountErasures').values({ accountId: 'acc_a', requestedAt: 1 }).execute())

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

  it('timers run while the events of a deleted account are withheld', async () => {
    const { fixture } = await backlog()
    await deleteAccount(fixture)
    const { turns, timers } = await turnsDuring(async () => {
      await fixture.engine.start()
      while ((await unstamped(fixture)) > 0);
    })
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
    expect(await fixture.deliveries()).toEqual([])
    const withheld = fixture.db.read.selectFrom('events').select('id').where('fanOut', '=', -1)
    expect(await withheld.execute()).toHaveLength(EVENTS)
  })

  it('timers run while the deliveries of a deleted account are cancelled', async () => {
    const { fixture, id } = await backlog()
    await fixture.engine.start()
    await eventually(async () => expect(await unstamped(fixture)).toBe(0))
    // An inactive endpoint gets deliveries only by recovery, and nothing sends them.
    await recoverEndpoint(fixture, id, ALL)
    await deleteAccount(fixture)
    const states = () =>
      fixture.db.read.selectFrom('webhookDeliveries').select(['status', 'attempt']).distinct().execute()
    const { turns, timers } = await turnsDuring(async () => {
      await fixture.endpoints.update(id, { isActive: true })
      await eventually(async () => expect(await states()).toEqual([{ status: 'cancelled', attempt: 0 }]))
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
      recovered = (await recoverEndpoint(fixture, id, ALL)).recovered
    })
    expect(recovered).toBe(EVENTS)
    expect(Math.min(turns, timers)).toBeGreaterThan(FEW_TURNS)
  })
})
