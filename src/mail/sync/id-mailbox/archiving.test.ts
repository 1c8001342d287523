import { expect, it, onTestFinished } from 'vitest'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { mailEvents } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { gmailMailbox } from '../../../../test/servers/gmail-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../../test/servers/microsoft-mailbox.ts'

const open = databases('sqlite')

const PROVIDERS = {
  /** At Gmail an archived message has no folder. */
  async gmail() {
    const box = await gmailMailbox()
    const archive = (id: string) => box.google.relabel(box.user, id, { add: [], remove: ['INBOX'] })
    return { box, archive, folders: [null, 'Trash', 'Inbox'] }
  },
  async microsoft() {
    const box = await microsoftMailbox()
    return { box, archive: (id: string) => box.move(id, box.archive), folders: ['Archive', 'Deleted Items', 'Inbox'] }
  },
}

it.each(['gmail', 'microsoft'] as const)(
  'an archived, binned and restored message keeps its id, with one `message.updated` each (%s)',
  async (provider) => {
    const { box, archive, folders } = await PROVIDERS[provider]()
    onTestFinished(() => box.stop())
    const db = await open()
    const mail = { ...box.mail, openSession: () => box.mail.openSession(box.access) }
    const service = syncService(db, { mail, timing: { moveGraceMs: 20 } })
    onTestFinished(() => service.stop())
    const accountId = await service.linkMailbox(provider)
    await service.start()
    await connected(service, accountId)
    const emitted = async () => (await mailEvents(db, accountId)).filter((event) => event.type !== 'mailbox.changed')

    const id = await box.deliver(plainMail({ subject: 'a' }))
    const steps = [() => archive(id), () => box.move(id, box.trash), () => box.move(id, box.inbox)]
    await service.synced(accountId)
    await eventually(async () => expect(await emitted()).toHaveLength(1))
    for (const [index, step] of steps.entries()) {
      await step()
      await service.synced(accountId)
      await eventually(async () => expect(await emitted()).toHaveLength(index + 2))
    }
    const events = await emitted()
    const updated = folders.map((folder) => ({ type: 'message.updated', data: { folder } }))
    expect(events).toMatchObject([{ type: 'message.received' }, ...updated])
    expect(new Set(events.map(({ objectId }) => objectId)).size).toBe(1)
    expect(new Set(events.map(({ data }) => String(data.labelIds))).size).toBe(3)
  },
)
