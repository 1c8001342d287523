import { spawnSync } from 'node:child_process'
import MailComposer from 'nodemailer/lib/mail-composer'
import { expect, inject, it } from 'vitest'
import { decodedContent, readMessage } from '../../src/providers/shared/mime/index.ts'
import { random } from '../kit/random/random.ts'

const MESSAGES = 60

/** A message that another program composed, with its parts. */
interface Composed {
  /** Base64. */
  raw: string
  subject: string
  from: string
  text: string | null
  html: string | null
  files: [filename: string, base64: string, isShown: boolean][]
}

const withLf = (text: string | null) => text?.replaceAll('\r\n', '\n').trimEnd() ?? null

async function expectAsComposed({ raw, subject, from, text, html, files }: Composed): Promise<void> {
  const { fields, body, attachments, find } = await readMessage(Buffer.from(raw, 'base64'))
  expect([fields.subject, fields.from]).toEqual([subject, { name: from, email: 'ada@mail.example' }])
  expect([withLf(body.text), withLf(body.html)]).toEqual([withLf(text), withLf(html)])
  const read = attachments.map(({ id, filename, inline, sizeBytes }) => {
    const { part, content } = find(id) ?? {}
    const bytes = part && content && decodedContent(content, part.encoding)
    return [filename, bytes?.toString('base64'), inline, sizeBytes]
  })
  expect(read).toEqual(files.map((file) => [...file, Buffer.from(file[1], 'base64').length]))
}

const WORDS = ['Grüße', 'draft', '한글메일', 'x'.repeat(90), '--', '€', '.', 'From', '日本語']
const NAMES = ['Müller, Hans', 'Ada (Lovelace)', 'Jörg "JJ" K', '日本 太郎', 'Plain Name']

async function composedByNodemailer(chance: () => number): Promise<Composed> {
  const pickOne = <T>(items: readonly T[]): T => items[Math.floor(chance() * items.length)] as T
  const words = () => Array.from({ length: 1 + Math.floor(chance() * 20) }, () => pickOne(WORDS)).join(' ')
  const bytes = () => Buffer.from(Array.from({ length: Math.floor(chance() * 300) }, () => Math.floor(chance() * 256)))
  const images = Array.from({ length: Math.floor(chance() * 3) }, (_, n) => `image${n}@mail.example`)
  const shown = images.filter(() => chance() < 0.6)
  const html = chance() < 0.7 ? `<p>${words()}</p>${shown.map((id) => `<img src="cid:${id}">`).join('')}` : null
  const [subject, from, text] = [words(), pickOne(NAMES), words()]
  const attachments: { filename: string; content: Buffer; cid?: string }[] = [
    ...images.map((cid) => ({ filename: `${cid}.png`, content: bytes(), cid })),
    ...Array.from({ length: Math.floor(chance() * 4) }, (_, n) => ({
      filename: pickOne([`größe ${n}.bin`, `${n}.dat`, `${'n'.repeat(150)}${n}.bin`]),
      content: bytes(),
    })),
  ]
  const raw = await new MailComposer({
    from: { name: from, address: 'ada@mail.example' },
    subject,
    text,
    ...(html !== null && { html }),
    attachments,
    newline: 'windows',
  })
    .compile()
    .build()
  const files = attachments.map(({ filename, content, cid }): Composed['files'][number] => {
    const isShown = html !== null && cid !== undefined && shown.includes(cid)
    return [filename, content.toString('base64'), isShown]
  })
  return { raw: raw.toString('base64'), subject, from, text, html, files }
}

it('reads back random messages of nodemailer as they were composed', async () => {
  const chance = random()
  for (let n = 0; n < MESSAGES; n += 1) await expectAsComposed(await composedByNodemailer(chance))
})

it("reads back random messages of Python's email package as they were composed", async () => {
  const python = spawnSync('python3', ['test/kit/messages/random_messages.py', `${inject('seed')}`, `${MESSAGES}`])
  // Without Python there are no such messages.
  const messages: Composed[] = python.error === undefined ? JSON.parse(python.stdout.toString()) : []
  for (const message of messages) await expectAsComposed(message)
})
