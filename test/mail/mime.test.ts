import { describe, expect, it } from 'vitest'
import { decodedContent, readMessage } from '../../src/providers/shared/mime/index.ts'
import { EXPECTED, messageFile } from './expected.ts'

describe('a message as people send it, read from its bytes', () => {
  it.each(Object.entries(EXPECTED))('%s', async (name, expected) => {
    const { fields, body, shown, attachments, find } = await readMessage(messageFile(name))
    const files = attachments.map((file) => {
      const { part, content } = find(file.id) ?? {}
      const bytes = part && content && decodedContent(content, part.encoding)
      return { ...file, size: file.sizeBytes, content: bytes?.toString('latin1') }
    })
    const read = {
      ...fields,
      date: fields.date === null ? null : new Date(fields.date).toISOString(),
      snippet: shown.snippet,
      hasAttachments: attachments.some(({ inline }) => !inline),
      attachments: files,
    }
    const { text = [], html = [], absent, ...exact } = expected
    expect(read).toMatchObject(exact)
    for (const words of text) expect(body.text).toContain(words)
    for (const words of html) expect(body.html).toContain(words)
    if (text.length > 0) expect(shown.text).toContain(text[0]?.split('\n')[0])
    if (absent !== undefined) expect(JSON.stringify([body, shown])).not.toContain(absent)
  })
})
