import { once } from 'node:events'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { describeOneDatabase } from '../../../../test/kit/database/database.ts'
import { fileStore, MailboxDouble } from '../../../../test/kit/mailbox/double/mailbox-double.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { PROVIDERS, QUIET, watchedMailbox } from '../../../../test/kit/mailbox/synced-double.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { startWorker } from '../../../../test/kit/workers/start.ts'

describeOneDatabase('a process killed after the provider accepted a change, before it was stored', 'sqlite', (open) => {
  it.each(['whole', 'folders'] as const)('leaves the change to sync, which emits one event (%s)', async (kind) => {
    const place = await open.place()
    const db = await open(place)
    const file = join(place.dataDir, 'provider.json')
    const box = new MailboxDouble(kind, fileStore(file, true))
    box.deliverAll(['flag', 'move', 'remove'])
    const first = syncService(db, { mail: box.mail, timing: QUIET })
    const accountId = await first.linkMailbox(PROVIDERS[kind])
    await first.start()
    await connected(first, accountId)
    const ids = await watchedMailbox(db, accountId, () => box.state, first.synced).ids()
    await first.stop()

    for (const [action, id] of Object.entries(ids)) {
      const { dataDir, databaseUrl = '' } = place
      const child = startWorker('message-change-worker', [dataDir, databaseUrl, kind, file, accountId, id, action])
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
    }
    expect(box.state.messages).toMatchObject({ flag: { unread: false }, move: { folders: ['Work'] } })
    expect(box.state.messages.remove).toBeUndefined()

    const service = syncService(db, {
      mail: box.mail,
      owning: { roundMs: 100, deadAfterMs: 2000, settleMs: 0 },
      timing: QUIET,
    })
    onTestFinished(() => service.stop())
    await service.start()
    const { same, emitted } = watchedMailbox(db, accountId, () => box.state, service.synced)
    await same()
    expect((await emitted()).sort()).toEqual([
      'message.deleted remove 2',
      'message.updated flag 2',
      'message.updated move 2',
    ])
  })
})
