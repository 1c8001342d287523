import { once } from 'node:events'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { describeOneDatabase, type Place } from '../../../../test/kit/database/database.ts'
import { webhookFixture } from '../../../../test/kit/events/webhooks.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { random } from '../../../../test/kit/random/random.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'
import { startReceiver } from '../../../../test/servers/receiver.ts'

const ROUNDS = 6
const LEASE_MS = 2000

describeOneDatabase('a process killed repeatedly while it records and delivers events', 'sqlite', (open) => {
  /** Runs a worker for a random time, then kills it. */
  async function workAndDie(place: Place, chance: () => number): Promise<void> {
    const child = startWorker('webhook-worker', [JSON.stringify(place), String(LEASE_MS)])
    await once(child.stdout, 'data')
    await new Promise((resolve) => setTimeout(resolve, 20 + chance() * 300))
    child.kill('SIGKILL')
    await once(child, 'exit')
  }

  it('loses no event and repeats deliveries only under the same ids', async () => {
    const chance = random()
    const place = await open.place()
    const db = await open(place)
    const receiver = closing(await startReceiver())
    receiver.always(() => (chance() < 0.1 ? { status: 500 } : { delayMs: chance() * 10 }))
    const fixture = closing(webhookFixture(db, { leaseMs: LEASE_MS }))
    const { secret = '' } = await fixture.create({ url: receiver.url, retryDelayMs: 10, retryCount: 20 })
    for (let round = 0; round < ROUNDS; round += 1) await workAndDie(place, chance)

    await fixture.queue.releaseInstance('worker')
    await fixture.engine.start()
    await eventually(async () => {
      const open = db.read.selectFrom('webhookDeliveries').select('id').where('nextAttemptAt', 'is not', null)
      const unseen = db.read.selectFrom('events').select('id').where('position', 'is', null)
      expect([...(await open.execute()), ...(await unseen.execute())]).toEqual([])
    })

    const events = await db.read.selectFrom('events').select('id').execute()
    const bodies = new Map<string, Set<string>>()
    for (const { headers, body } of receiver.requests) {
      const id = String(headers['webhook-id'])
      bodies.set(id, (bodies.get(id) ?? new Set()).add(body))
    }
    expect(events.length).toBeGreaterThan(ROUNDS)
    expect([...bodies.keys()].sort()).toEqual(events.map((event) => event.id).sort())
    expect([...bodies.values()].filter((each) => each.size > 1)).toEqual([])
    receiver.verify(secret)
  })
})
