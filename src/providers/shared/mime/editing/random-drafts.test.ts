import { spawnSync } from 'node:child_process'
import MailComposer from 'nodemailer/lib/mail-composer'
import PostalMime from 'postal-mime'
import { expect, inject, it } from 'vitest'
import { random } from '../../../../../test/kit/random/random.ts'
import type { DraftChange } from '../../../contract/index.ts'
import { editDraft } from './edit-draft.ts'

type Chance = () => number

const ALWAYS = { messageId: '<new@x>', date: Date.UTC(2026, 10, 21) }
const DRAFTS = 40
/** Fields of other programs, which go between those of a message. */
const ODD_FIELDS = [
  'X-Priority: 1 (Highest)',
  'References:<r1@x><r2@x>',
  'X-Fold:\r\n one\r\n\ttwo\r\n ',
  'X-\xe4\xfc: 8-bit \xff name',
  'X-Latin: gr\xfc\xdfe',
  'Disposition-Notification-To : Ada <a@x.example>',
  'List-Unsubscribe:\t<mailto:u@x>,\r\n\t <https://x.example/>',
  'a line that is no field',
  'Content-Language: de',
]

const pickOne = <T>(chance: Chance, items: readonly T[]): T => items[Math.floor(chance() * items.length)] as T
const bytes = (chance: Chance, most: number) =>
  Buffer.from(Array.from({ length: Math.floor(chance() * most) }, () => Math.floor(chance() * 256)))

function composed(chance: Chance): Promise<Buffer> {
  const words = () => Array.from({ length: 1 + Math.floor(chance() * 20) }, () => pickOne(chance, WORDS)).join(' ')
  const images = Array.from({ length: Math.floor(chance() * 3) }, (_, n) => `image${n}@x.example`)
  const shown = images.filter(() => chance() < 0.7).map((id) => `<img src="cid:${id}">`)
  const files = Array.from({ length: Math.floor(chance() * 4) }, (_, n) => ({
    filename: pickOne(chance, [`größe ${n}.bin`, `${n}.txt`, `${'n'.repeat(200)}${n}`]),
    contentType: pickOne(chance, ['application/x-test', 'text/plain; charset=koi8-r', 'text/html', 'message/rfc822']),
    content: pickOne(chance, [bytes(chance, 300), Buffer.from('Subject: x\r\n\r\n--mix\r\n')]),
  }))
  const node = new MailComposer({
    from: 'd@acme.example',
    to: Array.from({ length: 1 + Math.floor(chance() * 20) }, (_, n) => `Persön ${n} <p${n}@example.com>`),
    subject: words(),
    messageId: '<draft@x>',
    date: new Date(0),
    text: words(),
    ...(chance() < 0.7 && { html: `<p>${words()}</p>${shown.join('')}` }),
    ...(chance() < 0.3 && { icalEvent: { method: 'REQUEST', content: 'BEGIN:VCALENDAR', filename: 'invite.ics' } }),
    attachments: [...images.map((cid) => ({ filename: `${cid}.png`, content: bytes(chance, 100), cid })), ...files],
    newline: 'windows',
  })
  return node.compile().build()
}

const WORDS = ['Grüße', 'draft', '한글메일', 'x'.repeat(90), '--', '--mix', '\r\n', '€', '.', 'From']

/** Puts odd fields between the fields of a message. */
function withOddFields(message: string, chance: Chance): string {
  const end = message.indexOf('\r\n\r\n')
  const fields = message.slice(0, end).split(/\r\n(?![ \t])/)
  for (const field of ODD_FIELDS) {
    if (chance() < 0.6) fields.splice(1 + Math.floor(chance() * fields.length), 0, field)
  }
  return fields.join('\r\n') + message.slice(end)
}

interface Parts {
  /** Header fields of the message without those of its content. */
  fields: string[]
  leaves: { content: string[]; body: string }[]
}

/** Takes a message apart without the code that edits it. Boundaries occur nowhere else in it. */
function readParts(message: string): Parts {
  const leaves: Parts['leaves'] = []
  const visit = (part: string): string[] => {
    const end = part.startsWith('\r\n') ? 0 : part.indexOf('\r\n\r\n')
    const fields = part.slice(0, end).split(/\r\n(?![ \t])/)
    const content = fields.filter((field) => /^content-/i.test(field))
    const type = content.find((field) => /^content-type:/i.test(field)) ?? ''
    const pieces = [...type.matchAll(/boundary(?:\*\d\*)?="?(?:us-ascii'')?([^";\s]+)/gi)]
    const boundary = pieces.map(([, piece = '']) => decodeURIComponent(piece)).join('')
    if (boundary === '') {
      leaves.push({ content, body: part.slice(end) })
      return fields
    }
    const [inside = ''] = part.split(`\r\n--${boundary}--`)
    for (const child of inside.split(`\r\n--${boundary}\r\n`).slice(1)) visit(child)
    return fields
  }
  return { fields: visit(message).filter((field) => !/^(content-|mime-version)/i.test(field)), leaves }
}

