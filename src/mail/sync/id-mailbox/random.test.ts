import { expect, it } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import type { MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncedDouble } from '../../../../test/kit/mailbox/synced-double.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { ProviderError } from '../../../providers/contract/index.ts'

interface Step {
  kind: 'deliver' | 'flag' | 'move' | 'label' | 'remove' | 'expire' | 'fail'
  at: number
  to: number
  /** 0: before the sync. Otherwise: before the request of this number during the sync. */
  when: number
}

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('deliver', 'deliver', 'flag', 'move', 'move', 'label', 'remove', 'expire', 'fail'),
  at: fc.nat(1000),
  to: fc.nat(1000),
  when: fc.nat(12),
})
const scenario = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 })

/** Folders in which arriving mail is announced as received. */
const PLACES = ['INBOX', 'Work', 'More']
const RUNS = Number(process.env.POSTHORN_RANDOM_RUNS ?? 12)

describeOneDatabase('random changes at a provider that assigns message ids', 'sqlite', (open) => {
  for (const kind of ['whole', 'folders'] as const) {
    it(
      `end with an equal store, and each new message is announced once (${kind})`,
      () =>
        fc.assert(
          fc.asyncProperty(scenario, async (rounds) => {
            const old = ['old-0', 'old-1', 'old-2', 'old-3', 'old-4']
            const { box, service, sync, same, received, emitted, ids } = await syncedDouble(kind, open, {
              before: (mailbox) => mailbox.deliverAll(old, (n) => ({ receivedAt: 1_000_000 + n })),
            })
            const before = await ids()
            const came: string[] = []
            for (const steps of rounds) {
              // Changes only messages that were synced before: a message deleted before its first sync is never announced.
              const touchable = Object.keys(box.state.messages)
              const acts = steps.map((step) => ({ ...step, act: chooseAct(box, kind, step, touchable, came) }))
              for (const { when, act } of acts) if (when === 0) act()
              for (let when = 1; when <= 12; when += 1) {
                const now = acts.filter((act) => act.when === when)
                box.script.push(() => {
                  for (const { act } of now) act()
                })
              }
              // A sync may miss changes made while it runs; the next one finds them.
              await eventually(async () => {
                await sync()
                expect(box.script).toEqual([])
              })
              await same()
              await received(...came)
            }
            const after = await ids()
            const left = Object.keys(before).filter((id) => after[id] !== undefined)
            expect(left.map((id) => after[id])).toEqual(left.map((id) => before[id]))
            const versions = await emitted()
            expect(new Set(versions).size).toBe(versions.length)
            await service.stop()
          }),
          { numRuns: RUNS, endOnFailure: true },
        ),
      600_000,
    )
  }
})

function chooseAct(
  box: MailboxDouble,
  kind: 'whole' | 'folders',
  { kind: what, at, to }: Step,
  touchable: readonly string[],
  came: string[],
): () => void {
  const id = touchable[at % Math.max(touchable.length, 1)] ?? ''
  const place = PLACES[to % PLACES.length] ?? 'INBOX'
  switch (what) {
    case 'deliver':
      return () => {
        const fresh = `new-${came.length}`
        came.push(fresh)
        box.deliver(fresh, { folders: [place] })
      }
    case 'flag':
      return () => box.set(id, to % 2 === 0 ? { unread: to % 4 === 0 } : { starred: to % 4 === 1 })
    case 'move':
      return () => box.set(id, { folders: [to % 5 === 0 ? 'TRASH' : place] })
    case 'label':
      return () => box.set(id, { folders: kind === 'whole' ? PLACES.slice(0, to % 4) : [place] })
    case 'remove':
      return () => box.remove(id)
    case 'expire':
      return () => box.expireCursors()
    case 'fail':
      return () => box.failures.push(new ProviderError('unavailable', 'temporary failure'))
  }
}
