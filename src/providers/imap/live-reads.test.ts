import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, it } from 'vitest'
import { eventually } from '../../../test/kit/eventually.ts'
import { dovecotAvailable, startDovecot } from '../../../test/servers/dovecot.ts'
import { imapAccess, openGuard } from '../../../test/servers/imap-mailbox.ts'
import { alternativeMail, deepMail, htmlMail, hugeMail, plainMail } from '../../../test/servers/messages.ts'
import { systemClock } from '../../platform/time/clock.ts'
import type { MessageLocation } from '../contract/index.ts'
import type { ImapLimits } from './limits.ts'
import { imapProvider } from './provider.ts'

describe.skipIf(!dovecotAvailable())('live reads over IMAP', () => {
  const cleanUps: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
  })

  async function mailbox(limits: Partial<ImapLimits> = {}) {
    const server = await startDovecot()
    cleanUps.push(() => server.stop())
    await server.addUser('ann', 'secret')
    const { mail } = imapProvider({ guard: openGuard, clock: systemClock, limits })
    cleanUps.push(() => mail.closeConnections())
    const live = mail.liveReads(imapAccess(server, 'ann', 'secret'))
    async function findLocation(subject: string): Promise<MessageLocation> {
      const { messages } = await live.listMessages('INBOX', { limit: 100 })
      const place = messages.find((message) => message.subject === subject)?.location
      if (place === undefined) throw new Error(`no message "${subject}"`)
      return { folderPath: 'INBOX', ...place }
    }
    const connections = async () => (await server.doveadm('-f', 'tab', 'who')).includes('ann')
    return { server, mail, live, findLocation, connections }
  }

  it('find a message that arrived after the folder was selected', async () => {
    const { server, live, findLocation } = await mailbox()
    await server.deliver('ann', plainMail({ subject: 'first', text: 'one' }))
    const first = await findLocation('first')
    await live.getBody(first)
    await server.deliver('ann', plainMail({ subject: 'second', text: 'two' }))
    const second = { ...first, uid: first.uid + 1 }
    expect((await live.getBody(second)).text?.trim()).toBe('two')
    await server.deliver('ann', plainMail({ subject: 'third', text: 'three' }))
    const raw = await buffer(await (await live.openRaw({ ...first, uid: first.uid + 2 })).read())
    expect(raw.toString()).toContain('Subject: third')
    await expect(live.getBody({ ...first, uid: first.uid + 3 })).rejects.toMatchObject({ kind: 'not_found' })
  })

  it('stream a 30 MB message and its attachment in bounded memory, while other reads run', async () => {
    const { server, live, findLocation } = await mailbox()
    const raw = hugeMail(30 * 1024 * 1024, { subject: 'huge' })
    const encoded = raw.toString('latin1').split('base64\r\n\r\n')[1]?.split('\r\n--mix--')[0] ?? ''
    const attachedHash = createHash('sha256').update(Buffer.from(encoded, 'base64')).digest('hex')
    await server.deliver('ann', raw)
    const place = await findLocation('huge')
    const { messages } = await live.listMessages('INBOX', { limit: 1 })
    expect(messages[0]).toMatchObject({ snippet: 'See the attachment.', error: null })
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    // Memory in use after garbage collection.
    const held = () => {
      collect()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      return heapUsed + arrayBuffers
    }
    const before = held()
    let peak = 0
    let pieces = 0
    let served = 0
    const drain = async (stream: NodeJS.ReadableStream) => {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const chunk of stream) {
        hash.update(chunk)
        bytes += chunk.length
        pieces += 1
        if (pieces % 4 === 0) peak = Math.max(peak, held() - before)
        if (bytes > 10_000_000 && served < 1) served = (await live.listFolders()).length
      }
      return { bytes, hash: hash.digest('hex') }
    }
    const opened = await live.openRaw(place)
    expect(opened.sizeBytes).toBeGreaterThan(29_000_000)
    expect((await drain(await opened.read())).bytes).toBe(opened.sizeBytes)
    expect(served).toBeGreaterThan(0)
    const end = await buffer(await opened.read({ from: (opened.sizeBytes ?? 0) - 1000, length: 1000 }))
    expect(end.equals(raw.subarray(-1000))).toBe(true)
    const attachment = await live.openAttachment(place, messages[0]?.attachments[0]?.id ?? '')
    const drained = await drain(await attachment.read())
    expect(drained.hash).toBe(attachedHash)
    expect(peak).toBeLessThan(20 * 1024 * 1024)
  })

  it('read every form of a body', async () => {
    const { server, live, findLocation } = await mailbox()
    await server.deliverMany('ann', [
      plainMail({ subject: 'plain', text: 'Grüße' }),
      htmlMail({ subject: 'html', html: '<p>Größe</p>' }),
      alternativeMail({ subject: 'both', text: 'words', html: '<b>words</b>' }),
      deepMail(150),
    ])
    const readBody = async (subject: string) => live.getBody(await findLocation(subject))
    expect(await readBody('plain')).toMatchObject({ text: 'Grüße\n', html: null })
    expect(await readBody('html')).toMatchObject({ text: null, html: '<p>Größe</p>\n' })
    expect(await readBody('both')).toMatchObject({ text: 'words', html: '<b>words</b>' })
    expect((await readBody('both')).headers).toContainEqual({ name: 'Subject', value: 'both' })
    expect((await readBody('150 deep')).headers).toContainEqual({ name: 'Subject', value: '150 deep' })
  })

  it('page by offset and by UID, with the total', async () => {
    const { server, live } = await mailbox()
    await server.deliverMany(
      'ann',
      Array.from({ length: 9 }, (_, i) => plainMail({ subject: `mail ${i + 1}` })),
    )
    const subjects = async (options: { limit: number; offset?: number; beforeUid?: number }) => {
      const { messages, total } = await live.listMessages('INBOX', options)
      expect(total).toBe(9)
      return messages.map((message) => message.subject)
    }
    expect(await subjects({ limit: 2 })).toEqual(['mail 9', 'mail 8'])
    expect(await subjects({ limit: 2, offset: 3 })).toEqual(['mail 6', 'mail 5'])
    expect(await subjects({ limit: 5, beforeUid: 4 })).toEqual(['mail 3', 'mail 2', 'mail 1'])
    expect(await subjects({ limit: 5, beforeUid: 1 })).toEqual([])
    expect(await subjects({ limit: 5, offset: 9 })).toEqual([])
  })

  it('close the connection when idle, and open it again when needed', async () => {
    const { live, connections } = await mailbox({ requestIdleMs: 100 })
    await live.listFolders()
    await eventually(async () => !(await connections()))
    expect(await live.listFolders()).not.toEqual([])
  })

  it('continue after a restart of the server', async () => {
    const { server, live } = await mailbox()
    await live.listFolders()
    await server.restart()
    expect(await live.listFolders()).not.toEqual([])
  })

  it('end in time when the server does not respond', async () => {
    const { server, live } = await mailbox({ requestWaitMs: 600, silenceMs: 600 })
    server.pause()
    const timedOut = { name: 'ProviderError', kind: 'unavailable', timedOut: true }
    await expect(live.listFolders()).rejects.toMatchObject(timedOut)
    server.resume()
    await eventually(async () => (await live.listFolders()).length > 0)
    server.pause()
    const both = [live.listFolders(), live.listMessages('INBOX', { limit: 1 })]
    for (const outcome of await Promise.allSettled(both)) expect(outcome).toMatchObject({ reason: timedOut })
    server.resume()
  })

  it('run one at a time per account, each in its folder', async () => {
    const { server, live } = await mailbox()
    await server.deliver('ann', plainMail({ subject: 'in' }))
    await server.deliver('ann', plainMail({ subject: 'out' }), { folder: 'Sent' })
    const lists = await Promise.all(
      Array.from({ length: 10 }, (_, i) => live.listMessages(i % 2 === 0 ? 'INBOX' : 'Sent', { limit: 5 })),
    )
    expect(lists.map(({ messages }) => messages[0]?.subject)).toEqual(
      Array.from({ length: 10 }, (_, i) => (i % 2 === 0 ? 'in' : 'out')),
    )
  })

  it('use a new password at once, and fail when the connection is closed', async () => {
    const { server, mail, live, connections } = await mailbox()
    await live.listFolders()
    await server.setPassword('ann', 'new')
    expect(await mail.liveReads(imapAccess(server, 'ann', 'new')).listFolders()).not.toEqual([])
    await mail.closeConnections('acc_ann')
    await eventually(async () => !(await connections()))
    await expect(live.listFolders()).rejects.toMatchObject({ kind: 'auth_expired' })
  })
})
