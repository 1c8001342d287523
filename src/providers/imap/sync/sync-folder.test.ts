import { truncate } from 'node:fs/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { FolderMirror } from '../../../../test/kit/mailbox/folder-mirror.ts'
import { type Dovecot, type DovecotOptions, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapAccess, openGuard, otherClient } from '../../../../test/servers/imap-mailbox.ts'
import { malformedMessages, plainMail } from '../../../../test/servers/messages.ts'
import { systemClock } from '../../../platform/time/clock.ts'
import type { FolderSession } from '../../contract/index.ts'
import { imapProvider } from '../provider.ts'

const kinds: [string, DovecotOptions][] = [
  ['QRESYNC', {}],
  ['CONDSTORE only', { hideCapabilities: ['QRESYNC'] }],
  ['neither', { hideCapabilities: ['QRESYNC', 'CONDSTORE'] }],
]

describe.skipIf(!dovecotAvailable()).each(kinds)('syncing an IMAP folder with %s', (_kind, options) => {
  let server: Dovecot
  let users = 0
  const sessions: FolderSession[] = []
  const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits: { stepMessages: 50 } })
  beforeAll(async () => {
    server = await startDovecot(options)
  })
  afterEach(async () => {
    for (const session of sessions.splice(0)) await session.close()
    await mail.closeConnections()
  })
  afterAll(() => server.stop())

  async function user() {
    users += 1
    const name = `user${users}`
    await server.addUser(name, 'secret')
    return name
  }

  async function session(name: string) {
    const events = { onChange() {}, onClose() {} }
    const opened = await mail.openSession(imapAccess(server, name, 'secret'), events, new AbortController().signal)
    sessions.push(opened)
    return opened
  }

  function messages(from: number, to: number): Buffer[] {
    return Array.from({ length: to - from + 1 }, (_, i) => plainMail({ subject: `mail ${from + i}`, text: 'short' }))
  }

  it('runs a first sync in steps, newest first, and continues after a crash between them', async () => {
    const name = await user()
    await server.deliverMany(name, messages(1, 130))
    const mirror = new FolderMirror('INBOX', 120)
    const killed = new Error('killed')
    const kill = () => {
      throw killed
    }
    await expect(mirror.sync(await session(name), kill)).rejects.toBe(killed)
    expect(mirror.steps.map((step) => step.added.length)).toEqual([50])
    await server.deliverMany(name, messages(131, 132))
    await mirror.sync(await session(name))
    expect(Math.max(...mirror.steps.map((step) => step.added.length))).toBe(50)
    expect(mirror.subjects()).toEqual(Array.from({ length: 122 }, (_, i) => `mail ${11 + i}`))
    expect([...mirror.rows.values()].filter((message) => message.isNew).map((message) => message.subject)).toEqual([
      'mail 131',
      'mail 132',
    ])
  })

  it('reports messages that arrive during a long first sync before the rest of it', async () => {
    const name = await user()
    await server.deliverMany(name, messages(1, 110))
    const mirror = new FolderMirror('INBOX', 2000)
    let delivered = false
    await mirror.sync(await session(name), async () => {
      if (!delivered) await server.deliverMany(name, messages(111, 111))
      delivered = true
    })
    const subjects = mirror.steps.map((step) => step.added[0]?.subject)
    expect(subjects.indexOf('mail 111')).toBeLessThan(subjects.length - 1)
    expect(mirror.bySubject('mail 111').isNew).toBe(true)
    expect(mirror.rows.size).toBe(111)
  })

  it('syncs many new messages in steps, oldest first', async () => {
    const name = await user()
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(await session(name))
    await server.deliverMany(name, messages(1, 115))
    const steps = await mirror.sync(await session(name))
    expect(steps.map((step) => step.added.length).filter(Boolean)).toEqual([50, 50, 15])
    expect(mirror.subjects()).toEqual(Array.from({ length: 115 }, (_, i) => `mail ${i + 1}`))
  })

  it('reports the removal of messages that were stored since the last sync, and not by a sync', async () => {
    const name = await user()
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(await session(name))
    await server.deliverMany(name, messages(1, 3))
    const other = new FolderMirror('INBOX')
    await other.sync(await session(name))
    for (const [uid, message] of other.rows) mirror.rows.set(uid, message)
    await otherClient(server, name, 'secret', async (client) => {
      await client.mailboxOpen('INBOX')
      await client.messageDelete('1,3')
    })
    await mirror.sync(await session(name))
    expect(mirror.subjects()).toEqual(['mail 2'])
  })

  it('syncs a large mailbox that changed while disconnected', async () => {
    const name = await user()
    await server.deliverMany(name, messages(1, 200))
    const mirror = new FolderMirror('INBOX', 200)
    await mirror.sync(await session(name))
    await otherClient(server, name, 'secret', async (client) => {
      await client.mailboxOpen('INBOX')
      await client.messageFlagsAdd('1:100', ['\\Seen'])
      await client.messageDelete('101:190')
    })
    await server.deliverMany(name, messages(201, 201))
    const steps = await mirror.sync(await session(name))
    for (const step of steps) expect(step.changed.length + step.removed.length).toBeLessThanOrEqual(250)
    expect(mirror.rows.size).toBe(111)
    expect([...mirror.rows.values()].filter((message) => !message.unread)).toHaveLength(100)
    const empty = expect.objectContaining({ added: [], changed: [], removed: [] })
    for (const step of await mirror.sync(await session(name))) expect(step).toEqual(empty)
  })

  it('resets after a UIDVALIDITY change, and fetches at least as many messages as were stored', async () => {
    const name = await user()
    await server.deliverMany(name, messages(1, 70))
    const mirror = new FolderMirror('INBOX', 20)
    await mirror.sync(await session(name))
    await server.deliverMany(name, messages(71, 130))
    await mirror.sync(await session(name))
    expect(mirror.rows.size).toBe(80)
    await server.doveadm('mailbox', 'update', '-u', name, '--uid-validity', '4000000001', 'INBOX')
    await server.deliverMany(name, messages(131, 131))
    const steps = await mirror.sync(await session(name))
    expect(steps[0]).toMatchObject({ reset: true, refetched: true })
    expect(steps.filter((step) => step.reset)).toHaveLength(1)
    expect(steps.every((step) => step.refetched || step.added.length === 0)).toBe(true)
    expect(mirror.rows.size).toBe(80)
    expect(mirror.bySubject('mail 131').location?.uidValidity).toBe('4000000001')
  })

  it('notices a UIDVALIDITY change during a session', async () => {
    const name = await user()
    await server.deliverMany(name, messages(1, 3))
    const mirror = new FolderMirror('INBOX')
    const opened = await session(name)
    await mirror.sync(opened)
    await opened.watch('INBOX')
    await server.doveadm('mailbox', 'update', '-u', name, '--uid-validity', '4000000002', 'INBOX')
    await server.deliverMany(name, messages(4, 4))
    await mirror.sync(opened).catch(async () => mirror.sync(await session(name)))
    if (!mirror.steps.some((step) => step.reset)) await mirror.sync(await session(name))
    expect(mirror.steps.some((step) => step.reset)).toBe(true)
    expect(mirror.subjects()).toEqual(['mail 1', 'mail 2', 'mail 3', 'mail 4'])
  })

  it('syncs every broken message of the collection in storable form', async () => {
    const name = await user()
    for (const raw of Object.values(malformedMessages)) await server.deliver(name, raw)
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(await session(name))
    expect(mirror.rows.size).toBe(Object.keys(malformedMessages).length)
    const stored = JSON.stringify([...mirror.rows.values()])
    expect(stored).not.toContain('\\u0000')
    expect(stored.isWellFormed()).toBe(true)
    expect(mirror.bySubject('Grüße aus 東京')).toMatchObject({
      from: { name: 'Jörg Größe' },
      snippet: 'text',
      error: null,
    })
    expect(mirror.bySubject('Grüße')).toMatchObject({
      from: { name: 'Jörg', email: 'joerg@example.test' },
      text: 'Grüße',
    })
    expect(mirror.bySubject('bare')).toMatchObject({ from: null, messageId: null, date: null })
    expect(mirror.bySubject('long id').messageId).toHaveLength(10_015)
    expect(mirror.bySubject('many').to).toHaveLength(1000)
    expect(mirror.bySubject('boundless').snippet).toBe('nobody can split this')
    expect(mirror.bySubject('200 deep').error).toBeNull()
    // The same messages one by one, as new ones.
    const later = new FolderMirror('INBOX')
    const opened = await session(name)
    await later.sync(opened)
    for (const raw of Object.values(malformedMessages)) await server.deliver(name, raw)
    await later.sync(opened)
    expect(later.rows.size).toBe(2 * Object.keys(malformedMessages).length)
  })

  it('isolates a message on which the server disconnects, and fetches the others', async () => {
    const name = await user()
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(await session(name))
    await server.deliverMany(name, messages(1, 60))
    const home = (await server.doveadm('user', '-f', 'home', name)).trim()
    await truncate(`${home}/mail/mailboxes/INBOX/dbox-Mails/u.41`, 60)
    let attempts = 0
    const pass = async (): Promise<unknown> => mirror.sync(await session(name))
    while (
      attempts < 20 &&
      (await pass().then(
        () => false,
        () => true,
      ))
    )
      attempts += 1
    expect(attempts).toBe(3)
    expect(mirror.rows.size).toBe(60)
    const unreadable = [...mirror.rows.values()].filter((message) => message.unreadable !== undefined)
    expect(unreadable.map(({ location }) => location?.uid)).toEqual([41])
    expect(mirror.bySubject('mail 60').isNew).toBe(true)
  })

  it('finds the text of a message whose first part is large', async () => {
    const name = await user()
    const filler = Array.from({ length: 600 }, () => 'A'.repeat(76)).join('\r\n')
    const part = (type: string, encoding: string, body: string) =>
      `--m\r\nContent-Type: ${type}\r\nContent-Transfer-Encoding: ${encoding}\r\n\r\n${body}\r\n`
    const late = `Subject: late text\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=m\r\n\r\n`
    const image = part('image/png; name="a.png"', 'base64', filler)
    await server.deliver(
      name,
      `${late}${image}${part('text/plain; charset=iso-8859-1', 'quoted-printable', 'Gr=FC=DFe')}--m--\r\n`,
    )
    const mirror = new FolderMirror('INBOX')
    await mirror.sync(await session(name))
    expect(mirror.bySubject('late text')).toMatchObject({
      snippet: 'Grüße',
      attachments: [expect.objectContaining({ id: '1', filename: 'a.png', contentType: 'image/png' })],
    })
  })
})