const isBody = ({ content }: Parts['leaves'][number]) => {
  const text = content.join('\n')
  return /^content-type: text\/(plain|html)/im.test(text) && !/^content-disposition/im.test(text)
}

const fieldName = (field: string) => field.slice(0, field.indexOf(':')).trim().toLowerCase()
const unnamed = (parts: Parts, ...names: string[]) =>
  parts.fields.filter((field) => !['date', ...names].includes(fieldName(field)))
const parse = (message: string) => PostalMime.parse(Buffer.from(message, 'latin1'), { forceRfc822Attachments: true })
const readContent = ({ content }: { content: ArrayBuffer | string | Uint8Array }) =>
  Buffer.from(content as ArrayBuffer).toString('latin1')

/** Changes one member of a draft, and checks that nothing else has changed. */
async function checkEdit(message: string, chance: Chance): Promise<void> {
  const [before, parsedBefore] = [readParts(message), await parse(message)]
  const edit = async (change: Partial<DraftChange>) => {
    const source = Buffer.from(message, 'latin1')
    const edited = await editDraft(source, { ...ALWAYS, ...change }, { addsMessageId: false })
    const text = edited.toString('latin1')
    return { text, parts: readParts(text), parsed: await parse(text) }
  }
  const people = [{ name: 'Zoë, Z', email: 'z@example.com' }]
  const member = pickOne(chance, ['subject', 'to', 'cc', 'bcc', 'body', 'attachments'] as const)
  if (member === 'body') {
    const html = chance() < 0.5 ? '<p>new <b>HTML</b></p>' : null
    const { parts, parsed } = await edit({ body: { text: html === null ? 'new text' : null, html } })
    expect(unnamed(parts)).toEqual(unnamed(before))
    expect([parsed.text?.trim(), parsed.html?.trim()]).toEqual(
      html === null ? ['new text', undefined] : ['new HTML', html],
    )
    const others = before.leaves.filter((leaf) => !isBody(leaf)).map(({ body }) => body)
    expect(parts.leaves.filter((leaf) => !isBody(leaf)).map(({ body }) => body)).toEqual(others)
    const shown = (mail: typeof parsed) =>
      mail.attachments.map((attachment) => [attachment.filename, attachment.mimeType, readContent(attachment)])
    expect(shown(parsed)).toEqual(shown(parsedBefore))
    return
  }
  if (member === 'attachments') {
    const file = { filename: 'new.txt', contentType: 'text/plain', content: Buffer.from('new file'), contentId: null }
    const { parts, parsed } = await edit({ attachments: [file] })
    expect(unnamed(parts)).toEqual(unnamed(before))
    const texts = (mail: typeof parsed) => [mail.text?.trim(), mail.html?.trim()]
    expect(texts(parsed)).toEqual(texts(parsedBefore))
    const bodies = (all: Parts) => all.leaves.filter(isBody).map(({ body }) => body.trim())
    expect(bodies(parts)).toEqual(bodies(before))
    const links = parsedBefore.html ?? ''
    const stay = parsedBefore.attachments.filter(({ contentId, mimeType, disposition }) => {
      const isShown = contentId !== undefined && links.includes(`cid:${contentId.replace(/[<>]/g, '')}`)
      return isShown || (mimeType === 'text/calendar' && disposition === null)
    })
    const expected = [...stay.map(readContent), 'new file'].sort()
    expect(parsed.attachments.map((attachment) => readContent(attachment).trim()).sort()).toEqual(
      expected.map((text) => text.trim()).sort(),
    )
    return
  }
  const isEmpty = member !== 'subject' && chance() < 0.3
  const change = member === 'subject' ? { subject: 'Neuer Betreff ü' } : { [member]: isEmpty ? [] : people }
  const { text, parts, parsed } = await edit(change)
  expect(unnamed(parts, member)).toEqual(unnamed(before, member))
  expect(text.slice(text.indexOf('\r\n\r\n'))).toBe(message.slice(message.indexOf('\r\n\r\n')))
  const shown = { subject: parsed.subject, to: parsed.to, cc: parsed.cc, bcc: parsed.bcc }[member]
  const addresses = isEmpty ? undefined : [{ name: 'Zoë, Z', address: 'z@example.com' }]
  expect(shown).toEqual(member === 'subject' ? 'Neuer Betreff ü' : addresses)
}

it('keeps everything but the member that changes of random drafts of nodemailer', async () => {
  const chance = random()
  for (let n = 0; n < DRAFTS; n += 1) {
    await checkEdit(withOddFields((await composed(chance)).toString('latin1'), chance), chance)
  }
})

it("keeps everything but the member that changes of random drafts of Python's email package", async () => {
  const chance = random()
  const python = spawnSync('python3', ['test/kit/messages/random_drafts.py', `${inject('seed')}`, `${DRAFTS}`])
  // Without Python there are no such drafts.
  const drafts: string[] = python.error === undefined ? JSON.parse(python.stdout.toString()) : []
  for (const draft of drafts)
    await checkEdit(withOddFields(Buffer.from(draft, 'base64').toString('latin1'), chance), chance)
})
