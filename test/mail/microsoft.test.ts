import { describe, expect, it } from 'vitest'
import { foundMessage, readHeaders } from '../../src/providers/microsoft/map.ts'
import { EXPECTED, messageFile } from './expected.ts'
import { THREADS } from './threads.ts'

const CONTEXT = { isNew: true, folder: 'inbox', attachments: [], nowMs: 0, error: null }
/** Graph's JSON has text, so Exchange has decoded these bytes before. */
const NO_TEXT = ['cs-raw-gbk-head']
const DAMAGED = Object.entries(EXPECTED).filter(
  ([name, { subject, from }]) => (subject !== undefined || from !== undefined) && !NO_TEXT.includes(name),
)

/** Field by field, as Graph lists `internetMessageHeaders`. */
function parseFields(header: string) {
  const fields = header.split(/\r?\n(?![ \t])/)
  return fields.map((field) => {
    const colon = field.indexOf(':')
    return { name: field.slice(0, colon), value: field.slice(colon + 1).trim() }
  })
}

describe('a message as people send it, of which Graph says less than its header', () => {
  it.each(DAMAGED)('%s', (name, { subject, from }) => {
    const [header = ''] = messageFile(name)
      .toString('utf8')
      .split(/\r?\n\r?\n/)
    const item = {
      id: 'm1',
      isDraft: false,
      subject: 'damaged \ufffd',
      from: { emailAddress: { name: 'damaged', address: '' } },
      internetMessageHeaders: parseFields(header),
    }
    const { message } = foundMessage(item, { ...CONTEXT, headers: readHeaders(item) })
    if (subject !== undefined) expect(message.subject).toBe(subject)
    if (from !== undefined) expect(message.from).toMatchObject(from)
  })
})

describe('the ids of a thread, as Graph gives the text of the fields', () => {
  it.each(Object.entries(THREADS))('%s', (_name, messages) => {
    const [root, ...others] = messages.map((lines) => {
      const fields = parseFields(lines.join('\r\n'))
      const fieldText = (name: string) => {
        const values = fields.filter((field) => field.name.toLowerCase() === name).map(({ value }) => value)
        return values.length === 0 ? undefined : values.join(' ')
      }
      const properties = { 'String 0x1042': fieldText('in-reply-to'), 'String 0x1039': fieldText('references') }
      const item = {
        id: 'm1',
        internetMessageId: fieldText('message-id'),
        singleValueExtendedProperties: Object.entries(properties).map(([id, value]) => ({ id, value })),
      }
      return foundMessage(item, CONTEXT).message
    })
    expect(root?.messageId).toMatch(/^<[^<>\s]+>$/)
    for (const { references, inReplyTo } of others) expect([...references, inReplyTo]).toContain(root?.messageId)
  })
})
