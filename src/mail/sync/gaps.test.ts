import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Databases, databases } from '../../../test/kit/database/database.ts'
import { eventually } from '../../../test/kit/eventually.ts'
import { announced } from '../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../test/kit/mailbox/sync.ts'
import { connected, mail } from '../../../test/kit/mailbox/synced-mailbox.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import type { MailProvider } from '../../providers/contract/index.ts'

const open: Databases = databases('sqlite')
/** Fewer than arrive while the service is down. */
const settings = { initialMessages: 3 }
const OLD = 6
const MISSED = 9

interface Box {
  provider: 'gmail' | 'microsoft' | 'imap'
  mail?: MailProvider
  deliver(id: string, date: Date): unknown
  /** The provider forgets the position of sync. */
  expire(): Promise<unknown>
  link?(service: ReturnType<typeof syncService>): Promise<string>
}

async function gmail(): Promise<Box> {
  const box = await gmailMailbox({ unitsPerMinute: 1e9 })
  onTestFinished(() => box.stop())
  const own = { ...box.mail, openSession: () => box.mail.openSession(box.access) }
  const deliver: Box['deliver'] = (id, date) => box.google.deliver(box.user, mail(id), { date })
  return { provider: 'gmail', mail: own, deliver, expire: () => box.expireCursors() }
}

async function microsoft(): Promise<Box> {
  const box = await microsoftMailbox()
  onTestFinished(() => box.stop())
  const own = { ...box.mail, openSession: () => box.mail.openSession(box.access) }
  const deliver: Box['deliver'] = (id, date) => box.graph.deliver(box.user, mail(id), { date })
  return { provider: 'microsoft', mail: own, deliver, expire: () => box.expireCursors() }
}

let dovecot: Dovecot
let users = 0

async function imap(): Promise<Box> {
  users += 1
  const user = `gap${users}`
  await dovecot.addUser(user, 'one')
  return {
    provider: 'imap',
    deliver: (id, date) => dovecot.deliver(user, mail(id), { date }),
    expire: () =>
      dovecot.doveadm('mailbox', 'update', '-u', user, '--uid-validity', String(4_000_000_000 + users), 'INBOX'),
    link: (service) => service.link(dovecot, user, 'one'),
  }
}

describe.skipIf(!dovecotAvailable())('after an outage in which more messages arrive than a first sync stores', () => {
  beforeAll(async () => {
    dovecot = await startDovecot()
  })
  afterAll(() => dovecot.stop())

  it.each(Object.entries({ gmail, microsoft, imap }))(
    'announces each once, with and without its position: %s',
    async (_name, make) => {
      const box = await make()
      const startMs = Date.now()
      const ids = (prefix: string, count: number) => Array.from({ length: count }, (_, n) => `${prefix}-${n}`)
      for (const [n, id] of ids('old', OLD).entries())
        await box.deliver(id, new Date(startMs - 86_400_000 + n * 60_000))
      const db = await open()
      let accountId = ''
      /** Runs a service until it has announced these messages, and nothing else. */
      const catchUp = async (expected: readonly string[]) => {
        const mailOption = box.mail && { mail: box.mail }
        const service = syncService(db, { ...mailOption, settings, timing: { pollMs: 400 } })
        try {
          accountId ||= (await box.link?.(service)) ?? (await service.linkMailbox(box.provider))
          await service.start()
          await connected(service, accountId)
          const wanted = expected.map((id) => `<${id}@x>`).sort()
          await eventually(async () => expect(await announced(db, accountId)).toEqual(wanted))
          await service.synced(accountId)
          expect(await announced(db, accountId)).toEqual(wanted)
          expect(await announced(db, accountId, 'message.deleted')).toEqual([])
        } finally {
          await service.stop()
        }
      }
      await catchUp([])
      const [kept, lost] = [ids('kept', MISSED), ids('lost', MISSED)]
      // Graph's times are whole seconds.
      for (const [n, id] of kept.entries()) await box.deliver(id, new Date(startMs + 5000 + n * 1000))
      await catchUp(kept)
      for (const [n, id] of lost.entries()) await box.deliver(id, new Date(startMs + 60_000 + n * 1000))
      await box.expire()
      await catchUp([...kept, ...lost])
    },
  )
})
