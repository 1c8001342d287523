import { expect, it, onTestFinished } from 'vitest'
import { microsoftDraftsFixture } from '../../../test/servers/drafts-fixtures.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { draftsConformance } from '../contract/drafts-conformance.ts'

draftsConformance('microsoft', microsoftDraftsFixture)

it('completes a draft whose attachments an earlier request added in part', async () => {
  const { graph, user, mail, access, stop } = await microsoftMailbox()
  onTestFinished(stop)
  const drafts = mail.drafts(access, graph.folderId(user, 'drafts'))
  const attachments = ['a', 'b', 'c'].map((name) => {
    return { filename: `${name}.txt`, contentType: 'text/plain', content: Buffer.from(name), contentId: null }
  })
  const draft = {
    ...{ from: { name: '', email: user }, to: [], cc: [], bcc: [], subject: 'Files', messageId: '<d1@x>' },
    ...{ body: { text: 'x', html: null }, date: Date.now(), attachments },
  }
  graph.fail({ as: 'reset', executes: true, on: /\/attachments$/ })
  await expect(drafts.create(draft, { mayExist: false })).rejects.toMatchObject({ kind: 'unavailable' })
  const { message } = await drafts.create(draft, { mayExist: true })
  expect(message.attachments.map(({ filename }) => filename)).toEqual(['a.txt', 'b.txt', 'c.txt'])
  expect(graph.messages(user)).toHaveLength(1)
})
