import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MailboxMirror } from '../../../../test/kit/mailbox-mirror.ts'
import { attachmentMail, plainMail } from '../../../../test/servers/messages.ts'
import { type Microsoft, startMicrosoft } from '../../../../test/servers/microsoft.ts'
import { microsoftAt } from '../../../../test/servers/microsoft-mailbox.ts'
import type { IdMailProvider, MailAccess } from '../../contract/index.ts'

const USER = 'ada@example.test'
const HOUR_MS = 3_600_000

describe('a mailbox at Graph', () => {
  let graph: Microsoft
  let mail: IdMailProvider
  let access: MailAccess
  let arrivedMs: number

  beforeEach(async () => {
    graph = await startMicrosoft()
    graph.addUser(USER)
    graph.addUser('decoy@example.test')
    arrivedMs = Date.now() - HOUR_MS
    const { accessToken } = await graph.grant(USER)
    access = {
      ...{ accountId: 'acc_1', email: USER, settings: {}, secrets: {} },
      accessToken: async () => accessToken,
    }
    ;({ mail } = microsoftAt(graph.url))
    onTestFinished(async () => {
      await mail.closeConnections()
      await graph.close()
    })
  })

  function deliver(subject: string, folder = 'inbox', raw = plainMail({ subject })) {
    arrivedMs += 1000
    return graph.deliver(USER, raw, { folder, date: new Date(arrivedMs) })
  }

  /** The number of HTTP requests during `work`. */
  async function calls(work: () => Promise<unknown>): Promise<Record<string, number>> {
    graph.calls.clear()
    await work()
    return graph.calls.counts({ user: USER })
  }

  it('lists folders at any depth with their roles, without the Outbox', async () => {
    const projects = graph.createFolder(USER, 'Projekte')
    const inner = graph.createFolder(USER, 'Innen', projects)
    const deep = graph.createFolder(USER, 'Posteingang', inner)
    graph.renameFolder(USER, graph.folderId(USER, 'inbox'), 'Boîte de réception')
    const folders = await mail.openSession(access).listFolders()
    const named = (path: string) => folders.find((folder) => folder.path === path)
    expect(named(graph.folderId(USER, 'inbox'))).toMatchObject({ name: 'Boîte de réception', role: 'inbox' })
    expect(named(graph.folderId(USER, 'sentitems'))).toMatchObject({ role: 'sent' })
    expect(named(graph.folderId(USER, 'drafts'))).toMatchObject({ role: 'drafts' })
    expect(named(graph.folderId(USER, 'deleteditems'))).toMatchObject({ role: 'trash' })
    expect(named(graph.folderId(USER, 'junkemail'))).toMatchObject({ role: 'junk' })
    expect(named(deep)).toMatchObject({ name: 'Posteingang', role: null, selectable: true })
    expect(named(graph.folderId(USER, 'outbox'))).toBeUndefined()
  })

  it('has one scope per folder: first the inbox, then sent messages and drafts', async () => {
    graph.createFolder(USER, 'Aaa')
    const session = mail.openSession(access)
    const scopes = session.scopes(await session.listFolders())
    const first = ['inbox', 'sentitems', 'drafts'].map((name) => graph.folderId(USER, name))
    expect(scopes.slice(0, 3)).toEqual(first)
    expect(new Set(scopes).size).toBe((await session.listFolders()).length)
  })

  it('is polled in two requests for any number of folders, plus one for each with many changes', async () => {
    const parent = graph.createFolder(USER, 'Projects')
    for (let i = 0; i < 8; i += 1) graph.createFolder(USER, `Project ${i}`, parent)
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    expect(await calls(() => mirror.sync(session))).toEqual({ 'POST /v1.0/$batch': 2 })

    await deliver('one')
    await deliver('two', parent)
    expect(await calls(() => mirror.sync(session))).toEqual({ 'POST /v1.0/$batch': 2 })
    expect(mirror.subjects()).toEqual(['one', 'two'])

    for (let i = 0; i < 30; i += 1) await deliver(`many ${i}`)
    expect(await calls(() => mirror.sync(session))).toEqual({
      'POST /v1.0/$batch': 2,
      'GET /v1.0/me/mailFolders/{folder}/messages/delta': 1,
    })
    expect(mirror.subjects()).toHaveLength(32)
  })

  it('fetches a thousand messages of a first sync in at most 30 requests', async () => {
    for (let i = 0; i < 1050; i += 1) await deliver(`mail ${i}`, i % 3 === 0 ? 'archive' : 'inbox')
    const mirror = new MailboxMirror(1000)
    const counts = await calls(() => mirror.sync(mail.openSession(access)))
    expect(mirror.subjects()).toHaveLength(1000)
    expect(mirror.subjects()[0]).toBe('mail 50')
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(30)
    expect(graph.peakConcurrency(USER)).toBeLessThanOrEqual(4)
  })

  it('reads the header of a message whose sender Graph could not read', async () => {
    await deliver('comma', 'inbox', plainMail({ subject: 'comma', from: 'Mueller, Hans <hans2@example.test>' }))
    await deliver('plain')
    const mirror = new MailboxMirror()
    graph.calls.clear()
    await mirror.sync(mail.openSession(access))
    expect(mirror.bySubject('comma').message.from).toMatchObject({ email: 'hans2@example.test' })
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}']).toBe(1)
  })

  it('fetches the newest messages of the entire mailbox, not of each folder', async () => {
    for (let i = 1; i <= 6; i += 1) await deliver(`old ${i}`, 'archive')
    for (let i = 1; i <= 6; i += 1) await deliver(`late ${i}`)
    const mirror = new MailboxMirror(8)
    await mirror.sync(mail.openSession(access))
    expect(mirror.subjects()).toEqual(['old 5', 'old 6', ...[1, 2, 3, 4, 5, 6].map((i) => `late ${i}`)])
  })

  it('fetches nothing for a read flag, and attachments only where there are some', async () => {
    const id = await deliver('plain')
    await deliver('file', 'inbox', attachmentMail({ subject: 'file' }))
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}/attachments']).toBe(1)
    expect(mirror.bySubject('file').message.attachments).toHaveLength(1)
    graph.markRead(USER, id, true)
    graph.calls.clear()
    const steps = await mirror.sync(session)
    expect(steps.flatMap(({ changed }) => changed)).toMatchObject([{ providerMessageId: id, unread: false }])
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}']).toBeUndefined()
    expect(mirror.bySubject('plain').message).toMatchObject({ unread: false, subject: 'plain' })
  })

  it('reads the headers of new replies, which say whether a program wrote them', async () => {
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await deliver('old', 'inbox', plainMail({ subject: 'old', headers: ['In-Reply-To: <offer@x>'] }))
    await mirror.sync(session)
    graph.calls.clear()
    const reply = (subject: string, ...headers: string[]) =>
      deliver(subject, 'inbox', plainMail({ subject, headers: ['In-Reply-To: <offer@x>', ...headers] }))
    await reply('note', 'Auto-Submitted: auto-replied (vacation)')
    await reply('person')
    await reply('Automatische Antwort: Angebot')
    await deliver('other', 'inbox', plainMail({ subject: 'other', headers: ['Auto-Submitted: auto-generated'] }))
    await mirror.sync(session)
    const isAutomatic = (subject: string) => mirror.bySubject(subject).message.isAutomatic
    expect(['note', 'person', 'Automatische Antwort: Angebot'].map(isAutomatic)).toEqual([true, false, true])
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}']).toBe(3)
  })

  it('finds old messages in a new folder, none of them as new', async () => {
    const ids = [await deliver('one'), await deliver('two'), await deliver('three')]
    const mirror = new MailboxMirror(2)
    await mirror.sync(mail.openSession(access))
    const folder = graph.createFolder(USER, 'Later')
    for (const id of ids) graph.move(USER, id, folder)
    for (let i = 0; i < 5; i += 1) await deliver(`new ${i}`)
    // A new session, which has only the stored cursors.
    await mirror.sync(mail.openSession(access))
    const inside = mirror.subjects().filter((subject) => mirror.bySubject(subject).folders.includes(folder))
    expect(inside).toEqual(['two', 'three'])
    expect(inside.some((subject) => mirror.bySubject(subject).announced)).toBe(false)
    expect(mirror.subjects().filter((subject) => mirror.bySubject(subject).announced)).toHaveLength(5)
  })

  it('reports a later message of the baseline second as new, and not the existing one', async () => {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 5000)
    const there = await graph.deliver(USER, plainMail({ subject: 'there' }), { date: at })
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    await graph.deliver(USER, plainMail({ subject: 'came' }), { date: at })
    graph.move(USER, there, 'archive')
    await mirror.sync(session)
    expect(mirror.bySubject('came').announced).toBe(true)
    expect(mirror.bySubject('there')).toMatchObject({ announced: false, folders: [graph.folderId(USER, 'archive')] })
  })

  it('keeps cursors short, without addresses', async () => {
    await deliver('one')
    const mirror = new MailboxMirror()
    await mirror.sync(mail.openSession(access))
    for (const cursor of mirror.cursors.values()) {
      expect(cursor.length).toBeLessThan(300)
      expect(cursor).not.toContain('http')
      expect(cursor).not.toContain('mailFolders')
    }
  })

  it('retries a batch item that is refused with 401, without renewing the token', async () => {
    await deliver('file', 'inbox', attachmentMail({ subject: 'file' }))
    graph.fail({ as: 'unauthorized', on: /attachments/, parts: true })
    const mirror = new MailboxMirror()
    await mirror.sync(mail.openSession(access))
    expect(mirror.bySubject('file').message.attachments).toHaveLength(1)
  })

  it('refuses a link to another host, names the host, and sends it no token', async () => {
    await deliver('one')
    const session = mail.openSession(access)
    graph.fail({ as: 'foreign-link', on: /messages\/delta/, foreignOrigin: 'http://127.0.0.1:9' })
    await expect(new MailboxMirror().sync(session)).rejects.toMatchObject({
      kind: 'unavailable',
      message: expect.stringContaining('127.0.0.1:9'),
    })
  })
})
