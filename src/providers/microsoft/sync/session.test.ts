import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { MailboxMirror } from '../../../../test/kit/mailbox/mailbox-mirror.ts'
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
      accountId: 'acc_1',
      email: USER,
      settings: {},
      secrets: {},
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

  it('keeps the folders inside one that cannot be listed for a while', async () => {
    const parent = graph.createFolder(USER, 'Parent')
    const inner = graph.createFolder(USER, 'Inner', parent)
    const session = mail.openSession(access)
    const before = await session.listFolders()
    graph.fail({ as: 'server-error', on: new RegExp(`${parent}/childFolders`), times: 100 })
    const late = graph.createFolder(USER, 'Late')
    const paths = (await session.listFolders()).map(({ path }) => path)
    expect(paths.sort()).toEqual([...before.map(({ path }) => path), late].sort())
    expect(paths).toContain(inner)
  })

  it('keeps the stored folders inside one whose children it cannot list after a restart', async () => {
    const parent = graph.createFolder(USER, 'Parent')
    const inner = graph.createFolder(USER, 'Inner', parent)
    const deep = graph.createFolder(USER, 'Deep', inner)
    graph.createFolder(USER, 'Parental')
    const stored = await mail.openSession(access).listFolders()
    graph.fail({ as: 'server-error', on: new RegExp(`${parent}/childFolders`), times: Number.POSITIVE_INFINITY })
    const late = graph.createFolder(USER, 'Late')
    const session = mail.openSession(access)
    const paths = async () => (await session.listFolders(undefined, async () => stored)).map(({ path }) => path).sort()
    const all = [...stored.map(({ path }) => path), late].sort()
    expect(await paths()).toEqual(all)
    expect(all).toEqual(expect.arrayContaining([inner, deep]))
    const unknown = await mail.openSession(access).listFolders()
    expect(unknown.map(({ path }) => path)).toEqual(expect.not.arrayContaining([inner]))
    graph.faults.clear()
    const inside = graph.createFolder(USER, 'Inside', parent)
    expect(await paths()).toEqual([...all, inside].sort())
  })

  it('has one scope per folder: first the inbox, then sent messages and drafts', async () => {
    graph.createFolder(USER, 'Aaa')
    const session = mail.openSession(access)
    const scopes = session.scopes(await session.listFolders())
    const first = ['inbox', 'sentitems', 'drafts'].map((name) => graph.folderId(USER, name))
    expect(scopes.slice(0, 3)).toEqual(first)
    expect(new Set(scopes).size).toBe((await session.listFolders()).length)
  })

  it('is polled in two requests for any number of folders, plus one or two for each with changes', async () => {
    const parent = graph.createFolder(USER, 'Projects')
    for (let i = 0; i < 8; i += 1) graph.createFolder(USER, `Project ${i}`, parent)
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    expect(await calls(() => mirror.sync(session))).toEqual({ 'POST /v1.0/$batch': 2 })

    await deliver('one')
    await deliver('two', parent)
    expect(await calls(() => mirror.sync(session))).toEqual({ 'POST /v1.0/$batch': 4 })
    expect(mirror.subjects()).toEqual(['one', 'two'])

    for (let i = 0; i < 30; i += 1) await deliver(`many ${i}`)
    expect(await calls(() => mirror.sync(session))).toEqual({
      // The details of twenty messages and of ten.
      'POST /v1.0/$batch': 4,
      'GET /v1.0/me/mailFolders/{folder}/messages/delta': 1,
    })
    expect(mirror.subjects()).toHaveLength(32)
  })

  it('fetches a thousand messages of a first sync in at most 80 requests', async () => {
    for (let i = 0; i < 1050; i += 1) await deliver(`mail ${i}`, i % 3 === 0 ? 'archive' : 'inbox')
    const mirror = new MailboxMirror(1000)
    const counts = await calls(() => mirror.sync(mail.openSession(access)))
    expect(mirror.subjects()).toHaveLength(1000)
    expect(mirror.subjects()[0]).toBe('mail 50')
    expect(Object.values(counts).reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(80)
    expect(graph.peakConcurrency(USER)).toBeLessThanOrEqual(4)
  })

  it('reads the header of a message whose sender Graph could not read', async () => {
    await deliver('comma', 'inbox', plainMail({ subject: 'comma', from: 'Mueller, Hans <hans2@example.test>' }))
    await deliver('plain')
    const mirror = new MailboxMirror()
    graph.calls.clear()
    await mirror.sync(mail.openSession(access))
    expect(mirror.bySubject('comma').message.from).toMatchObject({ email: 'hans2@example.test' })
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}']).toBe(2)
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
    // One for each message has its properties and its header.
    expect(graph.calls.counts({ user: USER, part: true })['GET /v1.0/me/messages/{id}']).toBe(4)
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
    const present = await graph.deliver(USER, plainMail({ subject: 'there' }), { date: at })
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    await graph.deliver(USER, plainMail({ subject: 'came' }), { date: at })
    graph.move(USER, present, 'archive')
    await mirror.sync(session)
    expect(mirror.bySubject('came').announced).toBe(true)
    expect(mirror.bySubject('there')).toMatchObject({ announced: false, folders: [graph.folderId(USER, 'archive')] })
  })

  it('keeps a message that was moved away and back between two rounds, with what changed meanwhile', async () => {
    const [id, other] = [await deliver('there'), await deliver('archived')]
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    graph.move(USER, id, 'archive')
    graph.star(USER, id, true)
    graph.move(USER, id, 'inbox')
    graph.move(USER, other, 'archive')
    const [step] = await mirror.sync(session)
    expect(step?.removed).toEqual([])
    expect(mirror.bySubject('there')).toMatchObject({ folders: [graph.folderId(USER, 'inbox')], announced: false })
    expect(mirror.bySubject('there').message.starred).toBe(true)
    expect(mirror.bySubject('archived').folders).toEqual([graph.folderId(USER, 'archive')])
  })

  it('takes a message for deleted that is in no folder that people see', async () => {
    const ids = [await deliver('purged'), await deliver('deleted')]
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    graph.move(USER, ids[0] ?? '', 'recoverableitemsdeletions')
    graph.delete(USER, ids[1] ?? '')
    await mirror.sync(session)
    expect(mirror.subjects()).toEqual([])
    const { signal } = new AbortController()
    expect(await session.readMessages?.(ids, signal)).toEqual({ found: [], unknown: [] })
    graph.fail({ as: 'server-error', on: new RegExp(ids[1] ?? ''), times: 100 })
    expect(await session.readMessages?.(ids, signal)).toEqual({ found: [], unknown: [ids[1]] })
  })

  it.each([503, 504])('syncs a mailbox that cannot serve more than eight messages in a page (%i)', async (status) => {
    for (let i = 0; i < 30; i += 1) await deliver(`mail ${i}`, i % 2 === 0 ? 'archive' : 'inbox')
    graph.limitPages(USER, 8, status)
    const mirror = new MailboxMirror()
    const session = mail.openSession(access)
    await mirror.sync(session)
    expect(mirror.subjects()).toHaveLength(30)
    for (let i = 0; i < 12; i += 1) await deliver(`later ${i}`)
    await mirror.sync(session)
    expect(mirror.subjects()).toHaveLength(42)
    const search = { search: { text: ['mail'] }, limit: 50, signal: new AbortController().signal }
    expect((await mail.liveReads(access).search(search)).found).not.toEqual([])
    graph.expireDelta(USER)
    await mirror.sync(session)
    expect(mirror.subjects()).toHaveLength(42)
  })

  it('counts each part of a batch against the four requests that a mailbox serves at once', async () => {
    for (let i = 0; i < 25; i += 1) await deliver(`mail ${i}`, 'inbox', attachmentMail({ subject: `mail ${i}` }))
    graph.latencyMs = 5
    const mirror = new MailboxMirror()
    const live = mail.liveReads(access)
    const reads = async () => {
      for (let i = 0; i < 10; i += 1) await live.listFolders()
    }
    await Promise.all([mirror.sync(mail.openSession(access)), reads(), reads()])
    expect(mirror.subjects()).toHaveLength(25)
    expect(graph.peakConcurrency(USER)).toBe(4)
    expect(graph.calls.all.filter((call) => call.status === 429)).toEqual([])
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

  it.each(['none', 'unlicensed'] as const)('is refused when the user has no mailbox (%s)', async (how) => {
    graph.withholdMailbox(USER, how)
    await expect(mail.verify(access, new AbortController().signal)).rejects.toMatchObject({
      kind: 'rejected',
      missingScope: false,
    })
    graph.withholdMailbox(USER, null)
    expect((await mail.verify(access, new AbortController().signal)).folders).not.toEqual([])
  })

  it('reads the size and the thread of a message beside the delta, which cannot return them', async () => {
    const headers = ['In-Reply-To: <first@x>', 'References: <zero@x> <first@x>']
    const raw = plainMail({ subject: 'reply', headers })
    await deliver('reply', 'inbox', raw)
    const mirror = new MailboxMirror()
    await mirror.sync(mail.openSession(access))
    expect(mirror.bySubject('reply').message).toMatchObject({
      sizeBytes: Buffer.byteLength(raw),
      inReplyTo: '<first@x>',
      references: ['<zero@x>', '<first@x>'],
      error: null,
    })
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
