import PostalMime from 'postal-mime'
import { expect, it } from 'vitest'
import { composeMessage } from '../compose.ts'
import { withShortLines } from './short-lines.ts'

const LONG = 'Grüße, 한글 = . '.repeat(300)
const HEAD = ['From: a@example.com', 'Subject: inner', 'MIME-Version: 1.0']
const lines = (...all: string[]) => Buffer.from([...all, ''].join('\r\n'))
const longest = (bytes: Buffer) =>
  Math.max(
    ...bytes
      .toString('latin1')
      .split('\r\n')
      .map(({ length }) => length),
  )
const readContent = ({ content }: { content: ArrayBuffer | string | Uint8Array }) => Buffer.from(content as ArrayBuffer)

async function shorten(message: Buffer): Promise<Buffer> {
  const short = await withShortLines(message)
  if (short === undefined) throw new Error('the message was not shortened')
  expect(longest(short)).toBeLessThanOrEqual(998)
  return short
}

/** postal-mime ends the content of a part without an encoding with a line feed. */
const readText = async (message: Buffer) => (await PostalMime.parse(message)).text?.trim()

/** The same for every parser: texts, files and header fields. */
async function expectSameContent(message: Buffer, short: Buffer): Promise<void> {
  const [before, after] = await Promise.all([message, short].map((bytes) => PostalMime.parse(bytes)))
  expect([after?.text?.trim(), after?.html?.trim()]).toEqual([before?.text?.trim(), before?.html?.trim()])
  const files = (mail: typeof before) =>
    mail?.attachments.map((attachment) => [
      attachment.filename,
      attachment.mimeType,
      readContent(attachment).toString('latin1').trimEnd(),
    ])
  expect(files(after)).toEqual(files(before))
  const fields = (mail: typeof before) => mail?.headers.filter(({ key }) => key !== 'content-transfer-encoding')
  expect(fields(after)).toEqual(fields(before))
}

it('encodes only the parts with long lines', async () => {
  const kept = ['--b', 'Content-Type: text/plain; charset=utf-8', '', 'short ü', '--b', 'Content-Type: image/png', '']
  const message = lines(
    ...HEAD,
    'Content-Type: multipart/mixed; boundary=b',
    '',
    ...kept,
    'aW1n',
    '--b',
    'Content-Type: text/html; charset=utf-8',
    'Content-Transfer-Encoding: 8bit',
    '',
    `<p>${LONG}</p>`,
    '--b',
    'Content-Type: application/x-test; name=a',
    'Content-Disposition: attachment',
    '',
    `\u0001${'x'.repeat(3000)}`,
    '--b',
    'Content-Type: application/x-test; name=b',
    'Content-Transfer-Encoding: BASE64',
    'Content-Disposition: attachment',
    '',
    Buffer.from(LONG).toString('base64'),
    '--b--',
    'epilogue',
  )
  const short = await shorten(message)
  await expectSameContent(message, short)
  expect(short.includes(lines(...kept, 'aW1n', '--b'))).toBe(true)
  expect(short.toString()).toMatch(/text\/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n/)
  expect(short.toString()).toMatch(/name=a\r\nContent-Disposition: attachment\r\nContent-Transfer-Encoding: base64\r\n/)
  expect(short.toString()).toMatch(/--b--\r\nepilogue\r\n$/)
})

it('returns a message without long lines as it is', async () => {
  const message = lines(...HEAD, '', 'x'.repeat(998), 'ü')
  expect(await withShortLines(message)).toBe(message)
})

it('shortens the lines of a single part, of line feeds only and of messages within messages', async () => {
  const single = lines(...HEAD, 'Content-Type: text/plain; charset=utf-8', '', LONG)
  await expectSameContent(single, await shorten(single))
  const feeds = Buffer.from(single.toString().replaceAll('\r', ''))
  const short = await shorten(feeds)
  expect(await readText(short)).toBe(await readText(feeds))
  const nested = lines(...HEAD, 'Content-Type: message/rfc822', '', single.toString())
  expect(await readText(await shorten(nested))).toBe(await readText(nested))
})

it('folds long header fields, where white space is and where none is', async () => {
  const ids = Array.from({ length: 100 }, (_, n) => `<${n}.${'r'.repeat(30)}@example.com>`)
  const fields = [`X-Words: ${'ein Wört '.repeat(400)}x`, `To: ${ids.map((id) => `P ${id}`).join(',')}`]
  const message = lines(...HEAD, ...fields, `X-Long: ${'é'.repeat(2000)}`, `References: ${ids.join('')}`, '', 'text')
  const short = await shorten(message)
  const [before, after] = await Promise.all([message, short].map((bytes) => PostalMime.parse(bytes)))
  expect(after?.to).toEqual(before?.to)
  const value = (mail: typeof before, key: string) => mail?.headers.find((field) => field.key === key)?.value
  expect(value(after, 'x-words')).toBe(value(before, 'x-words'))
  expect(value(after, 'references')?.replaceAll(' ', '')).toBe(ids.join(''))
  expect(value(after, 'x-long')?.replaceAll(' ', '')).toBe('é'.repeat(2000))
  expect(after?.text).toBe(before?.text)
})

it('encodes and replaces carriage returns within lines', async () => {
  const message = lines('Subject: a\rBcc: eve@example.com', 'Content-Type: text/plain', '', 'one\rtwo\r')
  const short = await shorten(message)
  expect(short.toString()).not.toMatch(/\r[^\n]/)
  expect((await PostalMime.parse(short)).subject).toBe('a Bcc: eve@example.com')
  expect(Buffer.from(short.toString().split('\r\n\r\n')[1] ?? '', 'base64').toString()).toBe('one\rtwo\r\r\n')
})

it('refuses what must not be encoded, and what is too long to be folded', async () => {
  const boundless = lines(...HEAD, 'Content-Type: multipart/mixed', '', LONG)
  expect(await withShortLines(boundless)).toBeUndefined()
  // Folding this field would take too long.
  expect(await withShortLines(lines(`X-Long: ${'x '.repeat(600_000)}`, '', 'text'))).toBeUndefined()
})

it('composes forwarded messages without long lines, and others as files', async () => {
  const original = lines(...HEAD, 'Content-Type: text/plain; charset=utf-8', '', LONG)
  const boundless = lines(...HEAD, 'Content-Type: multipart/mixed', '', LONG)
  const attached = (content: Buffer, contentType = 'message/rfc822') => {
    return { filename: 'm.eml', contentType, content, contentId: null }
  }
  const message = await composeMessage({
    from: { name: '', email: 'a@example.com' },
    to: [],
    cc: [],
    bcc: [],
    replyTo: [],
    subject: 'Fwd',
    text: 'see',
    html: null,
    messageId: '<1@x>',
    inReplyTo: null,
    references: [],
    date: 0,
    sentToken: null,
    headers: [],
    attachments: [attached(original), attached(boundless), attached(boundless, 'message/delivery-status')],
  })
  expect(longest(message)).toBeLessThanOrEqual(998)
  const [first, ...others] = (await PostalMime.parse(message, { forceRfc822Attachments: true })).attachments
  if (first === undefined) throw new Error('nothing is attached')
  expect(first.mimeType).toBe('message/rfc822')
  expect(await readText(readContent(first))).toBe(await readText(original))
  expect(others.map((attachment) => [attachment.mimeType, readContent(attachment).equals(boundless)])).toEqual([
    ['application/octet-stream', true],
    ['application/octet-stream', true],
  ])
})
