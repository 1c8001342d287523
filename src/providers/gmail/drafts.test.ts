import { expect, it, onTestFinished } from 'vitest'
import { gmailDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { gmailMailbox } from '../../../test/servers/gmail-mailbox.ts'
import { draftsConformance } from '../conformance/drafts.ts'

draftsConformance('gmail', gmailDraftsFixture)

it('uploads a large draft, which keeps its thread', async () => {
  const { google, user, mail, access, stop } = await gmailMailbox()
  onTestFinished(stop)
  const drafts = mail.drafts(access, 'DRAFT')
  const draft = {
    from: { name: '', email: user },
    to: [],
    cc: [],
    bcc: [],
    subject: 'Small',
    messageId: '<d1@x>',
    body: { text: 'x', html: null },
    date: Date.now(),
  }
  const { message } = await drafts.create(draft, { mayExist: false })
  const { draftId = null, messageId, threadId } = message
  const ref = { draftId, messageId, providerMessageId: message.providerMessageId ?? '', location: null }
  const text = `${'x'.repeat(75)}\n`.repeat(58_000)
  const replaced = await drafts.replace(ref, { ...draft, subject: 'Large', body: { text, html: null } })
  expect(replaced.message).toMatchObject({ subject: 'Large', draftId, threadId })
  expect(replaced.message.sizeBytes).toBeGreaterThan(4_300_000)
  const uploads = Object.entries(google.calls.counts()).filter(([endpoint]) => endpoint.includes('/upload/'))
  expect(uploads).toEqual([['PUT /upload/gmail/v1/users/{userId}/drafts/{id}', 2]])
})
