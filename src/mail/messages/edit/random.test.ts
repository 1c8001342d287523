import { expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { fc } from '../../../../test/kit/random/random.ts'

interface Step {
  side: 'api' | 'provider'
  kind: 'read' | 'star' | 'move' | 'remove'
  at: number
  to: number
}

const step: fc.Arbitrary<Step> = fc.record({
  side: fc.constantFrom('api', 'provider'),
  kind: fc.constantFrom('read', 'read', 'star', 'move', 'move', 'remove'),
  at: fc.nat(1000),
  to: fc.nat(1000),
})
const scenario = fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { minLength: 1, maxLength: 5 })

const FOLDERS = ['INBOX', 'Work', 'More', 'TRASH']
const RUNS = Number(process.env.POSTHORN_RANDOM_RUNS ?? 4)

describeEachDatabase('random changes from both sides at once', (open) => {
  for (const kind of ['whole', 'folders'] as const) {
    it(
      `end with an equal store, and no version is emitted twice (${kind})`,
      () =>
        fc.assert(
          fc.asyncProperty(scenario, async (rounds) => {
            const { box, service, accountId, same, emitted, ids } = await syncedDouble(kind, open, {
              pollMs: 5,
              before: (mailbox) => mailbox.deliverAll(['a', 'b', 'c', 'd', 'e', 'f']),
            })
            const before = await ids()
            const names = Object.keys(before)
            for (const steps of rounds) {
              await Promise.all(
                steps.map(async ({ side, kind: what, at, to }) => {
                  const name = names[at % names.length] ?? ''
                  const folder = FOLDERS[to % FOLDERS.length] ?? 'INBOX'
                  const isOn = to % 2 === 0
                  if (side === 'provider') {
                    if (what === 'read') box.set(name, { unread: isOn })
                    else if (what === 'star') box.set(name, { starred: isOn })
                    else if (what === 'move') box.set(name, { folders: [folder] })
                    else box.remove(name)
                    return service.wake(accountId)
                  }
                  const id = before[name] ?? ''
                  // The message may have been deleted.
                  if (what === 'remove') return service.changer.remove(accountId, id).catch(() => {})
                  const labelIds = what === 'move' ? [folder] : undefined
                  const set = { ...(what === 'read' && { unread: isOn }), ...(what === 'star' && { starred: isOn }) }
                  await service.changer.changeMany(accountId, [id], { ...set, labelIds }, 'set')
                }),
              )
            }
            await same()
            const versions = await emitted()
            expect(new Set(versions).size).toBe(versions.length)
            await eventually(async () => {
              for (const [name, id] of Object.entries(await ids())) expect(before[name]).toBe(id)
            })
            await service.stop()
          }),
          { numRuns: RUNS, endOnFailure: true },
        ),
      600_000,
    )
  }
})
