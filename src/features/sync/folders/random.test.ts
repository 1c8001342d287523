import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeEachDatabase } from '../../../../test/kit/database.ts'
import { fc } from '../../../../test/kit/random.ts'
import { type Mailbox, syncedMailbox } from '../../../../test/kit/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'

/** Where every mail stands, as the test knows it: what may be done next. */
interface World {
  box: Mailbox
  folders: string[]
  mails: { id: string; folder: string }[]
  /** Announced once each. */
  delivered: string[]
  made: number
}

type Step = { kind: 'deliver' | 'flag' | 'move' | 'copy' | 'expunge' | 'rename' | 'renumber'; at: number; to: number }

const step: fc.Arbitrary<Step> = fc.record({
  kind: fc.constantFrom('deliver', 'deliver', 'flag', 'move', 'move', 'copy', 'expunge', 'rename', 'renumber'),
  at: fc.nat(1000),
  to: fc.nat(1000),
})
/** Steps of one round happen before anybody looks; mail delivered in a round is touched only in later ones. */
const story = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 })

const RUNS = Number(process.env.POSTHORN_RANDOM_RUNS ?? 4)

describe.skipIf(!dovecotAvailable())('any story of a mailbox', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(() => server.stop())

  describeEachDatabase('ends in step', (open) => {
    it(
      'the store holds what the server does, and every delivered mail was announced once',
      () =>
        fc.assert(
          fc.asyncProperty(story, async (rounds) => {
            const { box, service, accountId, same, received, ids } = await syncedMailbox(server, open, {
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
              mails: ['old-1', 'old-2'].map((id) => ({ id, folder: 'INBOX' })),
              delivered: [],
              made: 0,
            }
            for (const steps of rounds) {
              const before = world.mails.slice()
              for (const one of steps) await play(world, one, before)
              await service.wake(accountId)
              await same(['INBOX', ...world.folders.slice(1)])
              await received(...world.delivered)
            }
            const stored = Object.values(await ids()).flat().length
            expect(stored).toBe(world.mails.length)
            await service.stop()
          }),
          { numRuns: RUNS, endOnFailure: true },
        ),
      600_000,
    )
  })
})

async function play(world: World, { kind, at, to }: Step, before: readonly World['mails'][number][]): Promise<void> {
  const { box } = world
  if (kind === 'deliver') {
    const id = `new-${world.made++}`
    await box.deliver(id)
    world.mails.push({ id, folder: 'INBOX' })
    world.delivered.push(id)
    return
  }
  if (kind === 'rename') {
    const index = 1 + (at % (world.folders.length - 1))
    const from = world.folders[index] ?? ''
    const next = `Folder${world.made++}`
    // An empty folder leaves nothing to recognise it by but its numbering, which the server keeps.
    await box.rename(from, next)
    world.folders[index] = next
    for (const mail of world.mails) if (mail.folder === from) mail.folder = next
    return
  }
  if (kind === 'renumber') {
    const folder = world.folders[at % world.folders.length] ?? ''
    await box.renumber(folder, 2_000_000_000 + world.made++)
    return
  }
  const mail = before[at % Math.max(before.length, 1)]
  const target = world.folders[to % world.folders.length] ?? ''
  if (mail === undefined || !world.mails.includes(mail)) return
  if (kind === 'flag') {
    await box.flag(mail.id, to % 2 === 0 ? '\\Seen' : '\\Flagged', mail.folder)
    return
  }
  if (kind === 'expunge') {
    const gone = world.mails.filter((one) => one.id === mail.id && one.folder === mail.folder)
    await box.expunge(mail.id, mail.folder)
    world.mails = world.mails.filter((one) => !gone.includes(one))
    return
  }
  if (target === mail.folder) return
  // doveadm names mails by Message-ID, so every copy that stands in the folder goes along.
  const along = world.mails.filter((one) => one.id === mail.id && one.folder === mail.folder)
  if (kind === 'move') {
    await box.move(mail.id, target, mail.folder)
    for (const one of along) one.folder = target
    return
  }
  await box.copy(mail.id, target, mail.folder)
  world.mails.push(...along.map(({ id }) => ({ id, folder: target })))
}
