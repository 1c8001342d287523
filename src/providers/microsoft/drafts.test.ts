import { expect, it, onTestFinished } from 'vitest'
import { microsoftDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { draftsConformance } from '../conformance/drafts.ts'

draftsConformance('microsoft', () => microsoftDraftsFixture())
draftsConformance('a tenant at Microsoft', () => microsoftDraftsFixture('tenant'))

it('deletes a draft where there is no permanentDelete', async () => {
  const { graph, user, mail, access, stop } = await microsoftMailbox()
  onTestFinished(stop)
  graph.cloud = 'national'
  const id = await graph.deliver(user, plainMail(), { folder: 'drafts', draft: true })
  const draft = { providerMessageId: id, draftId: null, messageId: null, location: null }
  await mail.drafts(access, graph.folderId(user, 'drafts')).delete(draft)
  expect(graph.messages(user)).toEqual([])
})

it('completes a draft whose attachments an earlier request added in part', async () => {
  const { graph, user, mail, access, stop } = await microsoftMailbox()
  onTestFinished(stop)
  const drafts = mail.drafts(access, graph.folderId(user, 'drafts'))
  const attachments = ['a', 'b', 'c'].map((name) => {
    return { filename: `${name}.txt`, contentType: 'text/plain', content: Buffer.from(name), contentId: null }
  })
  const draft = {
    from: { name: '', email: user },
    to: [],
    cc: [],
    bcc: [],
    subject: 'Files',
    messageId: '<d1@x>',
    body: { text: 'x', html: null },
    date: Date.now(),
    attachments,
  }
  graph.fail({ as: 'reset', executes: true, on: /\/attachments$/ })
  await expect(drafts.create(draft, { mayExist: false })).rejects.toMatchObject({ kind: 'unavailable' })
  const { message } = await drafts.create(draft, { mayExist: true })
  expect(message.attachments.map(({ filename }) => filename)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  expect(graph.messages(user)).toHaveLength(1)
})
