import { expect, it } from 'vitest'
import { closing } from '../../../../test/kit/closing.ts'
import { databases } from '../../../../test/kit/database/database.ts'
import { folderDouble } from '../../../../test/kit/mailbox/folder-double.ts'
import { syncService } from '../../../../test/kit/mailbox/sync.ts'
import { connected } from '../../../../test/kit/mailbox/synced-mailbox.ts'
import { ProviderError } from '../../../providers/contract/index.ts'

const open = databases('sqlite')

it('closes a session that reports its end before it is handed over, and connects again', async () => {
  const thrown: unknown[] = []
  const closed: number[] = []
  let sessions = 0
  const mail = folderDouble((number, { onChange, onClose }) => {
    sessions = number
    if (number === 1) {
      try {
        onChange('INBOX')
        onClose(new ProviderError('unavailable', 'the server closed the connection'))
      } catch (error) {
        thrown.push(error)
      }
    }
    return { close: async () => void closed.push(number) }
  })
  const service = syncService(await open(), { mail })
  closing({ close: () => service.stop() })
  await service.start()
  const accountId = await service.link({ host: '127.0.0.1', imapsPort: 1 }, 'ann', 'secret')
  await connected(service, accountId)
  expect(thrown).toEqual([])
  expect(closed).toContain(1)
  expect(sessions).toBe(2)
})
