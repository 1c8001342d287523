import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { imapEditsFixture } from '../../../../test/servers/changes-fixtures.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../../../../test/servers/dovecot.ts'
import { imapDraftsFixture } from '../../../../test/servers/drafts-fixtures.ts'
import { imapMailbox, openGuard } from '../../../../test/servers/imap-mailbox.ts'
import { plainMail } from '../../../../test/servers/messages.ts'
import { type Log, silentLog } from '../../../platform/log/index.ts'
import { type AddressGuard, GuardError } from '../../../platform/net/index.ts'
import { workerFile } from '../../../platform/threads/worker-file.ts'
import { draftsConformance } from '../../conformance/drafts.ts'
import { editsConformance } from '../../conformance/edits.ts'
import { folderMailboxConformance } from '../../conformance/folder-mailbox.ts'
import type { FolderSession, ProviderError } from '../../contract/index.ts'
import { imapOnThread } from './on-thread.ts'

const never = new AbortController().signal
const LOST = { name: 'ProviderError', kind: 'unavailable', message: expect.stringContaining('thread') }

describe.skipIf(!dovecotAvailable())('imap on a thread of its own', () => {
  let server: Dovecot
  const shared = imapOnThread({ guard: openGuard, limits: { pollIntervalMs: 100 } })
  beforeAll(async () => {
    server = await startDovecot()
  })
  afterAll(async () => {
    await shared.close()
    await server.stop()
  })

  folderMailboxConformance('imap on a thread', () => imapMailbox(server, {}, shared.mail))
  editsConformance('imap on a thread', () => imapEditsFixture(server, shared.mail))
  draftsConformance('imap on a thread', () => imapDraftsFixture(server, shared.mail))

  it('keeps nothing of a closed session whose events refer to it', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const { access } = await imapMailbox(server, {}, shared.mail)
    const openAndClose = async () => {
      const opened: { session?: FolderSession } = {}
      const listener = () => void opened.session
      opened.session = await shared.mail.openSession(access, { onChange: listener, onClose: listener }, never)
      await opened.session.close()
      return new WeakRef(opened.session)
    }
    const closed = await openAndClose()
    await eventually(() => {
      collectGarbage()
      expect(closed.deref()).toBeUndefined()
    })
  })

  it('saves copies in Sent, and finds them', async () => {
    const { access } = await imapMailbox(server, {}, shared.mail)
    const copies = shared.sentCopies(access)
    const sent = { rfcMessageId: '<copy@example.test>', sentAt: Date.now() }
    expect(await copies.contains(sent, never)).toBe(false)
    async function* bytes() {
      const raw = plainMail({ subject: 'copy', messageId: sent.rfcMessageId })
      yield raw.subarray(0, 10)
      yield raw.subarray(10)
    }
    await copies.save({ ...sent, mayExist: false, bytes }, never)
    expect(await copies.contains(sent, never)).toBe(true)
  })

  it('reads older mail, and asks for what is stored', async () => {
    const { access, deliver } = await imapMailbox(server, {}, shared.mail)
    for (const subject of ['one', 'two', 'three']) await deliver(plainMail({ subject }))
    const session = await shared.mail.openSession(access, { onChange() {}, onClose() {} }, never)
    let cursor = ''
    const request = {
      path: 'INBOX',
      cursor: null,
      initialMessages: 1,
      listStored: async () => [],
      newest: async () => [],
      knownCount: async () => 0,
    }
    for await (const step of session.syncFolder({ ...request, signal: never })) cursor = step.cursor
    await session.close()
    const page = await shared.mail.backfill(access).read({
      path: 'INBOX',
      cursor,
      sinceMs: 0,
      position: null,
      limit: 10,
      signal: never,
      findStored: async () => new Set([2, 3]),
    })
    expect(page).toMatchObject({ passed: 2, messages: [{ subject: 'one' }] })
  })

  it('connects only where the guard of the service allows it', async () => {
    const refusing: AddressGuard = {
      check: async ({ host }) => {
        throw new GuardError('refused', `${host} is not allowed`)
      },
      allowsPlain: () => false,
    }
    const { mail } = closing(imapOnThread({ guard: refusing }))
    const { access } = await imapMailbox(server)
    await expect(mail.verify(access, never)).rejects.toMatchObject({
      name: 'ProviderError',
      kind: 'unavailable',
      message: expect.stringContaining('is not allowed'),
      cause: { name: 'GuardError', reason: 'refused' },
    })
  })

  it('reports a lost thread to its sessions and callers, and uses another one afterwards', async () => {
    const workers: Worker[] = []
    const startWorker = () => {
      const worker = new Worker(workerFile('imap-worker'))
      workers.push(worker)
      return worker
    }
    const { mail } = closing(imapOnThread({ guard: openGuard, startWorker, timing: { restartMs: 500 } }))
    const { access, deliver } = await imapMailbox(server)
    await deliver(plainMail({ subject: 'there' }))
    const closed: (ProviderError | undefined)[] = []
    const events = { onChange() {}, onClose: (error?: ProviderError) => void closed.push(error) }
    const session = await mail.openSession(access, events, never)
    const live = mail.liveReads(access)
    expect(await live.listMessages('INBOX', { limit: 1 })).toMatchObject({ total: 1 })
    const watching = session.watch('INBOX').then(() => workers[0]?.terminate())
    await eventually(() => closed.length > 0)
    await watching
    expect(closed).toMatchObject([LOST])
    await expect(session.listFolders()).rejects.toMatchObject(LOST)
    await mail.closeConnections(access.accountId)
    expect(await session.receivedBytes()).toBeNaN()
    await session.close()
    const edits = mail.edits(access)
    const message = { folderPath: 'INBOX', uidValidity: '1', uid: 1 }
    expect(await edits.changeMessages([{ message }])).toMatchObject([{ ...LOST, retryAfterMs: 500 }])
    expect(workers).toHaveLength(1)
    await eventually(async () => {
      expect(await live.listMessages('INBOX', { limit: 1 })).toMatchObject({ total: 1 })
    })
    expect(workers).toHaveLength(2)
    expect(closed).toHaveLength(1)
  })

  it('ends a thread that hangs, and fails what waits for it', async () => {
    const hung = () => new Worker('for (;;);', { eval: true })
    const { mail } = closing(
      imapOnThread({ guard: openGuard, startWorker: hung, timing: { pingMs: 10, endAfterMs: 50 } }),
    )
    const { access } = await imapMailbox(server)
    await expect(mail.verify(access, never)).rejects.toMatchObject(LOST)
  })

  it('waits before it starts another thread, also when one did not start', async () => {
    let started = 0
    const startWorker = () => {
      started += 1
      return new Worker('throw new Error("it lacks something")', { eval: true })
    }
    const errors: unknown[] = []
    const log: Log = { ...silentLog, error: (_text, fields) => void errors.push(fields?.error) }
    const { mail } = closing(imapOnThread({ guard: openGuard, startWorker, log, timing: { restartMs: 3000 } }))
    const { access } = await imapMailbox(server)
    const verify = () => mail.verify(access, never)
    await expect(verify()).rejects.toMatchObject({ ...LOST, retryAfterMs: 3000 })
    await expect(verify()).rejects.toMatchObject({ ...LOST, retryAfterMs: 3000 })
    expect(started).toBe(1)
    expect(errors).toMatchObject([{ message: 'it lacks something' }])
    await eventually(async () => {
      await expect(verify()).rejects.toMatchObject(LOST)
      expect(started).toBe(2)
    })
  })

  it('closes twice safely, and refuses work afterwards', async () => {
    const { mail, close } = imapOnThread({ guard: openGuard })
    const { access } = await imapMailbox(server)
    await mail.closeConnections()
    const running = mail.verify(access, never)
    await Promise.all([close(), close(), expect(running).rejects.toMatchObject({ kind: 'unavailable' })])
    await expect(mail.verify(access, never)).rejects.toMatchObject({ kind: 'unavailable' })
  })
})
