import { describe, expect, it, onTestFinished } from 'vitest'
import { idChanges } from '../../../test/servers/changes-fixtures.ts'
import { plainMail } from '../../../test/servers/messages.ts'
import { microsoftMailbox } from '../../../test/servers/microsoft-mailbox.ts'
import { editsConformance } from '../conformance/edits.ts'

editsConformance('microsoft', async () => idChanges(await microsoftMailbox(), false))
editsConformance('a tenant at Microsoft', async () => idChanges(await microsoftMailbox({}, 'tenant'), false))

describe('deleting messages at Graph for good', () => {
  async function opened() {
    const box = await microsoftMailbox()
    onTestFinished(async () => {
      await box.mail.closeConnections()
      await box.stop()
    })
    const remove = (...ids: string[]) =>
      box.mail.edits(box.access).deleteMessages(ids.map((providerMessageId) => ({ providerMessageId })))
    return { ...box, remove }
  }

  it('deletes where there is no permanentDelete, from any folder', async () => {
    const { graph, user, deliver, remove } = await opened()
    graph.cloud = 'national'
    const ids = [await deliver(plainMail()), await deliver(plainMail())]
    const kept = await deliver(plainMail())
    graph.move(user, ids[1] ?? '', 'deleteditems')
    expect(await remove(...ids)).toEqual(['deleted', 'deleted'])
    expect(graph.messages(user).map(({ id }) => id)).toEqual([kept])
  })

  it.each(['worldwide', 'national'] as const)(
    'counts messages as deleted that Exchange cannot delete again (%s)',
    async (cloud) => {
      const { graph, user, deliver, remove } = await opened()
      graph.cloud = cloud
      const [gone, purged] = [await deliver(plainMail()), await deliver(plainMail())]
      graph.delete(user, gone)
      graph.move(user, purged, 'recoverableitemsdeletions')
      expect(await remove(gone, purged, 'unknown')).toEqual(['deleted', 'deleted', 'deleted'])
    },
  )

  it('reports a refusal of a message that is still there', async () => {
    const { graph, user, deliver, remove } = await opened()
    const id = await deliver(plainMail())
    graph.fail({ as: 'cannot-delete', on: /permanentDelete/, times: 2 })
    expect(await remove(id)).toMatchObject([{ kind: 'rejected' }])
    expect(graph.messages(user)).toHaveLength(1)
  })
})
