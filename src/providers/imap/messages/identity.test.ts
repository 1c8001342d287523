import { buffer } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { startStrictImap } from '../../../../test/servers/strict-imap.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { MessageLocation } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const received = new Date('2026-03-01T10:00:00Z')

/** A message was stored, and the restored server has another one under its UID. */
async function replaced({ hasIds, text = 'mine' }: { hasIds: boolean; text?: string }) {
  const { server, folder } = await startStrictImap({ folders: ['Trash'] })
  closing(server)
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock })
  closing({ close: () => mail.closeConnections() })
  const inbox = folder('INBOX')
  const backup = inbox.backup()
  const id = (name: string) => (hasIds ? { messageId: `<${name}@x>` } : {})
  inbox.add(plainMail({ text, subject: 'mine', ...id('mine') }), { internalDate: received })
  const live = mail.liveReads(server.access)
  const [stored] = (await live.listMessages('INBOX', { limit: 1 })).messages
  if (stored?.location === undefined) throw new Error('The message is not listed.')
  const { messageId, receivedAt } = stored
  const location: MessageLocation = { folderPath: 'INBOX', ...stored.location, identity: { messageId, receivedAt } }
  return {
    inbox,
    live,
    location,
    server,
    edits: mail.edits(server.access),
    replace(internalDate: Date) {
      server.disconnect()
      inbox.restore(backup)
      inbox.add(plainMail({ text: 'another', subject: 'another', ...id('another') }), { internalDate })
    },
  }
}

it.each([
  ['another Message-ID', true, received],
  ['no Message-ID and another date', false, new Date('2026-03-01T10:01:00Z')],
])('reads and changes no other message under the same UID: %s', async (_case, hasIds, internalDate) => {
  const { live, location, edits, replace, inbox } = await replaced({ hasIds })
  expect((await live.getBody(location)).text).toContain('mine')
  expect((await buffer(await (await live.openRaw(location)).read())).toString()).toContain('mine')
  replace(internalDate)
  const missing = { kind: 'not_found' }
  await expect(live.getBody(location)).rejects.toMatchObject(missing)
  await expect(live.openRaw(location)).rejects.toMatchObject(missing)
  await expect(live.openAttachment(location, '1')).rejects.toMatchObject(missing)
  expect(await edits.changeMessages([{ message: location, unread: false }])).toMatchObject([missing])
  expect(await edits.deleteMessages([location])).toMatchObject([missing])
  expect(inbox.messages).toHaveLength(1)
  expect([...inbox.find('another').flags]).toEqual([])
})

it('reads and changes the stored message', async () => {
  const { live, location, edits, inbox } = await replaced({ hasIds: false })
  expect((await live.openAttachment(location, '1')).contentType).toMatch(/^text\/plain/)
  expect(await edits.changeMessages([{ message: location, unread: false }])).toMatchObject([{ unread: false }])
  expect([...inbox.find('mine').flags]).toEqual(['\\Seen'])
})

it('reads the parts of a long message without looking for its identity each time', async () => {
  const { live, location, server } = await replaced({ hasIds: true, text: 'long '.repeat(300_000) })
  const raw = await live.openRaw(location)
  const before = server.commands.length
  await buffer(await raw.read())
  const chunks = server.commands.slice(before).filter((name) => name === 'UID').length
  expect(chunks).toBe(3)
})
