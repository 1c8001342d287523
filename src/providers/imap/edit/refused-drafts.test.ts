import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard, otherClient } from '../../../../test/servers/imap-mailbox.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { DraftRef, RemoteMessage } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const never = new AbortController().signal
const PLUGINS = `
mail_plugins = quota acl
plugin {
  quota = count:User quota
  quota_vsizes = yes
  quota_grace = 0
  quota_rule = *:storage=4K
  acl = vfile
}
`
const draft = (sizeBytes: number) => ({
  to: [],
  cc: [],
  bcc: [],
  subject: 'Hello',
  body: { text: 'x '.repeat(sizeBytes / 2), html: null },
  date: 0,
  from: { name: '', email: 'ann@example.test' },
  messageId: `<${sizeBytes}@example.test>`,
})

describe.skipIf(!dovecotAvailable())('a draft or a copy that Dovecot refuses', () => {
  let server: Dovecot
  beforeAll(async () => {
    server = await startDovecot({ extraConfig: PLUGINS })
  })
  afterAll(() => server.stop())

  /** Over new connections, which see the rights as they are now. */
  function connected(user: string) {
    const access = imapAccess(server, user, 'secret')
    const { mail, sentCopies } = imapProvider({ guard: openGuard, clock: systemClock })
    onTestFinished(() => mail.closeConnections())
    const saveCopy = (sizeBytes: number) =>
      sentCopies(access).save(
        {
          rfcMessageId: `<${sizeBytes}@copy.test>`,
          sentAt: Date.now(),
          bytes: () => [Buffer.from(`Subject: x\r\n\r\n${'x'.repeat(sizeBytes)}\r\n`)],
          mayExist: false,
        },
        never,
      )
    const drafts = mail.drafts(access, 'Drafts')
    const create = (sizeBytes: number) => drafts.create(draft(sizeBytes), { mayExist: false })
    return { drafts, create, saveCopy }
  }

  const versions = (user: string) =>
    otherClient(server, user, 'secret', async (client) => (await client.mailboxOpen('Drafts')).exists)

  it('for a full mailbox is quota_exceeded, and the draft stays as it was', async () => {
    await server.addUser('full', 'secret')
    const { drafts, create, saveCopy } = connected('full')
    const full = { kind: 'rejected', refusal: 'quota_exceeded' }
    const ref = refOf((await create(200)).message)
    await expect(create(6000)).rejects.toMatchObject(full)
    await expect(drafts.replace(ref, draft(6000))).rejects.toMatchObject(full)
    await expect(saveCopy(6000)).rejects.toMatchObject(full)
    expect((await drafts.find(ref))?.message.location).toEqual(ref.location)
    await saveCopy(100)
  })

  it.each([
    ['folder_read_only', 'not_permitted', ['lookup', 'read']],
    ['not_permitted', 'not_permitted', ['lookup', 'read', 'write', 'write-seen']],
  ])('for lack of rights is %s in Drafts, %s in Sent', async (refusal, ofCopies, rights) => {
    const user = `with-${rights.length}-rights`
    await server.addUser(user, 'secret')
    const before = connected(user)
    const ref = refOf((await before.create(200)).message)
    await before.saveCopy(100)
    for (const folder of ['Drafts', 'Sent']) await server.doveadm('acl', 'set', '-u', user, folder, 'owner', ...rights)
    const { drafts, create, saveCopy } = connected(user)
    const refused = { kind: 'rejected', refusal }
    await expect(create(202)).rejects.toMatchObject(refused)
    await expect(drafts.replace(ref, draft(204))).rejects.toMatchObject(refused)
    await expect(drafts.delete(ref)).rejects.toMatchObject(refused)
    await expect(saveCopy(102)).rejects.toMatchObject({ kind: 'rejected', refusal: ofCopies })
    expect(await versions(user)).toBe(1)
  })

  it('because the draft cannot be deleted gets no further version', async () => {
    await server.addUser('keeper', 'secret')
    const ref = refOf((await connected('keeper').create(200)).message)
    const rights = ['lookup', 'read', 'write', 'write-seen', 'insert', 'post']
    await server.doveadm('acl', 'set', '-u', 'keeper', 'Drafts', 'owner', ...rights)
    const { drafts } = connected('keeper')
    const refused = { kind: 'rejected', refusal: 'not_permitted' }
    await expect(drafts.replace(ref, draft(202))).rejects.toMatchObject(refused)
    await expect(drafts.delete(ref)).rejects.toMatchObject(refused)
    expect(await versions('keeper')).toBe(1)
  })
})

function refOf({ messageId, location }: RemoteMessage): DraftRef {
  return { draftId: null, messageId, providerMessageId: '', location: location ?? null }
}
