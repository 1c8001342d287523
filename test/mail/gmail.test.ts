import type { GoogleMessage } from '@emulators/google'
import { describe, expect, it } from 'vitest'
import { foundMessage, messageBody } from '../../src/providers/gmail/map.ts'
import { findAttachment, messageResource } from '../servers/google/payload.ts'
import { EXPECTED, messageFile } from './expected.ts'

/** Gmail decodes these before anybody sees them, and the fake does not do it as well. */
const DECODED_BY_GMAIL = ['cs-raw-gbk-head', 'ew-unknown8', 'mi-b64-plainfooter']
const CASES = Object.entries(EXPECTED).filter(([name]) => !DECODED_BY_GMAIL.includes(name))

describe('a message as people send it, as Gmail describes it', () => {
  it.each(CASES)('%s', async (name, { text = [], html = [], absent, ...exact }) => {
    const raw = messageFile(name).toString('base64url')
    const stored = {
      gmail_id: 'm1',
      thread_id: 't1',
      label_ids: ['INBOX'],
      internal_date: '1760000000000',
      raw,
    } as GoogleMessage
    const resource = messageResource(stored, 'full')
    const { message } = foundMessage('m1', resource, { isNew: true, nowMs: 0 })
    const shown = {
      ...message,
      date: message.date === null ? null : new Date(message.date).toISOString(),
      attachments: message.attachments.map((file) => ({ ...file, size: file.sizeBytes })),
      hasAttachments: message.attachments.some(({ inline }) => !inline),
    }
    const attachments = exact.attachments?.map(({ content: _, ...file }) => file)
    expect(shown).toMatchObject({ ...exact, ...(attachments && { attachments }) })
    const body = await messageBody(resource, async ({ attachmentId = '' }) => {
      const { data = '' } = (findAttachment(stored, attachmentId) ?? {}) as { data?: string }
      return Buffer.from(data, 'base64url')
    })
    for (const words of text) expect(body.text).toContain(words)
    for (const words of html) expect(body.html).toContain(words)
    if (absent !== undefined) expect(JSON.stringify([body.text, body.html, message.snippet])).not.toContain(absent)
  })
})
