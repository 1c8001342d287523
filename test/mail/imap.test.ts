import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../kit/eventually.ts'
import { type Api, api } from '../kit/http/http.ts'
import { type Service, startService } from '../kit/service/service.ts'
import { type Dovecot, dovecotAvailable, startDovecot } from '../servers/dovecot.ts'
import { EXPECTED, messageFile } from './expected.ts'
import { LARGE } from './large.ts'
import { THREADS, threadMessages, threadSubject } from './threads.ts'

interface Listed {
  id: string
  subject: string
  threadId: string
  messageId: string | null
  attachments: { id: string; inline: boolean; filename: string }[]
}

const buildId = (name: string) => `<${name}@cases.example.com>`

describe.skipIf(!dovecotAvailable())('a mailbox of messages as people send them', () => {
  let dovecot: Dovecot
  let service: Service
  let owner: Api
  let path: string
  const byMessageId = new Map<string | null, Listed>()

  beforeAll(async () => {
    ;[dovecot, service] = await Promise.all([startDovecot(), startService()])
    await dovecot.addUser('box', 'secret')
    const files = Object.keys(EXPECTED).map(messageFile)
    const large = Object.values(LARGE).map((make) => Buffer.from(make()))
    const threads = Object.entries(THREADS).flatMap(([name, fields]) => threadMessages(name, fields))
    await dovecot.deliverMany('box', [...files, ...large, ...threads])
    owner = api(service.url, service.key)
    const { host, imapsPort: port } = dovecot
    const access = { host, port, allowSelfSigned: true, username: 'box', password: 'secret' }
    const connected = await owner.post('/accounts', { provider: 'imap', email: 'box@example.com', ...access })
    expect(connected.json).toMatchObject({ email: 'box@example.com' })
    const { id } = connected.json
    path = `/accounts/${id}/messages`
    await eventually(async () => {
      const { messages } = (await owner.get(`${path}?limit=100`)).json
      expect(messages).toHaveLength(files.length + large.length + threads.length)
      for (const message of messages) byMessageId.set(message.messageId, message)
    })
  })
  afterAll(async () => {
    await service?.stop()
    await dovecot?.stop()
  })

  async function attachmentContents(message: Listed): Promise<(Listed['attachments'][number] & { content: string })[]> {
    return Promise.all(
      message.attachments.map(async (file) => {
        const { status, text } = await owner.get(`${path}/${message.id}/attachments/${file.id}`)
        expect(status).toBe(200)
        return { ...file, content: text }
      }),
    )
  }

  it.each(Object.entries(EXPECTED))('shows %s', async (name, { text = [], html = [], absent, ...exact }) => {
    const listed = byMessageId.get(buildId(name))
    if (listed === undefined) throw new Error(`the list has no ${name}`)
    const detail = (await owner.get(`${path}/${listed.id}`)).json
    const attachments = exact.attachments?.some(({ content }) => content !== undefined)
      ? await attachmentContents(listed)
      : listed.attachments
    expect({ ...listed, attachments }).toMatchObject(exact)
    expect(detail).toMatchObject({ subject: listed.subject, attachments: listed.attachments })
    for (const words of text) expect(detail.body.text).toContain(words)
    for (const words of html) expect(detail.body.html).toContain(words)
    if (absent !== undefined) expect(JSON.stringify([detail.body, detail.snippet])).not.toContain(absent)
    const [searched] = text.join(' ').match(/[\p{L}]{4,}/u) ?? []
    if (searched === undefined) return
    const found = (await owner.get(`${path}?q=${encodeURIComponent(searched)}`)).json.messages
    expect(found.map((message: Listed) => message.messageId)).toContain(buildId(name))
  })

  it.each(Object.entries(THREADS))('keeps a thread with %s together', (name, messages) => {
    const found = [...byMessageId.values()].filter(({ subject }) => subject === threadSubject(name))
    expect(found).toHaveLength(messages.length)
    expect(new Set(found.map(({ threadId }) => threadId)).size).toBe(1)
  })

  const large = (subject: string) => [...byMessageId.values()].find((message) => message.subject === subject)

  it('lists and returns the attachments of a message whose structure is over the limits', async () => {
    const message = large('forwarded message to 1,500 people')
    expect(message?.attachments.map(({ filename }) => filename)).toEqual(['fwd.eml', 'r.pdf'])
    const [forwarded, pdf] = message === undefined ? [] : await attachmentContents(message)
    expect(forwarded?.content).toContain('inner text')
    expect(pdf?.content).toBe('%PDF-1.4')
  })

  it('lists the first 200 attachments of a message with more', async () => {
    const message = large('message of 328 small files')
    expect(message?.attachments).toHaveLength(200)
    expect(message?.attachments[199]).toMatchObject({ filename: '6294736_18_01042023_199.txt', inline: false })
  })

  it('lists the first 200 images of a newsletter as inline', () => {
    const images = large('newsletter of 300 images')?.attachments ?? []
    expect(images.filter(({ inline }) => inline)).toHaveLength(200)
  })

  it('reads the fields behind a list of 6,000 recipients', async () => {
    const message = byMessageId.get('<giant-to@cases.example.com>')
    expect(message).toMatchObject({ subject: 'message to 6,000 people', from: { email: 'sender@example.com' } })
    const detail = (await owner.get(`${path}/${message?.id}`)).json
    expect(detail.body.text).toBe('x\n')
  })
})
