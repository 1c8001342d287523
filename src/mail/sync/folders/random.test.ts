import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database/database.ts'
import { type Mailbox, syncedMailbox } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { fc } from '../../../../test/kit/random/random.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'

/** Expected location of every message, from which the next steps are chosen. */
interface World {
  box: Mailbox
  folders: string[]
  messages: { id: string; folder: string }[]
  /** Announced once each. */
  delivered: string[]
  made: number
  /** Folders of this round. None is both: an empty renamed folder is recognised by its UIDVALIDITY, which a server keeps when it renames. */
  renamed: Set<string>
  /** The new UIDVALIDITY of folders by path. */
  renumbered: Map<string, number>
}

type Step = { kind: 'deliver' | 'flag' | 'move' | 'copy' | 'expunge' | 'rename' | 'renumber'; at: number; to: number }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('deliver', 'deliver', 'flag', 'move', 'move', 'copy', 'expunge', 'rename', 'renumber'),
  at: fc.nat(1000),
  to: fc.nat(1000),
})
/** No sync happens between the steps of a round. A message delivered in a round is changed only in later rounds. */
const scenario = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })

const RUNS = Number(process.env.POSTHORN_RANDOM_RUNS ?? 4)

describe.skipIf(!dovecotAvailable())('random mailbox changes', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('end in sync', (open) => {
    it(
      'stores what the server has, and announces every delivered message once',
      () =>
        fc.assert(
          fc.asyncProperty(scenario, async (rounds) => {
            const { box, service, accountId, same, received, ids, listed } = await syncedMailbox(server, open, {
              settings: { folders: ['Work', 'More'] },
              timing: { pollMs: 150 },
              before: async (box) => {
                await box.create('Work')
                await box.create('More')
                await box.deliver('old-1', 'old-2')
              },
            })
            const world: World = {
              box,
              folders: ['INBOX', 'Work', 'More'],
              messages: ['old-1', 'old-2'].map((id) => ({ id, folder: 'INBOX' })),
              delivered: [],
              made: 0,
              renamed: new Set(),
              renumbered: new Map(),
            }
            for (const steps of rounds) {
              const before = world.messages.slice()
              world.renamed.clear()
              world.renumbered.clear()
              for (const step of steps) await play(world, step, before)
              await service.wake(accountId)
              await same(['INBOX', ...world.folders.slice(1)])
              await received(...world.delivered)
              // Nothing else shows when sync has seen the new UIDVALIDITY of an empty folder.
              await listed(world.renumbered)
            }
            const stored = Object.values(await ids()).flat().length
            expect(stored).toBe(world.messages.length)
            await service.stop()
          }),
          { numRuns: RUNS, endOnFailure: true },
        ),
      600_000,
    )
  })
})

async function play(world: World, { kind, at, to }: Step, before: readonly World['messages'][number][]): Promise<void> {
  const { box } = world
  if (kind === 'deliver') {
    const id = `new-${world.made++}`
    await box.deliver(id)
    world.messages.push({ id, folder: 'INBOX' })
    world.delivered.push(id)
    return
  }
  if (kind === 'rename') {
    const index = 1 + (at % (world.folders.length - 1))
    const from = world.folders[index] ?? ''
    const next = `Folder${world.made++}`
    if (world.renumbered.has(from)) return
    await box.rename(from, next)
    world.folders[index] = next
    world.renamed.add(next)
    for (const mail of world.messages) if (mail.folder === from) mail.folder = next
    return
  }
  if (kind === 'renumber') {
    const folder = world.folders[at % world.folders.length] ?? ''
    if (world.renamed.has(folder)) return
    const uidValidity = 2_000_000_000 + world.made++
    await box.renumber(folder, uidValidity)
    world.renumbered.set(folder, uidValidity)
    return
  }
  const mail = before[at % Math.max(before.length, 1)]
  const target = world.folders[to % world.folders.length] ?? ''
  if (mail === undefined || !world.messages.includes(mail)) return
  if (kind === 'flag') {
    await box.flag(mail.id, to % 2 === 0 ? '\\Seen' : '\\Flagged', mail.folder)
    return
  }
  if (kind === 'expunge') {
    const deleted = world.messages.filter((message) => message.id === mail.id && message.folder === mail.folder)
    await box.expunge(mail.id, mail.folder)
    world.messages = world.messages.filter((message) => !deleted.includes(message))
    return
  }
  if (target === mail.folder) return
  // doveadm finds messages by Message-ID, so it moves or copies every copy in the folder.
  const copies = world.messages.filter((message) => message.id === mail.id && message.folder === mail.folder)
  if (kind === 'move') {
    await box.move(mail.id, target, mail.folder)
    for (const message of copies) message.folder = target
    return
  }
  await box.copy(mail.id, target, mail.folder)
  world.messages.push(...copies.map(({ id }) => ({ id, folder: target })))
}
