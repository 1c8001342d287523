import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { eventually } from '../../../../test/kit/eventually.ts'
import { folderDouble, folderMessage, folderStep, listedFolder } from '../../../../test/kit/mailbox/folder-double.ts'
import { announced } from '../../../../test/kit/mailbox/mailbox-state.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { type FolderMailProvider, ProviderError, type SessionEvents } from '../../../providers/contract/index.ts'

const open = databases('sqlite')
/** Longer than any test. */
const NEVER_MS = 1_000_000

async function startSync(mail: FolderMailProvider, folders: string[]) {
  const db = await open()
  const timing = { pollMs: NEVER_MS, folderMoveGraceMs: 300 }
  const service = syncService(db, { mail, settings: { folders }, timing })
  closing({ close: () => service.stop() })
  await service.start()
  const accountId = await service.link({ host: '127.0.0.1', imapsPort: 1 }, 'ann', 'secret')
  return { db, accountId }
}

it('reads no folder again that was synced before the connection ended', async () => {
  const synced: string[] = []
  const mail = folderDouble((number, { onClose }) => ({
    listFolders: async () => ['INBOX', 'Lost', 'Work'].map(listedFolder),
    async *syncFolder({ path }) {
      synced.push(`${number} ${path}`)
      if (number === 1 && path === 'Lost') {
        const error = new ProviderError('unavailable', 'the server closed the connection')
        onClose(error)
        throw error
      }
      yield folderStep()
    },
  }))
  await startSync(mail, ['Lost', 'Work'])
  await eventually(() => expect(synced).toContain('2 Work'))
  expect(synced).toEqual(['1 INBOX', '1 Lost', '2 Lost', '2 Work'])
})

it('deletes a message without waiting for a poll when folders were renamed each time that it was looked for', async () => {
  let events: SessionEvents | undefined
  let isRemoved = false
  let listings = 0
  const mail = folderDouble((_number, sessionEvents) => {
    events = sessionEvents
    return {
      // Each search lists the folders twice, first to sync them all. The second listing of the first three lacks a folder.
      async listFolders() {
        if (isRemoved) listings += 1
        const isRenamed = listings % 2 === 0 && listings > 0 && listings <= 6
        return [listedFolder('INBOX'), listedFolder(isRenamed ? 'Renamed' : 'Work')]
      },
      async *syncFolder({ path, cursor }) {
        if (path === 'INBOX' && cursor === null) yield folderStep({ added: [folderMessage('a', 1)], total: 1 })
        else if (path === 'INBOX' && isRemoved) yield folderStep({ removed: [1], cursor: 'removed' })
        else yield folderStep()
      },
    }
  })
  const { db, accountId } = await startSync(mail, ['Work'])
  await eventually(async () => expect(await announced(db, accountId)).toEqual(['<a@x>']))
  // A change during the first run would cause another one, which finds the message missing without waiting.
  await eventually(async () => {
    const account = await db.read.selectFrom('accounts').select('status').where('id', '=', accountId).executeTakeFirst()
    expect(account).toEqual({ status: 'connected' })
  })
  isRemoved = true
  events?.onChange('INBOX')
  await eventually(async () => expect(await announced(db, accountId, 'message.deleted')).toEqual(['<a@x>']))
  expect(listings).toBeGreaterThan(6)
})
